"""Faults of a parallel corpus, and its division into training, validation and test data.

| file | what it is |
|---|---|
| `checking` | the faults of a parallel corpus, with their line numbers |
| `faults/` | one file per kind of fault |
| `first_look` | a look at the data before a training |
| `drift` | the line at which two files of unequal length stop being parallel |
| `cutting` | training, validation and test data without common sentences |
"""
