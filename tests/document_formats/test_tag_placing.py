"""Inline tags in a translation: by share of the way, and by the alignment of the words."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.decoding.text.sentences import split_sentences
from manyheads.documents.html import as_html, html_blocks
from manyheads.documents.interface import Styled, Tag
from manyheads.documents.split_text import SplitText
from manyheads.documents.tag_alignment import Link
from manyheads.documents.tag_placing import placed


def content(markup: str) -> Styled:
    """Return the content of some HTML that is one block."""
    (block,) = html_blocks(markup)
    return block.content


def links(source: str, target: str, pairs: str) -> list[Link]:
    """Return the links of an alignment of words in Pharaoh format."""
    spans = [[word.span() for word in re.finditer(r"\S+", text)] for text in (source, target)]
    numbers = (map(int, pair.split("-")) for pair in pairs.split())
    return [Link(spans[0][first], spans[1][second]) for first, second in numbers]


def aligned(markup: str, target: str, pairs: str) -> str:
    """Return a sentence with tags in its translation, by an alignment."""
    source = content(markup)
    one = SplitText([source.text], ["", ""])
    return as_html(placed(source, one, [target], "de", [links(source.text, target, pairs)]))


@pytest.mark.parametrize(
    ("markup", "target", "pairs", "expected"),
    [
        ("I <b>never</b> saw it", "Nie sah ich es", "0-2 1-0 2-1 3-3", "<b>Nie</b> sah ich es"),
        ("a <b>red</b> <i>car</i>", "une voiture rouge", "0-0 1-2 2-1", "une <i>voiture</i> <b>rouge</b>"),
        ("a <b>red <i>car</i></b>", "une voiture rouge", "0-0 1-2 2-1", "une <b><i>voiture</i> rouge</b>"),
        ("see <b>the page</b>, please", "bitte die Seite ansehen", "0-3 1-1 2-2 3-0", "bitte <b>die Seite</b> ansehen"),
        ("<b>Note:</b> it is so", "Es ist so, Anmerkung:", "0-3 1-0 2-1 3-2", "Es ist so, <b>Anmerkung:</b>"),
        ("<b>all of it</b>", "alles davon", "0-0 2-1", "<b>alles davon</b>"),
        ("one <b>two</b> three", "eins zwei drei", "0-0 2-2", "eins <b>zwei</b> drei"),  # nothing is aligned: by share
        ("press <img> now", "jetzt drücken", "0-1 1-0", "<img> jetzt drücken"),
        ("the key<kbd>1</kbd> fits", "passt der Schlüssel", "0-1 1-2 2-0", "passt der Schlüssel<kbd>1</kbd>"),
    ],
)
def test_a_tag_goes_around_the_words_that_are_aligned(markup, target, pairs, expected):
    assert aligned(markup, target, pairs) == expected


def test_a_distant_word_does_not_stretch_a_tag_over_words_of_others():
    assert aligned("<b>look up</b> the word now", "schlag das Wort jetzt nach", "0-0 1-4 2-1 3-2 4-3") == (
        "<b>schlag</b> das Wort jetzt nach"
    )
    assert aligned("<b>not</b> now", "ne pas maintenant", "0-0 0-1 1-2") == "<b>ne pas</b> maintenant"


def test_every_sentence_has_its_own_alignment_and_an_element_over_two_is_placed_by_share():
    source = content("<i>One</i> two. Three <b>four</b>.")
    split = split_sentences(source.text)
    targets = ["Zwei eins.", "Vier drei."]
    by_sentence = [
        links(sentence, target, "0-1 1-0") for sentence, target in zip(split.sentences, targets, strict=True)
    ]
    assert as_html(placed(source, split, targets, "de", by_sentence)) == "Zwei <i>eins</i>. <b>Vier</b> drei."
    first = [by_sentence[0], None]
    assert as_html(placed(source, split, targets, "de", first)) == "Zwei <i>eins</i>. Vier <b>drei</b>."
    over_both = content("One <b>two. Three</b> four.")
    share = as_html(placed(over_both, split, targets, "de"))
    assert as_html(placed(over_both, split, targets, "de", by_sentence)) == share


WORDS = st.lists(st.sampled_from(["aa", "b", "ccc.", "“dd”", "中"]), min_size=1, max_size=6).map(" ".join)
PARTS = ["<b>", "</b>", "<i>", "</i>", "<img>", "one ", "two", " three, ", "<kbd>x</kbd>", "“four” "]
PIECES = st.lists(st.sampled_from(PARTS), max_size=12)
PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=8)


def nesting(content: Styled) -> list:
    """Return the tags as they nest, those beside each other sorted; in their order if one is unpaired."""
    levels: list[list] = [[]]
    for tag in content.tags:
        if tag.kind == "open":
            levels.append([tag.raw])
        elif tag.kind == "close" and len(levels) == 1:
            return [tag.raw for tag in content.tags]
        elif tag.kind == "close":
            done = levels.pop()
            levels[-1].append(str([done[0], *sorted(done[1:]), tag.raw]))
        else:
            levels[-1].append(tag.raw)
    return sorted(levels[0]) if len(levels) == 1 else [tag.raw for tag in content.tags]


@LAW
@given(PIECES, WORDS, PAIRS)
def test_whatever_the_alignment_every_element_is_there_and_nests_as_before(pieces, target, pairs):
    markup = "x" + "".join(pieces)
    source = content(markup)
    one = SplitText([source.text], ["", ""])
    words = [[word.span() for word in re.finditer(r"\S+", text)] for text in (source.text, target)]
    known = [
        Link(words[0][first], words[1][second])
        for first, second in pairs
        if first < len(words[0]) and second < len(words[1])
    ]
    output = placed(source, one, [target], "de", [known])
    assert output.text.replace(" ", "") == target.replace(" ", "")
    assert nesting(output) == nesting(source)
    assert [tag.offset for tag in output.tags] == sorted(tag.offset for tag in output.tags)


def test_tags_that_are_nested_without_an_end_are_placed_all_the_same():
    depth = 5_000
    markup = "<b>" * depth + "one two" + "</b>" * depth
    assert aligned(markup, "zwei eins", "0-1 1-0") == "<b>" * depth + "zwei eins" + "</b>" * depth


def test_gold_alignments_put_tags_on_exactly_the_aligned_words_where_share_of_the_way_does_not():
    folder = Path(os.environ.get("MANYHEADS_DATA") or "") / "alignment"
    if not (folder / "enfr.gold.gz").exists():
        pytest.skip("needs gold alignments: set MANYHEADS_DATA to a folder that has alignment/enfr.gold.gz.")
    files = (folder / "enfr.src-tgt.gz", folder / "enfr.gold.gz")
    texts, golds = (gzip.decompress(file.read_bytes()).decode("utf-8").splitlines() for file in files)
    found = [one for text, gold in zip(texts, golds, strict=True) for one in exactly_placed(*text.split(" ||| "), gold)]
    by_alignment, by_share = (sum(exact) / len(found) for exact in zip(*found, strict=True))
    assert len(found) > 300
    assert by_alignment > 0.95
    assert by_alignment > by_share + 0.15


def exactly_placed(source: str, target: str, gold: str) -> Iterator[tuple[bool, bool]]:
    """Yield whether a tag around a word goes around what is aligned with it: by the alignment, by share."""
    words, target_words = ([word.span() for word in re.finditer(r"\S+", text)] for text in (source, target))
    pairs = [tuple(int(number) - 1 for number in pair.split("-")) for pair in gold.split() if "-" in pair]
    known = [Link(words[first], target_words[second]) for first, second in pairs]
    for number, (start, stop) in enumerate(words):
        linked = sorted(second for first, second in pairs if first == number)
        is_one_run = linked and linked == list(range(linked[0], linked[-1] + 1))
        if not is_one_run or not all(target[slice(*target_words[one])].isalnum() for one in linked):
            continue
        content = Styled(source, (Tag(start, "open", "<b>"), Tag(stop, "close", "</b>")))
        expected = [target_words[linked[0]][0], target_words[linked[-1]][1]]
        one = SplitText([source], ["", ""])
        placings = (placed(content, one, [target], "fr", [links]) for links in (known, None))
        by_alignment, by_share = ([tag.offset for tag in placing.tags] == expected for placing in placings)
        yield by_alignment, by_share
