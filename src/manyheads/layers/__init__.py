"""The layers of the paper's figure 1, and the recurrent layers that they replaced.

| file | contents |
|---|---|
| `embedding` | token embeddings with positions, section 3.4 |
| `feed_forward` | the position-wise feed-forward network, section 3.3 |
| `gated_feed_forward` | its gated variants: SwiGLU, GeGLU |
| `norms` | LayerNorm and RMSNorm, before or after a sublayer |
| `add_norm` | the residual connection and normalisation around each sublayer |
| `encoder` | the encoder layer and stack, section 3.1 |
| `decoder` | the decoder layer and stack, section 3.1 |
| `depth` | recurrence in depth, with a step at which each position halts (Universal Transformer) |
| `compression` | how several positions of a memory become one, and what a compression learns |
| `compressive` | the layer with a memory and a compressed one (Compressive Transformer) |
| `cells` | the plain recurrent cell, GRU and LSTM, equation by equation |
| `recurrence` | a recurrent layer over a sequence, in one direction or in both |
| `convolution` | convolutions over positions, causal or centred, and weight normalisation |
| `dropout` | dropout with masks that are cheap to sample |
"""
