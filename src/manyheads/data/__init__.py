"""From text files to batches: text → tokens → batches. Nothing here needs torch.

| room | what is in it |
|---|---|
| `text/` | files, corpora, examples |
| `formats/` | TSV, CSV and JSONL files of pairs |
| `cleaning/` | faults of corpora, and cuts into training and test data |
| `modifiers/` | changes to training pairs while they are read |
| `lexicons/` | words that translate each other |
| `tokens/` | tokenizers |
| `batches/` | token ids on disk and batches of them |
| `public/` | public corpora by name |
| `generated/` | generated data: copy, reverse, sort, duplicate, addition, dates, and examples with labels |
"""
