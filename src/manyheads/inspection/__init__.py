"""Inspection of a run: attention weights, decoding steps, the beam, and pictures of them.

| file | what it is |
|---|---|
| `inspector` | `Inspector`: the public interface |
| `translating`, `reading`, `continuing` | the inspection of a translator, an encoder and a language model |
| `remembering` | the inspection of a memory network |
| `earlier_text` | what a language model with a memory reads of it |
| `halting` | how many steps in depth each token takes |
| `kinds` | the three uses of attention, and their module names in a model |
| `states` | the hidden states between a model's layers |
| `room` | whether the attention weights of a text fit into memory |
| `views` | arrays with their tokens, and their JSON form |
| `steps` | decoding, one token at a time |
| `beam_tree` | beam search as a tree |
| `alignment` | word alignments from chosen heads, in Pharaoh format |
| `fragments` | results as HTML without script, for notebooks |
| `html_page` | all layers and heads for a text as one HTML file that works offline |
| `figures/` | pictures |
| `positions` | the positional encodings and their dot products |
"""
