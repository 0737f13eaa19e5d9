"""Attention: softmax(QKᵀ/√d_k)·V, its repairs, its masks, its heads, and a way to look at its weights.

| file | what it is |
|---|---|
| `masks` | who may look at whom: padding, look-ahead, or both |
| `mechanism` | what happens inside a head: the interface of all that follow |
| `dot_product` | scaled dot-product attention, equation (1) |
| `window` | a sliding window, dilated or not |
| `longformer` | global tokens beside it |
| `bigbird` | global, local and random blocks |
| `linear`, `performer` | a kernel's features instead of a softmax: sums in place of a matrix |
| `linformer` | keys and values projected to a lower rank |
| `hashing` | only among similar keys (Reformer) |
| `pattern`, `kernel` | what windows and blocks, and what linear and performer have in common |
| `multi_head` | multi-head attention, section 3.2.2 |
| `cache` | keys and values remembered from one decoding step to the next |
| `observer` | what can be recorded |
| `recording` | every head's weights, for whoever asks |
"""
