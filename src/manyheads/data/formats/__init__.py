"""Formats of files in which each record holds both sides of a pair, or a text in several languages.

| file | contents |
|---|---|
| `columns` | which columns of a record are the pair, by number or by the name in the header |
| `tsv` | lines with columns between tabs |
| `spreadsheet` | CSV, as spreadsheets write it |
| `jsonl` | one JSON object per line |
| `scan` | commands and actions as SCAN has them |
| `memories` | translation memories and catalogues, a file or a folder of them |
| `memory_units` | their units: a text in several languages, and the pairs of two of them |
| `memory_languages` | which two languages of a memory are learned from and into |
| `tmx` | TMX, unit by unit |
| `catalogues` | PO and XLIFF, a file as a whole |
| `xml_events` | XML of any size, block by block, with nothing in it expanded or fetched |
| `detection` | the format of a file, its delimiter, and whether it begins with a header |
| `languages` | the languages of both sides, by the names of files and columns or detected |
"""
