"""Sentences are found where they are, in every language, and everything between them comes back as it was."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.decoding.text.sentences import split_sentences

PROSE = st.text(alphabet="aB1é中。.!?…, \n\t\r\xa0\"“”»')Ж:", max_size=80)
LANGUAGES = ["en", "de", "fr", "zh"]

# Sentences are separated by a bar.
PROBES = {
    "en": [
        "The cat sat.| It purred.",
        "Dr. Smith paid $3.50 for No. 5.| He left at 5 p.m.| Then it rained.",
        "He said “Stop!” and ran.| “Why?” she asked.",
        "J. R. R. Tolkien wrote it, e.g. in the U.S. Army.| Wait...| What?!",
        "He is 54.| 800 miles are far.| “I was tired.| I went home.”| He left.",
    ],
    "de": [
        "Am 15. November kam Dr. Müller.| Er ging, z. B. nach Hause, d. h. weg.",
        "Das kostet 3.500,50 Euro bzw. ca. 4 Mio. Dollar.| 80 Leute kamen.",
        "„Komm!“, sagte er.| „Warum?“| Sie lachte …| Dann ging sie.",
        "Im 20. Jahrhundert, vgl. Abb. 3, war es so.| Heute nicht.",
    ],
    "fr": [
        "M. Dupont et Mme Curie sont là.| Il aime p. ex. le vin.",
        "« Viens ! » dit-il.| Bonjour !| Ça va ?",
        "« Viens ! »| Il vint en 356 av. J.-C. avec M. Rudd...| Puis il partit.",
    ],
    "zh": [
        "猫坐下了。|它叫了！|价格是3.5元。|20年后呢？",
        "他说：“走吧。”|我走了。|“弗雷德”来了。",
        "真的？！|「好。」|她问……然后走了。",
    ],
}


@pytest.mark.parametrize(("language", "marked"), [(code, one) for code, some in PROBES.items() for one in some])
def test_sentences_end_where_a_reader_would_say(language, marked):
    found = split_sentences(marked.replace("|", ""), [language])
    assert found.sentences == [sentence.strip() for sentence in marked.split("|")]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ("See example.com or ASP.NET. Now.", ["See example.com or ASP.NET.", "Now."]),
        ("a… and then", ["a… and then"]),
        ("first line\nsecond line\tcell", ["first line", "second line", "cell"]),
        ("a..... B?!? C", ["a.....", "B?!?", "C"]),
        ("   \n\n", []),
        ("", []),
    ],
)
def test_where_the_language_is_unknown_the_marks_decide(text, sentences):
    assert split_sentences(text).sentences == sentences


def test_the_language_is_detected_only_where_it_matters():
    def unexpected() -> str:
        raise AssertionError("the language makes no difference here")

    assert split_sentences("Ich war müde. Ich ging.", ["de", "fr"], unexpected).sentences == [
        "Ich war müde.",
        "Ich ging.",
    ]
    ordinal = "Am 3. Mai. Er kam."
    assert split_sentences(ordinal, ["de", "fr"], lambda: "de").sentences == ["Am 3. Mai.", "Er kam."]
    assert split_sentences(ordinal, ["de", "fr"], lambda: "fr").sentences == ["Am 3.", "Mai.", "Er kam."]
    assert split_sentences(ordinal, ["de", "fr"], lambda: None).sentences == ["Am 3. Mai.", "Er kam."]


@LAW
@given(PROSE, st.sampled_from(LANGUAGES))
def test_filling_in_the_sentences_themselves_gives_the_text(text, language):
    found = split_sentences(text, [language])
    assert found.fill(found.sentences) == text


@LAW
@given(st.text(max_size=60), st.sampled_from(LANGUAGES))
def test_no_character_of_any_text_is_lost(text, language):
    found = split_sentences(text, [language])
    assert found.fill(found.sentences) == text


@LAW
@given(PROSE, st.sampled_from(LANGUAGES))
def test_what_stands_between_sentences_is_white_space(text, language):
    found = split_sentences(text, [language])
    assert all(gap.strip() == "" for gap in found.gaps)
    assert all(sentence and sentence == sentence.strip() for sentence in found.sentences)


@pytest.mark.parametrize(
    ("source", "translations", "language", "expected"),
    [
        ("猫坐下了。它叫了。", ["The cat sat.", "It purred."], "en", "The cat sat. It purred."),
        ("The cat sat. It purred.", ["猫坐下了。", "它叫了。"], "zh-Hans", "猫坐下了。它叫了。"),
        ("The cat sat.\n\nIt purred.", ["猫坐下了。", "它叫了。"], "zh", "猫坐下了。\n\n它叫了。"),
        ("One.  Two.", ["Eins.", "Zwei."], "de", "Eins.  Zwei."),
        ("Yes. No.", ["Yes.", "No."], "zh", "Yes. No."),
        ("猫坐下了。它叫了。", ["猫。", "叫。"], None, "猫。叫。"),
    ],
)
def test_spaces_between_sentences_are_those_of_the_language_written(source, translations, language, expected):
    assert split_sentences(source).fill(translations, language) == expected


def test_one_sentence_needs_no_library_to_find_its_end():
    code = (
        "import sys; from manyheads.decoding.text.sentences import split_sentences; split_sentences('One two.');"
        "assert 'sentencex' not in sys.modules; split_sentences('One. Two.'); assert 'sentencex' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
