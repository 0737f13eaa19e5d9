"""How good runs are on unseen data, and whether their differences are more than chance.

| file | what it is |
|---|---|
| `evaluate` | the library's function: the scores of a run on test data, alone or against other runs |
| `result` | `Evaluation`: what it returns, as text and as JSON |
| `comparison` | several runs on the same data, with significance |
"""
