"""What models take from elsewhere and give away. Nothing here but `comparison` needs torch.

| file | what it is |
|---|---|
| `vectors` | pretrained word vectors |
| `tree` | the names and shapes of a run's weights, which every exchange starts from |
| `importing` | a folder of Hugging Face → run folder, by its type |
| `bert` | Hugging Face folder of a BERT → run folder |
| `huggingface` | run folder ↔ Hugging Face folder of a Marian model (OPUS-MT) |
| `marian`, `marian_tokenizer` | its weights and settings, its tokenizer |
| `comparison` | whether both models say the same |
| `ctranslate2` | run folder → CTranslate2 folder |
| `sinusoids` | positional encodings as a table |
"""
