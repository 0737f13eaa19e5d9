"""A small document of every format."""

from __future__ import annotations

XLIFF = """<?xml version="1.0" encoding="{encoding}"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" target-language="de">
<body><trans-unit id="1"><source>café</source></trans-unit></body></file></xliff>
"""
PO = """msgid ""
msgstr ""
"Content-Type: text/plain; charset={encoding}\\n"

msgid "café"
msgstr ""
"""
EXAMPLES = {
    "po": PO.format(encoding="UTF-8"),
    "xliff": XLIFF.format(encoding="UTF-8"),
    "tmx": '<?xml version="1.0"?>\n<!-- <x> -->\n<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en">'
    '<seg>café</seg></tuv><tuv xml:lang="de"><seg>Kaffee</seg></tuv></tu></body></tmx>\n',
    "android": '<?xml version="1.0" encoding="utf-8"?>\n<resources><string name="a">café</string></resources>\n',
    "json": '{"a": "café", "b": [1, "two"]}\n',
    "html": "<!doctype html>\n<p>The <b>café</b> &amp; more<br>of it.</p>\n",
    "markdown": "# A *café*\n\nSome text,\nin `two` lines.\n",
    "srt": "1\n00:00:01,000 --> 00:00:02,000\nA café.\n",
    "webvtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nA café.\n",
    "csv": 'key,English\na,"A ""café"""\n',
    "text": "A café.\n\n  And more.  \n",
}

# The catalogue of docs/documents.md.
APP = """msgid ""
msgstr ""
"Language: de\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

#. Shown while the program starts.
msgid "Please wait. This takes a moment."
msgstr ""

msgid "Good morning!"
msgstr "Guten Morgen!"

#, fuzzy
msgid "Where is my dictionary?"
msgstr "Wo ist das Buch?"

msgid "I ate an apple."
msgid_plural "I ate many apples."
msgstr[0] ""
msgstr[1] ""
"""
