"""Changes to training pairs while they are read, so that a model meets more than its corpora show. No torch.

Each changes a pair of texts, by random numbers that follow from the seed and the place in the run.

| file | what it does |
|---|---|
| `interface` | what a modifier is; changing a text but not the symbols in it |
| `numbers` | numbers of both sides become other numbers |
| `placeholders` | placeholders (and names) of both sides become copy symbols |
| `tags` | tag symbols around words that translate each other |
| `terms` | hints with the wanted translation of a word |
| `letter_case` | ALL CAPS, Title Case |
| `punctuation` | no punctuation at the end |
| `accents` | no accents |
| `typos` | neighbouring keys |
| `joining` | neighbouring pairs as one: a view of a store, not of a text |
| `reading` | the modifiers of a recipe, applied to the rows of a batch |
"""
