"""Text as token ids.

| file | what it is |
|---|---|
| `tokenizers` | SentencePiece models: BPE, unigram, characters, white-space symbols |
| `running_text` | the same for running text, of which every character is kept |
| `sentencepiece_model` | their files, edited as bytes |
| `subword_sampling` | another segmentation of the same text in every epoch |
| `wordpiece` | WordPiece, for encoders |
"""
