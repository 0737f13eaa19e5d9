"""Import from, and export to, the formats of other toolkits. Only `comparison` needs torch.

| file | what it is |
|---|---|
| `tree` | the names and shapes of a run's weights, which every conversion starts from |
| `importing` | a folder of Hugging Face → run folder, by its type |
| `huggingface` | run folder ↔ Hugging Face folder of a Marian model (OPUS-MT) |
| `marian` | Marian's weights and settings |
| `marian_tokenizer` | Marian's tokenizer files |
| `comparison` | the difference in logits between a run and a Hugging Face folder |
| `bert` | Hugging Face folder of a BERT → run folder |
| `ctranslate2` | run folder → CTranslate2 folder |
| `tags` | the language tags of an exported model, for its README |
| `sinusoids` | positional encodings as a table |
| `vectors` | pretrained word vectors |
"""
