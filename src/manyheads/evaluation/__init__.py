"""How good runs are on unseen data, and whether their differences are more than chance.

| file | what it is |
|---|---|
| `evaluate` | the library's function: a run on test data, alone or against others |
| `comparison` | several runs on the same data, with significance |
"""
