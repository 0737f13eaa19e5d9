"""What is learned.

| file | what it is |
|---|---|
| `loss` | label-smoothed cross-entropy that never holds all logits at once |
| `r_drop` | the loss of two passes under different dropout |
"""
