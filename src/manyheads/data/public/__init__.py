"""Public corpora by name.

| file | what it is |
|---|---|
| `public_corpus` | the description of a corpus: its files, where they are published, what the licence allows |
| `catalogue`, `parallel_corpora` | the corpora |
| `download` | downloads and verifies files, and puts them into the data folder |
| `archives` | unpacks archives safely |
"""
