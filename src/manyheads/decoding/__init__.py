"""From a model to text: greedy, beam search and sampling over any sequence-to-sequence model, and the Translator.

| file | what it is |
|---|---|
| `hypothesis` | what a search returns, and the paper's length penalty |
| `constraints` | what a search may not write: past a forced prefix, or the same n-gram twice |
| `greedy`, `beam`, `sampling` | the searches |
| `observing` | searches whose results can be looked at |
| `rescoring` | the log-probability of a given target |
| `torch_engine` | every model and every option, on PyTorch |
| `packing` | linear layers laid out for it |
| `int8` | those with 8 bits |
| `ctranslate2_engine` | the fast engine for processors, without torch |
| `engines` | which of the two translates |
| `translator` | texts in, texts out |
"""
