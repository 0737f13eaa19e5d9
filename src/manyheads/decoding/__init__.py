"""From a model to text.

| file | what it is |
|---|---|
| `search/` | greedy search, beam search and sampling over any model that writes |
| `engines/` | PyTorch and CTranslate2 |
| `text/` | languages and sentences of running text |
| `options` | what a caller may ask of a translation |
| `translator` | texts in, texts out |
| `generator` | a text continued by a language model |
"""
