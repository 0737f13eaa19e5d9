"""What a training asks of the machine.

| file | what it is |
|---|---|
| `distributed`, `parallel` | several processes |
| `precision` | float32 or bfloat16, compiled or not: what suits the device |
| `pace` | seconds per update, measured to choose threads, precision and steps |
| `speed` | tokens per second and share of the machine's peak, pauses left out |
| `peak` | the FLOPs per second of the machine, measured |
"""
