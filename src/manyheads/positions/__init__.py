"""Positions: what tells a model the order of its tokens, which attention alone does not depend on.

| file | contents |
|---|---|
| `interface` | how positions enter embeddings and attention |
| `sinusoidal` | the paper's sines and cosines, added to the embeddings, section 3.5 |
| `learned` | one trained vector per position, added to the embeddings, the paper's alternative |
| `randomised` | random positions during training, for longer sequences afterwards |
| `relative` | trained vectors for distances, on keys and values (Shaw et al. 2018) |
| `relative_sinusoidal` | sinusoids of distances, with two biases for each head (Transformer-XL) |
| `t5_bias` | a trained bias for each range of distances (T5) |
| `alibi` | a penalty that grows with the distance |
| `rotary` | rotation of queries and keys by their position |
| `limits` | the error for sequences longer than a table of positions |
"""
