"""Where a token stands: the encodings that give attention, blind to order by itself, a sense of position.

| file | what it adds |
|---|---|
| `sinusoidal` | the paper's sines and cosines, section 3.5 |
| `learned` | one trained vector per position, the paper's alternative |
| `reach` | what is said when a text is longer than these |
"""
