"""Attention: softmax(QKᵀ/√d_k)·V, its masks, its heads, and a way to look at its weights.

| file | what it is |
|---|---|
| `masks` | who may look at whom: padding, look-ahead, or both |
| `dot_product` | scaled dot-product attention, equation (1) |
| `multi_head` | multi-head attention, section 3.2.2 |
| `cache` | keys and values remembered from one decoding step to the next |
| `recording` | every head's weights, for whoever asks |
"""
