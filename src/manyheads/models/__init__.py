"""Whole models.

| file | what it is |
|---|---|
| `interface` | what models offer: `SequenceToSequence`, `LanguageModel`, `TextEncoder` |
| `build` | from a configuration to a model |
| `parts` | from settings to the parts that several models have |
| `decoder_only` | what decoder-only models are made of |
| `transformer` | the paper's encoder–decoder |
| `bert` | the encoder alone |
| `language_model` | the decoder alone |
| `transformer_xl` | the decoder alone, with a memory of earlier text |
| `compressive` | the same, with a compressed memory of still earlier text |
| `universal` | an encoder–decoder of one layer each, applied again and again |
| `universal_language_model` | the decoder alone, of one layer |
| `universal_facts` | the encoder alone, of one layer, over facts |
| `recurrent` | LSTMs, GRUs and plain recurrent layers, with attention or without: what the Transformer replaced |
| `conv_s2s` | gated convolutions with attention in every layer |
| `bytenet` | dilated convolutions without attention |
| `neural_gpu` | the Neural GPU, plain and extended: convolutions over an image of the source |
| `memory_network` | attention over facts, in several hops |
"""
