"""Token ids on disk, and batches of them that are a function of the seed and an index.

| file | what it is |
|---|---|
| `cache` | stores that appear whole or not at all, are checked when opened, and removed when unused |
| `store` | token ids on disk, memory-mapped, built once and keyed by content |
| `mixture` | several stores as one, each in proportion to its weight |
| `shuffling` | a random order that needs no memory and no history |
| `order` | which sequences make a batch: bucketed by length, shuffled, seekable to any step |
| `pairs`, `examples` | batches of pairs, and of labelled examples |
| `memories` | batches of questions about facts |
| `streams` | batches of running text, whose rows continue from batch to batch |
| `stages` | the batches of each stage of training |
| `text_store` | the token ids of a running text on disk |
| `rectangles` | padded arrays of ids |
"""
