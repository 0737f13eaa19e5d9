"""Engines: token ids in, hypotheses out, computed by PyTorch or by CTranslate2.

| file | what it is |
|---|---|
| `choice` | the engine interface, and which of the two engines is used |
| `torch` | the PyTorch engine: every model and every option |
| `packing` | linear layers with packed weights, for the PyTorch engine |
| `int8` | 8-bit linear layers, for the PyTorch engine |
| `ctranslate2` | the CTranslate2 engine: fast on CPUs, does not import torch |
| `shortlist` | the target tokens that are allowed for each source token |
"""
