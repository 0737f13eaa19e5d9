"""Token ids on disk, and batches of them that are a function of the seed and an index.

| file | what it is |
|---|---|
| `store` | token ids on disk, memory-mapped, built once and keyed by content |
| `mixture` | several stores as one, each as often as its weight says |
| `shuffling` | a random order that needs no memory and no history |
| `pairs` | batches of pairs by token count, bucketed by length, seekable to any step |
| `examples` | batches of labelled examples |
| `rectangles` | padded arrays of ids |
"""
