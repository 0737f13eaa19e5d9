"""Documents as people translate them: texts out, translations in, everything else byte for byte.

| file | what |
|---|---|
| `interface` | the contract: segments, inline tags, and how a document is filled |
| `formats`, `opening`, `encodings` | files as documents: their format, and the encoding of their bytes |
| `selection` | which texts of a document are translated, and which translations may be used |
| `splices`, `slots`, `lines`, `limits` | what formats share: parts replaced, slots for translations, line numbers |
| `plain_text`, `csv_column`, `json_catalogue` | plain text, a column of a CSV, JSON catalogues |
| `po`, `po_entries`, `po_strings` | gettext's catalogues, their entries with places, and their strings |
| `plurals`, `plural_formula` | the plural forms of languages, and the formulas that choose among them |
| `android`, `android_values` | Android's `strings.xml`, and the values in it |
| `xml_places`, `xml_inline` | XML as a tree that knows the place of every part, and inline elements in it |
| `xliff`, `tmx` | XLIFF and TMX |
| `subtitles` | SRT and WebVTT |
| `html`, `html_parts` | HTML, and the parts of its source |
| `markdown`, `markdown_blocks`, `markdown_inline`, `markdown_writing` | Markdown: blocks, inline parts, writing |
| `tag_placing`, `tag_alignment`, `word_boundaries` | inline tags in a translation: by share of the way, by alignment |
| `placeholders` | what translation must not change: `%s`, `{name}`, markup, addresses, paths, emoji |
| `messages` | plurals and choices of ICU: which parts are text |
| `message_sentences` | the same with whole sentences in their forms, and with all plural forms of a language |
| `checks` | what a translation lacks of its source, or has too much |
| `format_strings` | the directives of texts that gettext flags, such as `c-format` |
| `split_text`, `spacing` | a text as sentences and gaps, and the spaces that a language writes |

A reader gets the text of a file, line ends as they are. An error of a reader has the place `line N`; `opening` adds
the name of the file.
"""
