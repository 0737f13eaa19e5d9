"""IBM Model 1 learns word translations, with and without spaces between words; lexicon files have both directions."""

from random import Random

import pytest

from manyheads.data.lexicons.lexicon import Lexicon
from manyheads.data.lexicons.word_translations import learn_lexicon
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

WORDS = {
    f"source{chr(97 + i // 26)}{chr(97 + i % 26)}": f"Ziel{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(300)
}


def made_up(count: int) -> list[Pair]:
    """Return pairs whose words stand in another order on each side, among common ones."""
    random = Random(5)
    pairs = []
    for _ in range(count):
        chosen = random.sample(sorted(WORDS), k=3)
        pairs.append(Pair("the " + " ".join(chosen), "das " + " ".join(WORDS[word] for word in reversed(chosen)) + "."))
    return pairs


def test_words_that_occur_together_translate_each_other_and_common_ones_are_left_out():
    found = learn_lexicon(made_up(3000))
    assert set(found) == {(source, target.lower()) for source, target in WORDS.items()}


def test_rare_words_are_left_out():
    found = learn_lexicon([*made_up(3000), Pair("once sourceaa", "einmal Zielaa")])
    assert "once" not in {source for source, _ in found}


def test_a_file_is_read_in_either_direction(tmp_path):
    file = tmp_path / "lexicon.tsv"
    file.write_text("en\tde\nhouse\tHaus\n", encoding="utf-8")
    there = Lexicon.read(file, source_language="en", target_language="de")
    back = Lexicon.read(file, source_language="de", target_language="en")
    assert there.translations == {"house": frozenset({"haus"})}
    assert back.translations == {"haus": frozenset({"house"})}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("en\tfr\nhouse\tmaison\n", "is for en and fr, but the corpus goes from en to de"),
        ("en\tde\nhouse\n", "lexicon.tsv:2: a line of a lexicon has a word, a tab and its translation"),
        ("", "lexicon.tsv:1"),
    ],
)
def test_bad_files_are_errors(tmp_path, text, message):
    file = tmp_path / "lexicon.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ManyheadsError) as caught:
        Lexicon.read(file, source_language="en", target_language="de")
    assert message in str(caught.value)
