"""What is wrong with a parallel corpus, and how to cut it into training, validation and test data.

| file | what it is |
|---|---|
| `checking` | faults of a parallel corpus, with their lines |
| `faults/` | one file for each kind of fault |
| `drift` | where two files of unequal length stop being parallel |
| `cutting` | training, validation and test data without a sentence in common |
"""
