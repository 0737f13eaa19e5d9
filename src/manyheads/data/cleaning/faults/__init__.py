"""The faults that `manyheads data check` detects.

| file | what it detects |
|---|---|
| `balance` | sides of very different length |
| `copying` | sides that were not translated |
| `encoding` | text with a wrong encoding |
| `language` | a side in a wrong script or language |
| `numbers` | numbers that differ between the sides |
| `repetition` | pairs that occurred before |
"""
