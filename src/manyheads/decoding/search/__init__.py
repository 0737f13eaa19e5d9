"""Searches for the outputs of any autoregressive model.

| file | what it is |
|---|---|
| `hypothesis` | what a search returns, and the paper's length penalty |
| `constraints` | which tokens may follow: a forced prefix, and no n-gram twice |
| `greedy`, `beam`, `sampling` | the searches |
| `from_source` | searches that start from sources, whose results can be observed |
| `rescoring` | the log-probability of a given target |
"""
