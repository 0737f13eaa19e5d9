"""Data augmentation: random changes to training pairs while they are read. Needs no torch.

Each modifier changes a pair of texts. Its random numbers depend on the seed and on the number of the batch.

| file | what it is |
|---|---|
| `interface` | the interface of a modifier, and changes that leave reserved symbols alone |
| `numbers` | replaces numbers on both sides by other numbers |
| `placeholders` | replaces placeholders (and names) on both sides by copy symbols |
| `tags` | puts tag symbols around words that translate each other |
| `terms` | adds hints with the required translation of a word |
| `letter_case` | ALL CAPS, Title Case |
| `punctuation` | removes the punctuation at the end |
| `accents` | removes accents |
| `typos` | adds typing errors |
| `joining` | joins neighbouring pairs: a view of a token store, not a change to a text |
| `modification` | applies the modifiers of a recipe to the rows of a batch |
"""
