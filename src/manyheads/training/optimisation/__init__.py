"""How weights change.

| file | what it is |
|---|---|
| `schedule` | the learning rate over time |
| `optimiser` | Adam with the paper's constants, and its state as named arrays |
| `muon` | orthogonal updates of matrices |
| `gradient_noise` | Gaussian noise on the gradients, which decays |
| `moving_average` | the exponential moving average of the weights |
| `averaging` | the mean of several checkpoints |
"""
