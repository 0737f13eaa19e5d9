"""Whole models.

| file | what it is |
|---|---|
| `interface` | what models offer: `SequenceToSequence`, `LanguageModel`, `TextEncoder` |
| `build` | from a configuration to a model |
| `parts` | from settings to the parts that several models have |
| `transformer` | the paper's encoder–decoder |
| `bert` | the encoder alone |
| `language_model` | the decoder alone |
| `recurrent` | LSTMs with attention, what the Transformer replaced |
"""
