"""Attention: softmax(QKᵀ/√d_k)·V and its efficient variants, masks, heads, and the recording of weights.

| file | contents |
|---|---|
| `masks` | which keys a query may attend to: padding, look-ahead, or both |
| `mechanism` | the interface of what happens inside the heads, implemented by the files below |
| `dot_product` | scaled dot-product attention, equation (1) |
| `pattern` | the common base of attention with a fixed sparsity pattern |
| `window` | a sliding window, optionally dilated |
| `bigbird` | global, local and random blocks |
| `kernel` | the common base of attention with a kernel in place of the softmax |
| `linear` | the kernel elu + 1 |
| `performer` | random features that approximate the softmax kernel |
| `linformer` | keys and values projected to a lower rank |
| `hashing` | attention among similar keys only (Reformer) |
| `multi_head` | multi-head attention, section 3.2.2 |
| `query_key_norm` | normalised queries and keys |
| `longformer` | a window with global tokens, which have their own projections |
| `compressive` | attention to the last positions and to older ones that were compressed |
| `source_attention` | attention of recurrent decoders: additive, dot, general |
| `cache` | keys and values kept from one decoding step to the next |
| `scheduled` | the base class of modules that depend on the training step |
| `observer` | the base class of modules whose weights can be recorded |
| `recording` | recording the weights of every head |
| `switching` | computing without chosen heads |
"""
