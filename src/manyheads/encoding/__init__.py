"""From texts to vectors, with a model that reads and does not write.

| file | what it is |
|---|---|
| `bert` | `Bert`: a folder as an encoder of texts and pairs |
"""
