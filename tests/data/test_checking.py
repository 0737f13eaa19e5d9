"""Every fault that is planted in a clean corpus is found, on its line, and nothing else is."""

import gzip
import json
import os
from itertools import product
from pathlib import Path

import pytest
from typer.testing import CliRunner

from manyheads.cli.data import app
from manyheads.data.cleaning.checking import KINDS, Limits, Report, check
from manyheads.data.text.records import Pair

COLOURS = ["red", "blue", "green", "grey", "black", "white", "brown", "pink", "golden", "silver"]
PLACES = ["garden", "street", "kitchen", "valley", "forest", "harbour", "tower", "tunnel", "mountain", "village"]
CLEAN = [
    Pair(f"the {colour} {word} {i} stands in the {place}", f"das {word} ({colour}) Nummer {i} steht hier: {place}")
    for i, (word, colour, place) in enumerate(product(["house", "horse", "Füchslein"], COLOURS, PLACES))
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
    "untranslated": Pair(
        "you have to use the following steps right now", "man muss use the following steps right now tun"
    ),
    "wrong_script": Pair("the little red bird sings", "маленькая птица поёт"),
    "wrong_language": Pair(
        "the small red birds sing in the early morning", "les petits oiseaux rouges chantent tôt le matin dehors"
    ),
    "numbers": Pair("there were 350 birds in the year 1998", "im Jahr 1988 waren dort 350 Vögel"),
    "placeholders": Pair("there are %d birds in {place}", "in {place} gibt es Vögel"),
}


def planted() -> tuple[list[Pair], dict[str, list[int]]]:
    """Return the clean corpus with every fault planted in it, and on which lines."""
    pairs, lines = list(CLEAN), {}
    for number, (kind, pair) in enumerate(FAULTS.items()):
        place = 20 + 25 * number
        pairs.insert(place, pair)
        lines[kind] = [place + 1]
    pairs.append(pairs[3])
    lines["duplicated"] = [len(pairs)]
    pairs.append(Pair(pairs[5].source.upper() + "!", pairs[5].target))
    lines["near_duplicated"] = [len(pairs)]
    return pairs, lines


def test_a_clean_corpus_has_no_faults():
    report = Report()
    assert list(check(CLEAN, Limits(), report, source_language="en", target_language="de")) == CLEAN
    assert report.faulty == 0 and report.pairs == len(CLEAN)


def test_every_planted_fault_is_found_on_its_line():
    pairs, lines = planted()
    report = Report()
    good = list(check(pairs, Limits(), report, source_language="en", target_language="de"))
    assert set(lines) == set(KINDS)
    for kind, expected in lines.items():
        assert set(expected) <= set(report.lines[kind]), kind
    # A wordless line is also unbalanced; beyond that, nobody is accused who was not planted.
    everywhere = {number for found in lines.values() for number in found}
    assert {number for found in report.lines.values() for number in found} == everywhere
    assert good == CLEAN


def test_the_command_finds_bytes_that_are_not_utf8_and_writes_the_rest(tmp_path):
    source, target = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_bytes(b"one good line here\nf\xfcr dich allein\nthree is good as well\n")
    target.write_text("eine gute Zeile hier\nfor you alone\ndrei ist auch gut so\n", encoding="utf-8")
    command = ["check", "--source", str(source), "--target", str(target), "--json"]
    done = CliRunner().invoke(app, [*command, "--write-clean", str(tmp_path / "clean")])
    assert json.loads(done.stdout)["lines"]["badly_encoded"] == [2]
    assert (tmp_path / "clean.source").read_text(encoding="utf-8") == "one good line here\nthree is good as well\n"
    assert (tmp_path / "clean.target").read_text(encoding="utf-8").count("\n") == 2


def test_languages_are_judged_only_where_they_are_known():
    pairs = [FAULTS["wrong_script"], FAULTS["wrong_language"]]
    report = Report()
    assert list(check(pairs, Limits(), report)) == pairs
    report = Report()
    assert list(check(pairs, Limits(), report, source_language="en")) == pairs
    assert list(check(pairs, Limits(), report, source_language="en", target_language="de")) == []


@pytest.fixture
def corpus(tmp_path) -> tuple[Path, Path]:
    """Two files whose names are what --write-clean would write with the prefix `train`."""
    source, target = tmp_path / "train.source", tmp_path / "train.target"
    source.write_text("one good line here\n\n", encoding="utf-8")
    target.write_text("eine gute Zeile hier\nohne Quelle\n", encoding="utf-8")
    return source, target


def test_what_is_read_is_never_replaced(command, corpus, tmp_path):
    before = [file.read_bytes() for file in corpus]
    arguments = ["data", "check", "--source", corpus[0], "--target", corpus[1], "--force"]
    command(*arguments, "--write-clean", tmp_path / "train").refuses("replace what they are read from", "--write-clean")
    (tmp_path / "linked.source").symlink_to(corpus[0])
    command(*arguments, "--write-clean", tmp_path / "linked").refuses("replace what they are read from")
    assert [file.read_bytes() for file in corpus] == before


def test_other_files_are_replaced_only_with_consent(command, corpus, tmp_path):
    (tmp_path / "clean.target").write_text("precious", encoding="utf-8")
    arguments = ["data", "check", "--source", corpus[0], "--target", corpus[1], "--write-clean", tmp_path / "clean"]
    command(*arguments).refuses("clean.target", "there is a file here already", "--force")
    assert (tmp_path / "clean.target").read_text(encoding="utf-8") == "precious"
    assert not (tmp_path / "clean.source").exists()
    assert command(*arguments, "--force").code == 0
    assert (tmp_path / "clean.target").read_text(encoding="utf-8") == "eine gute Zeile hier\n"


@pytest.mark.parametrize("answer, replaced", [("y\n", True), ("n\n", False)])
def test_a_user_at_a_terminal_is_asked(corpus, tmp_path, monkeypatch, answer, replaced):
    clean = tmp_path / "clean.source"
    clean.write_text("precious", encoding="utf-8")
    monkeypatch.setattr("manyheads.cli.data.is_terminal", lambda stream: True)
    names = ["--source", str(corpus[0]), "--target", str(corpus[1]), "--write-clean", str(tmp_path / "clean")]
    done = CliRunner().invoke(app, ["check", *names], input=answer)
    assert f"Replace {clean}?" in done.stderr
    assert (clean.read_text(encoding="utf-8") == "one good line here\n") is replaced


def test_a_path_that_cannot_be_written_is_one_sentence(command, corpus, tmp_path):
    arguments = ["data", "check", "--source", corpus[0], "--target", corpus[1]]
    command(*arguments, "--write-clean", tmp_path / "missing" / "clean").refuses("clean.source", "cannot be written")


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
