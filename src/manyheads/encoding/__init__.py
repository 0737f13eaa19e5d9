"""From texts to vectors, labels and answers, with an encoder model.

| file | what it is |
|---|---|
| `encoder` | `Encoder`: a folder as an encoder of texts and pairs |
| `fact_reader` | `FactReader`: a folder as a reader of facts that answers questions |
"""
