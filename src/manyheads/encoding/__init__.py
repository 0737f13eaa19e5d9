"""From texts to vectors, labels and answers, with a model that reads.

| file | what it is |
|---|---|
| `encoder` | `Encoder`: a folder as an encoder of texts and pairs |
"""
