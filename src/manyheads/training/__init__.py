"""Training: one loop for every model, which sees only an `Objective`.

| file | what it is |
|---|---|
| `loss` | label-smoothed cross-entropy that never holds all logits at once |
| `r_drop` | the loss of two passes under different dropout, drawn together |
| `objectives` | batch → (loss sum, count), for each task |
| `schedule` | the learning rate over time |
| `optimiser` | Adam with the paper's constants, and its state as named arrays |
| `precision` | float32 or bfloat16, compiled or not: what suits the device |
| `preparation` | from a recipe to tokenizers, stores, batches and a fresh model |
| `checkpoint` | everything needed to go on, written atomically and verified when read |
| `averaging` | the mean of several checkpoints |
| `validation` | loss, metric and samples on unseen data |
| `journal` | metrics.jsonl and TensorBoard |
| `speed` | tokens per second and share of the machine's peak, pauses left out |
| `utilisation` | the FLOPs of a batch |
| `peak` | the FLOPs per second of the machine, measured |
| `costs` | parameters, FLOPs, memory and time of a recipe, before it is trained |
| `progress` | what a person sees meanwhile |
| `trainer` | the loop |
| `defaults` | a recipe from nothing but data |
"""
