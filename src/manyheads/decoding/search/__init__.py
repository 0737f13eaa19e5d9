"""Searches over any model that writes.

| file | what it is |
|---|---|
| `hypothesis` | what a search returns, and the paper's length penalty |
| `constraints` | what a search may not write: past a forced prefix, or the same n-gram twice |
| `greedy`, `beam`, `sampling` | the searches |
| `from_source` | searches for the outputs of sources, whose results can be observed |
| `rescoring` | the log-probability of a given target |
"""
