"""Looking inside a run: every head, every step, the beam, and pictures of them.

| file | what it is |
|---|---|
| `inspector` | `Inspector`: a run folder, seen from inside |
| `translating`, `reading`, `continuing` | how it looks inside a translator, an encoder and a language model |
| `kinds` | the three uses of attention, and where a model has them |
| `states` | the stream through a model's layers |
| `views` | arrays with their tokens, and the same as JSON |
| `steps` | greedy decoding, one token at a time |
| `beam_tree` | beam search as a tree |
| `alignment` | who translates whom, from chosen heads, in Pharaoh format |
| `html_page` | every layer and head of a text as one HTML file that works offline |
| `figures` | pictures |
| `positions` | the positional encodings and their dot products |
"""
