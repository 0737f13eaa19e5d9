"""Public corpora by name.

| file | what it is |
|---|---|
| `public_corpus` | what is known of a corpus: where it is, what its licence allows |
| `catalogue`, `parallel_corpora` | the corpora |
| `download`, `archives` | how they get into the data folder |
"""
