"""Formats of files in which each record holds both sides of a pair.

| file | contents |
|---|---|
| `columns` | which columns of a record are the pair, by number or by the name in the header |
| `tsv` | lines with columns between tabs |
| `spreadsheet` | CSV, as spreadsheets write it |
| `jsonl` | one JSON object per line |
| `detection` | the format of a file, its delimiter, and whether it begins with a header |
| `languages` | the languages of both sides, by the names of files and columns or detected |
"""
