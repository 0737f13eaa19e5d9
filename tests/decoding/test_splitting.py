"""Long texts are cut where a reader would pause, and nothing of them is lost."""

from hypothesis import given
from hypothesis import strategies as st

from manyheads.decoding.splitting import join, split


def shorter_than(limit: int):
    return lambda text: len(text) <= limit


@given(text=st.text(alphabet="ab .,;!?。，」\n\t", max_size=60), limit=st.integers(1, 20))
def test_every_part_fits_and_together_they_are_the_text(text, limit):
    parts = split(text, shorter_than(limit))
    assert all(len(part.text) <= limit for part in parts)
    assert "".join(part.text + part.gap for part in parts) == text
    assert join([part.text for part in parts], parts) == text.strip()


def test_sentences_come_before_clauses_and_clauses_before_words():
    text = "One, two three. Four five, six! Seven?"
    assert [part.text for part in split(text, shorter_than(16))] == ["One, two three.", "Four five, six!", "Seven?"]
    assert [part.text for part in split(text, shorter_than(11))] == [
        "One,", "two three.", "Four five,", "six!", "Seven?",
    ]  # fmt: skip


def test_quotation_marks_stay_with_their_sentence():
    assert [part.text for part in split("“Go!” He left.", shorter_than(8))] == ["“Go!”", "He left."]
    assert [part.text for part in split("「去！」他说。我走。", shorter_than(5))] == ["「去！」", "他说。", "我走。"]


def test_a_text_that_fits_is_left_alone():
    assert [tuple(part) for part in split("One. Two.", shorter_than(9))] == [("One. Two.", "")]


def test_a_word_that_is_too_long_is_cut_as_well():
    assert "".join(part.text for part in split("x" * 100, shorter_than(7))) == "x" * 100
