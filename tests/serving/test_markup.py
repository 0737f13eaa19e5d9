"""Markup survives translation: every tag, in its order, around what it was around."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.decoding.text.sentences import split_sentences
from manyheads.documents.html import read_pieces
from manyheads.serving.documents import Output
from manyheads.serving.markup import Markup

WORDS = st.text(alphabet="abcé中.! \n", max_size=12)
TAGS = ("p", "b", "i", "a href='x'", "div", "span class=y", "code", "td")
NESTED = st.recursive(
    WORDS.map(html.escape),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(TAGS),
        st.lists(inner, max_size=3),
    ),
    max_leaves=10,
)
ANYTHING = st.text(alphabet="<>/!-?&;=\"'ab# \n", max_size=60)


def translated(markup: str, change=lambda sentence: sentence) -> str:
    document = Markup(markup).split(split_sentences)
    return document.fill([Output(change(sentence)) for sentence in document.sentences])


class Events(HTMLParser):
    """The tags and the text of some HTML, as a browser would read them."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(f"<{tag} {attrs}>")

    def handle_endtag(self, tag):
        self.tags.append(f"</{tag}>")

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<p class="x">one two</p>', '<p class="x">TWO ONE</p>'),
        ("<p>one two. <b>Three four.</b></p>", "<p>TWO. ONE <b>FOUR. THREE</b></p>"),
        ("<b>one two</b>", "<b>TWO ONE</b>"),
        ("<ul>\n <li>one two\n <li>three\n</ul>", "<ul>\n <li>TWO ONE\n <li>THREE\n</ul>"),
        ("one<br>two", "ONE<br>TWO"),
        ("a &lt; b", "B &lt; A"),
        ("one&nbsp;&nbsp;", "ONE&nbsp;&nbsp;"),
        ("<!-- not this -->one", "<!-- not this -->ONE"),
        ("<script>if (a < b) { c }</script>one", "<script>if (a < b) { c }</script>ONE"),
        ("<style>p { x }</style><pre>as it is</pre>", "<style>p { x }</style><pre>as it is</pre>"),
        ('<span translate="no">Name</span> one', '<span translate="no">Name</span> ONE'),
        ('<p class="a notranslate">one <p>two</p></p>three', '<p class="a notranslate">one <p>two</p></p>THREE'),
        ('<img alt="one"> two', '<img alt="one"> TWO'),
        ("", ""),
        ("&copy;", "©"),
    ],
)
def test_tags_stay_and_text_is_translated(markup, expected):
    assert translated(markup, lambda sentence: " ".join(reversed(sentence.upper().split()))) == expected


def test_a_tag_within_a_sentence_keeps_its_share_of_the_way_and_surrounds_whole_words():
    assert translated("we <b>love</b> you all", lambda _: "wir lieben euch alle") == "wir <b>lieben</b> euch alle"
    assert translated("a <i>b <b>c</b></i> d", lambda _: "eins zwei drei vier") == ("eins <i>zwei <b>drei</b></i> vier")


@pytest.mark.parametrize(
    ("markup", "translation", "expected"),
    [
        ("Type <code>ls</code> to see it.", "Schreib, um es zu sehen.", "Schreib <code>ls</code>, um es zu sehen."),
        ("The command is <code>ls</code>.", "Der Befehl ist.", "Der Befehl ist <code>ls</code>."),
        ("Use <b><code>a</code></b> now", "Jetzt benutzen", "Jetzt <b><code>a</code></b> benutzen"),
        ('Ask <i translate="no">Ann</i> for it', "Bitte sie darum", 'Bitte <i translate="no">Ann</i> sie darum'),
        ("<code>a</code>, <code>b</code> and so", "Komma und so", "<code>a</code> <code>b</code> Komma und so"),
        ("a<kbd>x</kbd> b", "c d", "c<kbd>x</kbd> d"),
        ("<i>No</i>!!!!", "Nein danke schön!", "<i>Nein danke schön</i>!"),
        ("“<i>No</i>!!!!”", "„Nein danke schön!“", "„<i>Nein danke schön</i>!“"),
    ],
)
def test_spaces_stay_beside_what_is_untouched_and_tags_around_every_word(markup, translation, expected):
    assert translated(markup, lambda _: translation) == expected


def test_tags_around_a_sentence_that_follows_a_short_word_stay_around_it():
    assert translated("The cat sat. <i>It purred.</i>", str.upper) == "THE CAT SAT. <i>IT PURRED.</i>"


def test_spaces_between_sentences_follow_the_language_and_tags_stay_with_theirs():
    document = Markup("<p>猫坐。<i>它叫。</i></p>").split(split_sentences)
    assert document.fill([Output("It sat."), Output("It purred.")], "en") == "<p>It sat. <i>It purred.</i></p>"
    document = Markup("<p><b>It sat.</b>\n It <i>purred.</i></p>").split(split_sentences)
    assert document.fill([Output("猫坐。"), Output("它叫。")], "zh") == "<p><b>猫坐。</b>它<i>叫。</i></p>"


@LAW
@given(ANYTHING)
def test_the_pieces_of_any_text_are_that_text(markup):
    assert "".join(piece.raw for piece in read_pieces(markup)) == markup


@LAW
@given(NESTED)
def test_unchanged_sentences_give_the_same_document(markup):
    before, after = Events(markup), Events(translated(markup))
    assert after.tags == before.tags
    assert after.text.replace("\n", " ") == before.text.replace("\n", " ")  # to a browser they are the same


@LAW
@given(NESTED, st.text(alphabet="xy <&中", min_size=1, max_size=20))
def test_every_tag_is_there_in_its_order_whatever_the_translation(markup, translation):
    after = translated(markup, lambda _: translation)
    assert Events(after).tags == Events(markup).tags
    assert re.findall(r"<code>.*?</code>", after, re.DOTALL) == re.findall(r"<code>.*?</code>", markup, re.DOTALL)


def test_a_translation_cannot_become_markup():
    assert translated("one", lambda _: "</script><script>alert(1)") == "&lt;/script&gt;&lt;script&gt;alert(1)"
