"""Running text: its language and its sentences.

| file | what it is |
|---|---|
| `languages` | the languages of a run, and the source and target language of a text |
| `document_languages` | the languages of a document: asked for, named in it, or detected |
| `styled`, `linking` | texts with inline tags, and the words that the attention links |
| `sentences` | sentence boundaries, and a text split into sentences with every character kept |
| `splitting` | texts as parts that are short enough for a model |
| `protecting` | what a model reads in place of a sentence with placeholders, and its output made whole |
| `placing` | where a placeholder belongs in an output, by attention |
| `realigning` | the attention of an output whose placeholders were put back |
| `mending` | sentences whose translation lost a placeholder, put right |
"""
