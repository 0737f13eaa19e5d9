"""From a model to text.

| file | what it is |
|---|---|
| `search/` | greedy search, beam search and sampling over any model that writes |
| `engines/` | PyTorch and CTranslate2 |
| `text/` | languages, sentences and tags of running text |
| `options` | what a caller may ask of a translation |
| `translator` | texts in, texts out |
| `unfinished` | what to say of an output without an end |
| `protector` | sentences with placeholders, each of which is in the output |
| `aligning` | the attention that aligns words |
| `document_translation`, `document_journal` | a document translated, and what is finished of it |
| `generator` | a text continued by a language model |
"""
