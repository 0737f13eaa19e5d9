"""Running text: its language and its sentences.

| file | what it is |
|---|---|
| `languages` | the languages of a run, and the source and target language of a text |
| `sentences` | sentence boundaries, and a text split into sentences with every character kept |
| `splitting` | texts as parts that are short enough for a model |
"""
