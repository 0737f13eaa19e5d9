"""Text and its sources: files, corpora of pairs, examples with labels.

| file | what it is |
|---|---|
| `compression` | .gz, .xz and .zst |
| `files` | lines of text files, with errors that name file and line |
| `fingerprints` | checksums of files, computed while they are read |
| `records` | `Pair` and `Example`, the items of corpora |
| `corpora` | pairs from parallel files, TSV, CSV, JSONL, folders or generated tasks |
| `combined` | corpora made of others: tagged, together, sampled by weight |
| `cut` | which pairs are held out for validation |
| `held_out` | training and validation data, cut by sentence |
| `examples` | examples with labels or answers from TSV, JSONL or generated tasks |
| `stories` | questions about facts from bAbI, files of its format, JSONL or a generated task |
| `detection` | the language of a text |
| `chinese` | simplified and traditional characters |
"""
