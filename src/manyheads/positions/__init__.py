"""Where a token stands: what gives attention, blind to order by itself, a sense of position.

| file | what it does |
|---|---|
| `sinusoidal` | adds the paper's sines and cosines to the embeddings, section 3.5 |
| `learned` | adds one trained vector per position, the paper's alternative |
| `randomised` | draws positions in training, for longer sequences afterwards |
| `relative` | trained vectors for distances, on keys and values (Shaw et al. 2018) |
| `t5_bias` | a trained number for each range of distances (T5) |
| `alibi` | a penalty that grows with the distance |
| `rotary` | turns queries and keys by their position |
| `interface` | how positions enter embeddings and attention |
| `limits` | what is said when a text is longer than these |
"""
