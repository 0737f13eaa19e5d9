"""Every fault that is planted in a clean corpus is found, on its line, and nothing else is."""

import gzip
import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from manyheads.cli.data import app
from manyheads.data.checking import KINDS, Limits, Report, badly_encoded, check
from manyheads.data.pairs import Pair
from manyheads.data.tasks import task

CLEAN = [
    Pair(f"the {word} number {i} stands in the garden", f"das {word} Nummer {i} steht im Garten")
    for i, word in enumerate(["house", "tree", "horse", "bird", "stone", "Füchslein"] * 50)
]
FAULTS = {
    "empty": Pair("a sentence without a translation", "  "),
    "wordless": Pair("front stroke swimming race", "@ @"),
    "over_long": Pair("word " * 300, "Wort " * 300),
    "unbalanced": Pair(
        "one short sentence", "ein Satz, der gar nicht enden will, weil er immer weiter und weiter geht " * 3
    ),
    "copied": Pair("nobody translated this one", "nobody translated this one"),
    "badly_encoded": Pair("the little fox for you", "das FÃ¼chslein fÃ¼r dich"),
}


def planted() -> tuple[list[Pair], dict[str, list[int]]]:
    """Return the clean corpus with every fault planted in it, and on which lines."""
    pairs, lines = list(CLEAN), {}
    for number, (kind, pair) in enumerate(FAULTS.items()):
        place = 20 + 37 * number
        pairs.insert(place, pair)
        lines[kind] = [place + 1]
    pairs.append(pairs[3])
    lines["duplicated"] = [len(pairs)]
    return pairs, lines


def test_a_clean_corpus_has_no_faults():
    report = Report()
    assert list(check(CLEAN, Limits(), report)) == CLEAN
    assert report.faulty == 0 and report.pairs == len(CLEAN)


def test_every_planted_fault_is_found_on_its_line():
    pairs, lines = planted()
    report = Report()
    good = list(check(pairs, Limits(), report))
    assert set(lines) == set(KINDS)
    for kind, expected in lines.items():
        assert set(expected) <= set(report.lines[kind]), kind
    # A wordless line is also unbalanced; beyond that, nobody is accused who was not planted.
    everywhere = {number for found in lines.values() for number in found}
    assert {number for found in report.lines.values() for number in found} == everywhere
    assert good == CLEAN


@pytest.mark.parametrize("text", ["fÃ¼r", "naÃ¯ve cafÃ©", "replaced \ufffd", "a\x00b", "donâ€™t"])
def test_traces_of_a_wrong_encoding_are_seen(text):
    assert badly_encoded(text)


@pytest.mark.parametrize("text", ["für", "naïve café", "don’t", "2026年11月15日", "Привет", "¿Qué? ½ €"])
def test_real_text_is_left_alone(text):
    assert not badly_encoded(text)


def test_no_date_in_any_language_looks_badly_encoded():
    assert not [pair for pair in task("dates").pairs("train", count=2000) if badly_encoded(pair.source)]


def test_the_command_finds_bytes_that_are_not_utf8_and_writes_the_rest(tmp_path):
    source, target = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_bytes(b"one good line here\nf\xfcr dich allein\nthree is good as well\n")
    target.write_text("eine gute Zeile hier\nfor you alone\ndrei ist auch gut so\n", encoding="utf-8")
    command = ["check", "--source", str(source), "--target", str(target), "--json"]
    done = CliRunner().invoke(app, [*command, "--write-clean", str(tmp_path / "clean")])
    assert json.loads(done.stdout)["lines"]["badly_encoded"] == [2]
    assert (tmp_path / "clean.source").read_text(encoding="utf-8") == "one good line here\nthree is good as well\n"
    assert (tmp_path / "clean.target").read_text(encoding="utf-8").count("\n") == 2


def test_multi30k_has_two_lines_of_nothing_but_at_signs():
    folder = os.environ.get("MANYHEADS_DATA")
    if not folder:
        pytest.skip("MANYHEADS_DATA names no folder with the public corpora")
    raw = Path(folder) / "multi30k" / "raw"
    done = CliRunner().invoke(
        app, ["check", "--source", str(raw / "train.en.gz"), "--target", str(raw / "train.de.gz"), "--json"]
    )
    with gzip.open(raw / "train.de.gz", "rt", encoding="utf-8") as file:
        at_signs = [number for number, line in enumerate(file, start=1) if line.strip() == "@@"]
    assert json.loads(done.stdout)["lines"]["wordless"] == at_signs
    assert len(at_signs) == 2
