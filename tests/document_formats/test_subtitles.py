"""Subtitles: pysubs2 finds what was filled in, and numbers, times, settings, styles and notes stay."""

from __future__ import annotations

from html import unescape

import pysubs2
import pytest
from catalogues import translated, unchanged
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.documents.interface import Filling, Styled
from manyheads.documents.subtitles import LARGEST, LONGEST_LINE, read_srt, read_webvtt
from manyheads.errors import ManyheadsError

SRT = """1
00:00:01,000 --> 00:00:02,500
Where is <i>the
other one</i>?

2
00:00:03,000 --> 00:00:04,000 X1:40 X2:600 Y1:20 Y2:50
{\\an8}- Who?
- The <b>one</b> & 3 < 4.

3
00:00:05,000 --> 00:00:06,000


00:00:06,500 --> 00:00:07,000
without a number
4 times
"""
WEBVTT = """WEBVTT - a title
Kind: captions

STYLE
::cue { color: red }

REGION
id:fred

NOTE
a note --> of two lines

intro
00:01.000 --> 00:00:02.500 align:start line:0
Where is <v Ann>the
<c.loud>other</c> one</v> &amp; &lt;more&gt;?

00:03.000 --> 00:04.000
One <00:00:03.500>two
"""
READERS = {"srt": read_srt, "vtt": read_webvtt}


def cues(text: str, form: str) -> list[tuple[int, int, str]]:
    """Return the cues as pysubs2 reads them: their times and their words."""
    events = pysubs2.SSAFile.from_string(text.replace("\r\n", "\n"), format_=form).events
    return [(event.start, event.end, " ".join(unescape(event.plaintext).split())) for event in events]


@pytest.mark.parametrize(("form", "text"), [("srt", SRT), ("vtt", WEBVTT)])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_subtitles_with_their_own_texts_are_the_same_and_pysubs2_finds_a_translation(form, text, line_end):
    text = text.replace("\n", line_end)
    for whole in (text, "\ufeff" + text, text.rstrip()):
        document = READERS[form](whole, language="de")
        assert unchanged(document) == {whole}
        assert document.fill([segment.source for segment in document.segments], Filling("de")) == whole
    filled = translated(READERS[form](text, language="de"))
    before, after = cues(text, form), cues(filled, form)
    assert after == [(start, end, words.upper()) for start, end, words in before]
    assert len(before) >= 2
    assert filled.count(line_end) == filled.count("\n")


def test_segments_are_cues_and_speakers_with_their_tags():
    segments = read_srt(SRT, language="de").segments
    assert [segment.source.text for segment in segments] == [
        "Where is the other one?", "- Who?", "- The one & 3 < 4.", "without a number 4 times"
    ]  # fmt: skip
    assert [tag.raw for segment in segments for tag in segment.source.tags] == ["<i>", "</i>", "{\\an8}", "<b>", "</b>"]
    assert [(segment.line, segment.key) for segment in segments] == [(3, "1"), (8, "2"), (9, "2"), (16, "")]
    web = read_webvtt(WEBVTT, language="de").segments
    assert [segment.source.text for segment in web] == ["Where is the other one & <more>?", "One two"]
    assert [tag.kind for tag in web[0].source.tags] == ["open", "open", "close", "close"]
    assert [(segment.line, segment.key) for segment in web] == [(15, "intro"), (19, "")]


def cue_with(lines: str, translation: Styled) -> list[str]:
    """Return the lines of a cue after a translation."""
    document = read_srt(f"1\n00:00:01,000 --> 00:00:02,000\n{lines}\n", language="de")
    return document.fill([translation for _ in document.segments], Filling("de")).splitlines()[2:]


@LAW
@given(st.lists(st.text(alphabet="abcd", min_size=1, max_size=9), min_size=1, max_size=20))
def test_a_translation_has_at_most_two_lines_that_no_other_break_would_make_more_equal(words):
    translation = " ".join(words)
    lines = cue_with("short", Styled(translation))
    assert " ".join(lines) == translation
    assert len(lines) == (2 if len(translation) > LONGEST_LINE and len(words) > 1 else 1)
    breaks = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words))]
    if len(lines) == 2:
        assert max(map(len, lines)) == min(max(len(first), len(second)) for first, second in breaks)


def test_a_line_may_be_as_long_as_the_longest_of_its_cue_and_a_break_keeps_the_tags():
    long = "a" * LONGEST_LINE + " bb"
    assert cue_with(long, Styled(long.upper())) == [long.upper()]
    tagged = read_srt("1\n00:00:01,000 --> 00:00:02,000\n<i>x</i>\n", language="de").segments[0].source.tags
    text = "b" * 30 + " " + "c" * 30
    moved = tuple(tag._replace(offset=offset) for tag, offset in zip(tagged, (0, 30), strict=True))
    assert cue_with("<i>x</i>", Styled(text, moved)) == ["<i>" + "b" * 30 + "</i>", "c" * 30]
    assert cue_with("- a\n- b", Styled(text)) == [text, text]  # each speaker keeps one line
    assert cue_with("x", Styled("中" * 50)) == ["中" * 25, "中" * 25]
    assert cue_with("x", Styled("one\ntwo")) == ["one two"]


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (read_srt, SRT.replace("00:00:03,000", "00:00:00,500"), "line 7: times run backwards: this cue begins before"),
        (read_srt, SRT.replace("00:00:02,500", "00:00:00,500"), "line 2: times run backwards: this cue ends before"),
        (read_srt, SRT.replace("<i>the\n", "<i>the\n\n"), "line 5: this cue has no line with its times: 'other one"),
        (read_srt, SRT.replace("00:00:04,000", "soon"), "line 7: the times of this cue cannot be read"),
        (read_srt, "a" * 100_000, "line 1: this cue has no line with its times"),
        (read_srt, "1\n" * 20_000, "line 1: this cue has no line with its times"),
        (read_srt, "1\n" * LARGEST, "this file of subtitles has"),
        (read_webvtt, SRT, "line 1: this is not WebVTT"),
        (read_webvtt, WEBVTT.replace("00:04.000", "00:02.000"), "line 18: times run backwards"),
    ],
)
def test_what_is_broken_is_one_sentence_with_its_line(read, text, expected):
    with pytest.raises(ManyheadsError) as caught:
        read(text, language="de")
    assert str(caught.value).startswith(expected)
    assert len(str(caught.value)) < 250


LINES = st.lists(st.text(alphabet="<>ib/{}\\-an& ", min_size=1, max_size=12).filter(str.strip), max_size=4)


@LAW
@given(LINES)
def test_whatever_a_cue_holds_it_comes_back(lines):
    for header, read in (("", read_srt), ("WEBVTT\n\n", read_webvtt)):
        text = header + "\n".join(["1", "00:00:01.000 --> 00:00:02.000", *lines])
        assert unchanged(read(text, language=None)) == {text}
