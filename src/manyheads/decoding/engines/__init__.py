"""What translates token ids: PyTorch or CTranslate2.

| file | what it is |
|---|---|
| `choice` | which of the two is used |
| `torch` | every model and every option |
| `packing` | linear layers laid out for it |
| `ctranslate2` | the fast engine for processors, without torch |
| `int8` | whether a processor can add 8-bit products safely |
| `shortlist` | which target tokens a source allows |
"""
