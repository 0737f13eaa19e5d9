"""What a training asks of the machine.

| file | what it is |
|---|---|
| `distributed`, `parallel` | several processes |
| `precision` | float32 or bfloat16, compiled or not: what suits the device |
| `bfloat16_probe` | whether bfloat16 products survive on a processor that reports AMX |
| `products` | which library computes the float32 products of linear layers on a processor |
| `pace` | seconds per update, measured to choose threads, precision and steps |
| `speed` | tokens per second and share of the machine's peak, pauses left out |
| `peak` | the FLOPs per second of the machine, measured |
"""
