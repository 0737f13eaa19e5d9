"""Running text: its languages and its sentences.

| file | what it is |
|---|---|
| `languages` | which language a text is in, and which ones a model translates |
| `sentences` | where sentences end |
| `splitting` | a text as parts to translate, with every character kept |
"""
