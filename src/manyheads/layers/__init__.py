"""The layers of the paper's figure 1.

| file | contents |
|---|---|
| `embedding` | token embeddings with positions, section 3.4 |
| `feed_forward` | the position-wise feed-forward network, section 3.3 |
| `gated_feed_forward` | its gated variants: SwiGLU, GeGLU |
| `norms` | LayerNorm and RMSNorm, before or after a sublayer |
| `add_norm` | the residual connection and normalisation around each sublayer |
| `encoder` | the encoder layer and stack, section 3.1 |
| `decoder` | the decoder layer and stack, section 3.1 |
| `dropout` | dropout with masks that are cheap to sample |
"""
