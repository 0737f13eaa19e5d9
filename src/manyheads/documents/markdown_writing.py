"""Text with tags written as Markdown, so that it reads as the same text with the same tags.

Signs that would mean something are escaped. Emphasis that could not begin or end where it stands (`**注意：**文`) is
moved inwards past spaces and punctuation. What is written is read again; if it reads as anything else, emphasis becomes
HTML (`<strong>`), and every sign is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import accumulate

from manyheads.documents.interface import Styled, Tag, TagKind
from manyheads.documents.markdown_blocks import BlockKind
from manyheads.documents.markdown_inline import flanks, inline_content

_EMPHASIS = {"*": "em", "_": "em", "**": "strong", "__": "strong", "~~": "del"}
_SIGN = re.compile(
    r"""
    \\(?=[!-/:-@\[-`{-~])  # a backslash before punctuation
    | `
    | (?<!\s)[*~] | [*~](?!\s|$)  # but those between spaces
    | (?<![^\W_])_ | _(?![^\W_])  # but those within words
    | <(?=[A-Za-z/!?]) | &(?=\#?\w+;)
    | \[(?=[^\[\]]*\][(\[:] | \^ | [^\[\]]*(?:\[|$)) | \](?=[(\[])  # but those around words alone
    """,
    re.VERBOSE,
)
_ANY_SIGN = re.compile(r"[!-/:-@\[-`{-~]")
_LINE_START = re.compile(r"(?:[-+*](?=\s|$)|#{1,6}(?=\s|$)|>|(?<=\d)[.)](?=\s|$)|[-:|=][-:|= \t]*$)")
_NUMBER = re.compile(r"\d{1,9}")
_HARD = "\\\n"


def as_markdown(content: Styled, *, kind: BlockKind, line_break: str, labels: Collection[str]) -> str:
    """Return the text of a block as Markdown; a line break in it is written as `line_break`."""
    if line_break == " ":
        content = Styled(content.text.replace("\n", " "), content.tags)
    written = _written(content, kind, is_careful=False)
    if _comparable(inline_content(written, labels)) != _comparable(content):
        written = _written(content, kind, is_careful=True)
    return written.replace(_HARD, line_break)


def _comparable(content: Styled) -> tuple[str, list[tuple[str, TagKind, int]]]:
    """Return what must be the same when Markdown is read again: the words, and the tags with what is before them.

    For emphasis, which may move past punctuation, only letters and digits count.
    """
    letters = [0, *accumulate(map(str.isalnum, content.text))]
    signs = [0, *accumulate(not character.isspace() for character in content.text)]
    tags = []
    for tag in content.tags:
        name = _EMPHASIS.get(tag.raw) or tag.raw.strip("</>")
        tags.append((name, tag.kind, (letters if name in _EMPHASIS.values() else signs)[tag.offset]))
    return "".join(content.text.split()), tags


def _written(content: Styled, kind: BlockKind, *, is_careful: bool) -> str:
    """Return a text with tags as Markdown."""
    text, tags = content.text, _as_html(content.tags) if is_careful else _moved(content)
    parts: list[str] = []
    done = 0
    for tag in [*tags, Tag(len(text), "atom", "")]:
        parts += _escaped(text, done, tag.offset, kind, is_careful=is_careful), tag.raw
        done = tag.offset
    written = re.sub(r"[ \t]*\n[ \t]*", "\n", "".join(parts)).strip(" \t\n")
    if kind == "heading" and written.endswith("#"):
        written = f"{written[:-1]}\\#"
    return _HARD.join(map(_with_start_escaped, written.split("\n")))


def _escaped(text: str, start: int, stop: int, kind: BlockKind, *, is_careful: bool) -> str:
    """Return a part of a text with its signs escaped."""
    part = text[start:stop]
    escaped = (_ANY_SIGN if is_careful else _SIGN).sub(lambda sign: f"\\{sign[0]}", part).replace("\xa0", "&nbsp;")
    return escaped if kind != "cell" or is_careful else escaped.replace("|", "\\|")


def _with_start_escaped(line: str) -> str:
    """Return a line that begins neither a list, nor a heading, nor a quotation."""
    number = _NUMBER.match(line)
    start = _LINE_START.match(line, number.end() if number else 0)
    return f"{line[: start.start()]}\\{line[start.start() :]}" if start else line


def _as_html(tags: tuple[Tag, ...]) -> list[Tag]:
    """Return tags with HTML in place of signs."""
    slash = {"open": "", "close": "/", "atom": ""}
    return [
        tag._replace(raw=f"<{slash[tag.kind]}{_EMPHASIS[tag.raw]}>") if tag.raw in _EMPHASIS else tag for tag in tags
    ]


def _moved(content: Styled) -> list[Tag]:
    """Return tags with emphasis where it may begin and end."""
    text, tags = content.text, list(content.tags)
    for number in (*range(len(tags)), *reversed(range(len(tags)))):
        tag = tags[number]
        if tag.raw not in _EMPHASIS:
            continue
        nearest = tags[number + 1].offset if number + 1 < len(tags) else len(text)
        farthest = tags[number - 1].offset if number else 0
        offset = tag.offset
        while tag.kind == "open" and offset < nearest and not _may(tags, number, text, offset)[0]:
            offset += 1
        while tag.kind == "close" and offset > farthest and not _may(tags, number, text, offset)[1]:
            offset -= 1
        tags[number] = tag._replace(offset=offset)
    return tags


def _may(tags: list[Tag], number: int, text: str, offset: int) -> tuple[bool, bool]:
    """Return whether emphasis may begin and may end at an offset."""
    before, after = text[max(0, offset - 1) : offset], text[offset : offset + 1]
    if number and tags[number - 1].offset == offset:
        before = tags[number - 1].raw[-1:]
    if number + 1 < len(tags) and tags[number + 1].offset == offset:
        after = tags[number + 1].raw[:1]
    return flanks(before, after)
