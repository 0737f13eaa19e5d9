"""A shortlist holds what translates what, and a search with it finds what one without it finds."""

from pathlib import Path

import numpy as np
import pytest

from manyheads import Translator
from manyheads.decoding.engines.shortlist import Shortlist
from manyheads.errors import ManyheadsError

DICTIONARY = {0: 7, 1: 5, 2: 6, 3: 4}  # source id → target id


def pairs(count: int = 200):
    drawn = np.random.default_rng(3)
    for _ in range(count):
        source = drawn.choice(4, size=3, replace=False).tolist()
        yield source, [8, *(DICTIONARY[one] for one in drawn.permutation(source).tolist())]  # 8 is everywhere


def test_words_are_told_from_their_neighbours():
    found = Shortlist.learn(pairs(), vocabularies=(5, 9), each=2, frequent=1)
    for source, target in DICTIONARY.items():
        assert target in found.likely[source]
    assert found.always.tolist() == [8]
    assert found.likely[4].tolist() == [-1, -1]  # never seen


def test_it_is_read_as_it_was_written(tmp_path: Path):
    found = Shortlist.learn(pairs(), vocabularies=(5, 9), each=3, frequent=2)
    found.write(tmp_path / "shortlist")
    again = Shortlist.read(tmp_path / "shortlist")
    assert np.array_equal(again.likely, found.likely) and np.array_equal(again.always, found.always)


def test_the_map_has_a_line_for_each_known_word_and_one_for_all():
    found = Shortlist(np.array([[1, 2], [3, -1], [-1, -1]]), np.array([0]))
    assert found.ctranslate2_map("abcd") == b"\ta\na\tb c\nb\td\n"


def test_nothing_is_learned_from_nothing():
    with pytest.raises(ManyheadsError, match="no pairs"):
        Shortlist.learn([], vocabularies=(1, 1))


def test_a_trained_model_says_the_same_with_a_shortlist(command, reverse_run: Path, tmp_path: Path):
    """Reversing symbols, every target token is one of the source's, so a shortlist forbids nothing that is right."""
    import shutil

    run = tmp_path / "run"
    shutil.copytree(reverse_run, run)
    texts = ["a b c", "h g f e", "b", ""]
    with pytest.raises(ManyheadsError, match="this run has no shortlist"):
        Translator(run).translate(texts, shortlist=True)
    assert command("shortlist", str(run), "--each", "3", "--frequent", "1").code == 0
    expected = ["c b a", "e f g h", "b", ""]
    assert Translator(run).translate(texts, shortlist=True) == expected
    with pytest.raises(ManyheadsError, match="torch engine has no shortlist"):
        Translator(run, engine="torch").translate(texts, shortlist=True)


def test_both_engines_look_at_the_same(reverse_run: Path):
    texts = ["a b c d", "h g", "c", "b a d c e f", "e e", "g h a"]  # more than there are workers
    found = [
        [one.candidates[0] for one in Translator(reverse_run, engine=engine).translations(texts, alignments=True)]
        for engine in ("torch", "ctranslate2")
    ]
    for ours, theirs in zip(*found, strict=True):
        assert ours.text == theirs.text
        assert np.allclose(ours.attention, theirs.attention, atol=1e-4)
        assert np.asarray(ours.attention).shape == (len(ours.tokens), len(ours.text.split()) + 1)


def test_the_command_prints_alignments(command, reverse_run: Path):
    result = command("translate", "--model", str(reverse_run), "--alignments", "--beam", "1", "a b c d")
    text, _, aligned = result.out.strip().partition(" ||| ")
    assert text == "d c b a"
    assert [int(pair.split("-")[1]) for pair in aligned.split()] == [0, 1, 2, 3]
