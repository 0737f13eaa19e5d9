"""Words that translate each other.

| file | what it is |
|---|---|
| `lexicon` | a lexicon as a file, and the pairs of words in it |
| `word_translations` | how it is learned from parallel text (IBM Model 1) |
"""
