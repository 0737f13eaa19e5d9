"""Words that translate each other.

| file | what it is |
|---|---|
| `lexicon` | a lexicon, its file format, and the words of a pair that translate each other |
| `word_translations` | learning a lexicon from parallel text (IBM Model 1) |
"""
