"""Text as token ids.

| file | what it is |
|---|---|
| `tokenizers` | SentencePiece models: BPE, unigram, characters, white-space symbols |
| `running_text` | the same for running text; every character is kept |
| `sentencepiece_model` | SentencePiece model files, edited as bytes |
| `subword_sampling` | a different segmentation of the same text in every epoch |
| `word_list` | whole words, for questions about facts |
| `wordpiece` | WordPiece, for encoders |
"""
