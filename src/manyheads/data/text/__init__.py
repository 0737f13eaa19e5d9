"""Text and where it comes from: files, corpora of pairs, examples with labels.

| file | what it is |
|---|---|
| `files` | lines of text files, plain or .gz, with errors that name file and line |
| `records` | `Pair` and `Example`, what corpora are made of |
| `corpora` | pairs from parallel files, TSV, JSONL, folders or generated tasks |
| `held_out` | training and validation data, cut by sentence |
| `examples` | examples with labels or answers from TSV, JSONL or generated tasks |
| `placeholders` | what must survive translation unchanged: `%s`, `{name}`, markup, addresses |
| `detection` | the language of a text |
| `chinese`, `spacing` | simplified characters; white space between sentences |
"""
