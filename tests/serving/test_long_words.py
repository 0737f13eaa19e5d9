"""A word that is too long is left as it is, and said; scripts without spaces have no long words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.decoding.text.sentences import split_sentences
from manyheads.serving.long_words import LongWords
from served import serving

LONG = "x" * 600
PARAGRAPHS = {
    "Chinese": "我们今天去公园散步，孩子们在那里玩耍。" * 32,
    "Japanese": "昨日わたしたちは公園へ行きました" * 40,
    "Thai": "เด็กๆกำลังเล่นอยู่ในสวนกับเพื่อนของพวกเขา" * 15,
}


def test_a_long_word_is_left_as_it_is_and_the_others_of_its_list_are_translated(server, translator):
    answer = server.translate([LONG, "1 May 2020"]).json()
    assert answer["translatedText"] == [LONG, translator.translate("1 May 2020")]
    ((note,), none) = answer["notes"]
    assert f"more than {server.service.options.word_limit} characters" in note
    assert none == []


def test_the_text_around_a_long_word_is_translated(server, translator):
    answer = server.translate(f"1 May 2020 {LONG}, 2 June 2021\n{LONG}").json()
    first, second = translator.translate(["1 May 2020", "2 June 2021"])
    assert answer["translatedText"] == f"{first} {LONG}, {second}\n{LONG}"
    assert "and 1 more" in answer["notes"][0]
    assert server.translate(f"<p>1 May 2020 <b>{LONG}</b></p>", format="html").json()["translatedText"] == (
        f"<p>{first} <b>{LONG}</b></p>"
    )


def test_a_text_without_long_words_has_no_notes(server):
    assert "notes" not in server.translate("1 May 2020").json()
    assert "notes" not in server.translate(["1 May 2020", "x" * server.service.options.word_limit]).json()


@pytest.mark.parametrize("language", PARAGRAPHS)
def test_a_paragraph_of_six_hundred_characters_without_spaces_is_translated(server, translator, language):
    paragraph = PARAGRAPHS[language][:600]
    assert len(paragraph) == 600 and not any(map(str.isspace, paragraph))
    answer = server.translate(paragraph).json()
    assert answer == {"translatedText": translator.translate(paragraph)}
    assert answer["translatedText"] != paragraph


def test_a_long_word_cannot_be_looked_into(server):
    asked = {"q": f"1 May 2020. {LONG} 2 June 2021.", "source": "en", "target": "de"}
    assert server.post("/sentences", json=asked).json() == {"sentences": ["1 May 2020.", "2 June 2021."]}


def test_without_a_limit_a_long_word_is_translated_in_parts(runs):
    with serving([runs["there"]], word_limit=0) as server:
        answer = server.translate("x" * 150).json()
        assert "notes" not in answer
        assert answer["translatedText"] != "x" * 150


@LAW
@given(st.text(alphabet="ab.中 \n", max_size=60))
def test_the_parts_of_a_text_are_the_text_without_its_white_space(text):
    words = LongWords(5)
    parts = words.split(text, split_sentences)
    assert parts.fill(parts.sentences) == text
    assert [part for part in parts.sentences if words.is_one(part)] == [
        word for piece in text.split() for word in piece.replace("中", " ").split() if len(word) > 5
    ]
