"""From text files to batches: corpora → tokenizers → store → batching. Nothing here needs torch.

| file | what it is |
|---|---|
| `files` | lines of text files, plain or .gz, with errors that name file and line |
| `checking`, `faults/` | faults of a parallel corpus, with their lines; each kind of fault |
| `placeholders` | what must survive translation as it is: `%s`, `{name}`, markup, addresses |
| `cutting` | training, validation and test data without a sentence in common |
| `drift` | where two files of unequal length start to drift apart |
| `corpora` | pairs of texts from parallel files, TSV, JSONL, folders or generated tasks |
| `tokenizers` | SentencePiece models: BPE, unigram, characters, white-space symbols |
| `store` | token ids on disk, memory-mapped, built once and keyed by content |
| `mixture` | several stores as one, each as often as its weight says |
| `modifiers/` | changes to training pairs while they are read |
| `lexicon`, `word_translations` | words that translate each other, and how they are learned (IBM Model 1) |
| `rectangles`, `spacing` | padded arrays of ids; white space between sentences |
| `shuffling` | a random order that needs no memory and no history |
| `batching` | batches by token count, bucketed by length, seekable to any step |
| `catalogue`, `parallel_corpora`, `public_corpus` | public corpora by name, and what their licences allow |
| `download`, `archives` | how they get into the data folder |
| `tasks/` | generated data: copy, reverse, sort, addition, dates |
"""
