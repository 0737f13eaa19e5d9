"""Markdown: markdown-it-py finds the same structure before and after, with the translation where text was."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from catalogues import translated, unchanged
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from helpers import LAW
from manyheads.documents.interface import Filling, Styled
from manyheads.documents.markdown import LARGEST, LONGEST, read_markdown
from manyheads.errors import ManyheadsError

ROOT = Path(__file__).parents[2]
FEATURES = """---
title: not this
---
# A title #\x20

A paragraph over *two
lines*, with `code *x*`, **bold _and
more_**, a [link](https://example.org/a_b "its title"), and an ![image](a.png "title").
Hard\x20\x20
break, and\\
another.

Second title
------------

## A third one {#third}

* item one
  goes on
* item two

  with a paragraph
    1. nested `x`
    2. > quoted text
lazy line of it

- [ ] a task
- [x] done ~~gone~~

> A quotation\\
> over lines
> > deeper

    indented code

```python
fenced = "code"  # *not this*
```

~~~
also
```
~~~

<div class="x">
not this *at all*
</div>

Inline <b>HTML</b> &amp; <code>1 *2*</code> <!-- aside --> and <https://example.org> 2 * 3,
snake_case \\*stars\\*.

| Column | *Second* \\| one |
|:-------|-------------:|
| cell `a` | two words |
| &copy; |

A [full reference][one], a [collapsed][] and a [shortcut] one[^1].

[one]: https://example.org/one "Title"
[collapsed]: <https://example.org/two>
[shortcut]: three.html

[^1]: A footnote.

***
1986\\. A year
"""
UNTOUCHED = ("not this", "code *x*", "https://example.org/a_b", "a.png", "indented code", 'fenced = "code"')


def parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def structure(text: str) -> list:
    """Return what markdown-it-py finds: its blocks and their content."""
    found: list = []
    for token in parser().parse(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)):
        found.append((token.type, token.tag, token.nesting, token.level))
        if token.type in ("fence", "code_block", "html_block"):
            found.append(token.content)
        found += inline(token.children or [])
    return found


def inline(tokens: list[Token]) -> list:
    """Return the inline parts of a block, texts that follow each other as one; a soft line break is a space."""
    parts: list = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        content = " " if token.type == "softbreak" else token.content.replace("\n", " ")
        is_address = before is not None and before.type == "link_open" and before.markup == "autolink"
        if token.type in ("text", "softbreak", "text_special") and not is_address:
            joined = parts.pop()[1] if parts and parts[-1][0] == "text" else ""
            parts.append(("text", joined + content))
        else:
            name = "address" if is_address else token.type
            parts.append((name, token.tag, " ".join(content.split()), str(token.attrs)))
    stripped = [("text", part[1].strip()) if part[0] == "text" else part for part in parts]
    return [part for part in stripped if part != ("text", "")]


def in_upper_case(found: list) -> list:
    """Return a structure with its texts in upper case."""
    return [("text", upper_alike(one[1])) if isinstance(one, tuple) and one[0] == "text" else one for one in found]


def upper_alike(text: str) -> str:
    return "".join(letter if len(letter.upper()) != 1 else letter.upper() for letter in text)


def checked(text: str) -> None:
    """Check a document under the identity and under a translation."""
    document = read_markdown(text, language="de")
    assert unchanged(document) == {text}
    assert document.fill([segment.source for segment in document.segments], Filling("de")) == text
    assert structure(translated(document)) == in_upper_case(structure(text))


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_every_feature_stays_and_its_text_is_translated(line_end):
    text = FEATURES.replace("\n", line_end)
    document = read_markdown(text, language="de")
    assert unchanged(document) == {text}
    filled = translated(document).replace("\r\n", "\n")
    beyond = re.compile(r"\[\^1\](?:: )?| \{#third\}|\[x\] ")  # what markdown-it-py alone does not know
    before, after = (structure(beyond.sub("", one)) for one in (FEATURES, filled))
    assert after == in_upper_case(before)
    assert all(part in filled for part in UNTOUCHED)


def test_segments_are_what_a_reader_sees():
    segments = read_markdown(FEATURES, language="de").segments
    texts = [segment.source.text for segment in segments]
    assert texts[:4] == [
        "A title",
        "A paragraph over two lines, with , bold and more, a link, and an . Hard\nbreak, and\nanother.",
        "Second title",
        "A third one",
    ]
    begins = ("# A title", "A paragraph", "Second title", "## A third")
    assert [segment.line for segment in segments[:4]] == [
        FEATURES[: FEATURES.index(begin)].count("\n") + 1 for begin in begins
    ]
    assert "nested " in texts and "quoted text lazy line of it" in texts and "Second | one" in texts
    assert "Inline HTML &   and  2 * 3, snake_case *stars*." in texts
    assert "A full reference, a collapsed and a shortcut one." in texts
    assert "A footnote." in texts and "1986. A year" in texts


@pytest.mark.parametrize("path", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]), ids=lambda path: path.name)
def test_real_pages(path):
    checked(path.read_text(encoding="utf-8"))


LINES = st.sampled_from([
    "a *b* c", "# a", "- a", "-", "* b", "1. a", "2) b", "> a", ">", "", "", "    a", "  a", "```", "~~~ x",
    "---", "===", "| a | b |", "|---|---|", "a|b", "<div>", "</div>", "<!-- a", "b -->", "a  ", "a\\", "\ta",
    "- - a", "> - a", "- [ ] a", "[a]: b", "[a]", "[a][]", "&amp; a", "a `b` c", "+ a", "10. a", "<b>a</b>",
    "      a",
])  # fmt: skip
INDENTED = st.tuples(st.sampled_from(["> ", "  ", "- ", "    "]), LINES).map("".join)


@settings(LAW, max_examples=300)
@given(st.lists(LINES | INDENTED, max_size=8))
def test_any_blocks(lines):
    checked("\n".join(lines))


SIGN = [*"*_[]()!<>&\\`#|é.a\n", "**", "__", " ~~a", "a~~ ", " ", "b ", "[a](b)", "`c`", "<b>", "&lt;"]
SIGNS = st.lists(st.sampled_from(SIGN), max_size=14).map("".join)


@settings(LAW, max_examples=300)
@given(SIGNS)
def test_any_signs(text):
    checked("x " + re.sub(r"\n\s*", "\n", text))


@settings(LAW, max_examples=300)
@given(
    SIGNS.map(lambda text: " ".join(text.split())),
    st.sampled_from(["a", "a  \nb", "# a", "| a |\n|---|\n| b |"]),
)
def test_whatever_a_translation_holds_it_is_text(translation, text):
    document = read_markdown(text, language="de")
    filled = document.fill([Styled(translation) for _ in document.segments], Filling("de"))
    if translation.strip():
        texts = [one for one in structure(filled) if one[0] == "text"]
        assert {one[1].split() == translation.split() for one in texts} == {True}
        assert len(texts) == len(document.segments)


def placed(text: str, translation: str, *offsets: int) -> str:
    """Return a paragraph with a translation, and its tags at other offsets of it."""
    (segment,) = (document := read_markdown(text, language="de")).segments
    tags = tuple(tag._replace(offset=offset) for tag, offset in zip(segment.source.tags, offsets, strict=True))
    return document.fill([Styled(translation, tags)], Filling("de"))


def test_emphasis_is_written_so_that_it_reads_as_emphasis():
    assert placed("**Note:** it is", "注意：文字", 0, 3) == "**注意**：文字"
    assert placed("a *b* c", "x y z", 1, 3) == "x *y* z"  # around the spaces too
    assert placed("a _b_ c", "中文字", 1, 2) == "中<em>文</em>字"
    beside = [one[0] for one in structure(placed("*a* **b**", "中文", 0, 1, 1, 2))[2:-1]]
    assert beside == ["em_open", "text", "em_close", "strong_open", "text", "strong_close"]


SIGNS_OF_BLOCKS = [
    "# a", "- a", "+ a", "1. a", "2) a", "> a", "=== ", "---", "~~~", "```", "    a", "[a]: b", "<div>", "* a",
]  # fmt: skip


def test_text_at_the_begin_of_a_line_is_no_block():
    for sign in SIGNS_OF_BLOCKS:
        filled = read_markdown("x  \ny", language="de").fill([Styled(f"{sign}\n{sign}")], Filling("de"))
        assert [token.type for token in parser().parse(filled)] == ["paragraph_open", "inline", "paragraph_close"], sign
        kinds = [part[0] for part in structure(filled) if part[0] in ("text", "hardbreak")]
        assert kinds == ["text", "hardbreak", "text"], sign


HOSTILE = [
    "> ",
    "- ",
    "[",
    "*a ",
    "a* ",
    "`",
    "<!--",
    "[a](",
    "*_",
    "a\n",
    "a",
    "<a b='",
    "\\",
    "&a",
    "(",
    "|",
    "](",
    "**a_ ",
]


@pytest.mark.parametrize("part", [*HOSTILE, "``a`b"], ids=repr)
def test_hostile_pages_are_read_in_bounded_time(part):
    text = part * 5_000 + "a"
    assert unchanged(read_markdown(text, language=None)) == {text}
    table = "|a" * 1_000 + "\n" + "|-" * 1_000 + "\n" + part * 1_000
    assert unchanged(read_markdown(table, language=None)) == {table}


SPACED = [
    "a{}b",
    "# a{}b",
    "# a #{}b",
    "x\n-{}b",
    "[a]({}b",
    "* *{}*b",
    "a|\n-|{}b",
    "<a{}b",
    "> {}b",
    "[a]:{}b",
    "a\\{}b",
]


@pytest.mark.parametrize("line", SPACED)
def test_a_hundred_thousand_spaces_are_read_in_bounded_time(line):
    text = line.format(" " * 100_000)
    assert unchanged(read_markdown(text, language=None)) == {text}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * (LARGEST + 1), f"this document has {LARGEST + 1:,} characters, and at most {LARGEST:,} are read."),
        ("# b\n\n" + "a" * (LONGEST + 1), f"line 3: this paragraph has {LONGEST + 1:,} characters"),
    ],
    ids=["document", "paragraph"],
)
def test_what_is_too_long_is_one_sentence(text, expected):
    with pytest.raises(ManyheadsError, match=re.escape(expected)):
        read_markdown(text, language=None)
