"""`manyheads translate FILE --out FILE`: a document in, a document out, or one sentence and nothing written."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from document_examples import EXAMPLES, PO, XLIFF
from manyheads.decoding.translator import Translator
from manyheads.documents import opening
from run_folders import PROSE, make_multilingual_run, make_run

SHORT = ["--beam", 1, "--extra-length", 0]  # outputs


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("documents") / "run", data=PROSE).path


@pytest.fixture
def translate(command, run: Path, tmp_path: Path) -> Callable:
    """`translate("a.po", …)` translates a file of the test's folder into `out`."""

    def call(name: str, *words: object):
        place = ["--model", run, "--out", tmp_path / "out"]
        return command("translate", tmp_path / name, *place, *SHORT, *words)

    return call


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_document_is_translated_into_a_file(translate, run: Path, tmp_path: Path):
    (tmp_path / "a.json").write_text(EXAMPLES["json"])
    result = translate("a.json")
    assert result.code == 0, result.err
    assert "2 of 2 texts translated into 'de'." in result.out
    there = partial(Translator(run).translate, beam=1, extra_length=0)
    assert json.loads((tmp_path / "out").read_text()) == {"a": there("café"), "b": [1, there("two")]}
    assert names(tmp_path) == ["a.json", "out"]


def test_the_result_can_be_json(translate, tmp_path: Path):
    (tmp_path / "a.po").write_text(EXAMPLES["po"])
    shown = json.loads(translate("a.po", "--json").out)
    assert (shown["out"], shown["texts"], shown["to_translate"], shown["pivot"]) == (str(tmp_path / "out"), 1, 1, None)


def test_a_dry_run_counts_and_writes_nothing(command, run: Path, tmp_path: Path):
    (tmp_path / "a.po").write_text(EXAMPLES["po"] + '\n#, fuzzy\nmsgid "b"\nmsgstr "B"\n\nmsgid "c"\nmsgstr "C"\n')
    words = ["translate", tmp_path / "a.po", "--model", run, *SHORT, "--dry-run"]
    for more, expected in (([], (3, 1, 2)), (["--only-empty"], (3, 2, 1)), (["--all"], (3, 0, 3))):
        shown = json.loads(command(*words, "--json", *more).out)
        assert (shown["texts"], shown["left"], shown["to_translate"]) == expected
        assert shown["seconds"] >= 0
    text = command(*words, "--out", tmp_path / "out").out
    assert "po" in text
    assert "2, 1 of them marked as unsure" in text
    assert names(tmp_path) == ["a.po"]


def test_a_document_without_a_place_for_its_translation_is_refused(command, run: Path, tmp_path: Path):
    for name, content in EXAMPLES.items():
        if name == "text":
            continue
        ending = next(one.endings[0] for one in opening.FORMATS if one.name == name)
        path = tmp_path / f"file{ending}"
        path.write_text(content)
        command("translate", path, "--model", run).refuses(str(path), "--out FILE")
    assert command("translate", path, "--text", "--model", run).code == 0


def test_lines_of_text_are_translated_as_before(command, run: Path, tmp_path: Path):
    (tmp_path / "a.txt").write_text("1 May 2020\n\n2 June\n")
    there = partial(Translator(run).translate, beam=1, extra_length=0)
    result = command("translate", tmp_path / "a.txt", "--model", run, *SHORT)
    assert result.out == f"{there('1 May 2020')}\n\n{there('2 June')}\n"
    assert command("translate", tmp_path / "a.txt", "--model", run, *SHORT, "--out", tmp_path / "out").code == 0
    assert (tmp_path / "out").read_text() == result.out


def test_a_file_that_exists_is_replaced_only_if_asked(translate, tmp_path: Path):
    (tmp_path / "a.txt").write_text("One\n")
    (tmp_path / "out").write_text("mine")
    translate("a.txt").refuses("exists already", "--overwrite")
    assert (tmp_path / "out").read_text() == "mine"
    assert translate("a.txt", "--overwrite").code == 0
    assert (tmp_path / "out").read_text() != "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--n-best", 2], "--n-best"),
        (["--prefix", "a"], "--prefix"),
        (["--alignments"], "--alignments"),
        (["--text"], "--text"),
        (["--only-empty", "--all"], "--only-empty or with --all"),
        (["--mark-unsure"], "--mark-unsure"),
        (["--format", "doc"], "there is no format 'doc'"),
        (["another.txt"], "one is translated at a time"),
        (["--to", "fr"], "translates only into de"),
    ],
)
def test_options_that_do_not_go_together_are_refused(translate, tmp_path: Path, words: list[object], message: str):
    (tmp_path / "a.txt").write_text("One\n")
    translate("a.txt", *words).refuses(message)
    assert names(tmp_path) == ["a.txt"]


def test_the_place_of_the_translation_is_checked(command, run: Path, tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text("One\n")
    for out, message in ((path, "one of the inputs"), (tmp_path, "is a folder"), (tmp_path / "no" / "out", "no such")):
        command("translate", path, "--model", run, "--out", out).refuses(message)
    for document in ("missing.po", "one text", tmp_path):
        command("translate", document, "--model", run, "--out", tmp_path / "out").refuses("there is no such file")
    command("translate", "--model", run, "--out", tmp_path / "out").refuses("0 documents")
    assert path.read_text() == "One\n"


def test_a_language_in_between_is_said(command, tmp_path: Path):
    run = make_multilingual_run(tmp_path / "run").path
    (tmp_path / "a.txt").write_text("Je suis fatigué et je veux rentrer chez moi.\n")
    result = command("translate", tmp_path / "a.txt", "--to", "de", "--model", run, "--out", tmp_path / "out")
    assert "translated into 'de' by way of 'en'." in result.out


BOMB = "".join(f'<!ENTITY e{n} "&e{n - 1};&e{n - 1};">' for n in range(1, 40))
ROOT = XLIFF.format(encoding="UTF-8").partition("\n")[2]
EXTERNAL = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
SRT = "1\n00:00:05,000 --> 00:00:06,000\nOne\n\n2\n00:00:04,000 --> 00:00:03,000\nTwo\n"
PLURAL = PO.format(encoding="UTF-8").replace("\n\nmsgid", '\n"Plural-Forms: {}\\n"\n\nmsgid') + (
    '\nmsgid "{{n}} one"\nmsgid_plural "{{n}} many"\nmsgstr[0] ""\nmsgstr[1] ""\n'
)
HOSTILE = {
    "an entity bomb": ("a.xlf", f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "x">{BOMB}]>{ROOT}'),
    "an external entity": (
        "a.xlf",
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + ROOT.replace("café", "&e;"),
    ),
    "an external entity in Android": (
        "strings.xml",
        EXTERNAL + '<resources><string name="a">&e;</string></resources>',
    ),
    "an unknown entity": ("a.xlf", ROOT.replace("café", "&nothing;")),
    "broken XML": ("a.xlf", ROOT.replace("</source>", "")),
    "half of a file": ("a.tmx", EXAMPLES["tmx"][:150]),
    "another root": ("a.xlf", "<html></html>"),
    "XML of no known kind": ("a.xml", "<feed></feed>"),
    "deep XML": ("a.tmx", "<tmx>" * 10_000),
    "deep tags": ("strings.xml", f"<resources><string name='a'>{'<b>' * 5000}{'</b>' * 5000}</string></resources>"),
    "no XML": ("a.tmx", "nothing"),
    "an empty file of XML": ("a.xlf", ""),
    "deep JSON": ("a.json", "[" * 10_000 + "]" * 10_000),
    "deep objects": ("a.json", '{"a":' * 10_000 + "1" + "}" * 10_000),
    "broken JSON": ("a.json", '{"a": "b"'),
    "a key twice": ("a.json", '{"a": "b", "a": "c"}'),
    "no JSON": ("a.json", "nothing"),
    "a file in another encoding": ("a.txt", "café\n".encode("latin-1")),
    "a wrong encoding in XML": ("a.xlf", XLIFF.format(encoding="UTF-8").encode("latin-1")),
    "an unknown encoding in XML": ("a.xlf", XLIFF.format(encoding="klingon")),
    "an encoding that is a codec": ("a.xlf", XLIFF.format(encoding="zlib")),
    "a header of PO that lies": ("a.po", PO.format(encoding="UTF-8").encode("latin-1")),
    "a header of PO that lies the other way": ("a.po", PO.format(encoding="ISO-8859-1")),
    "an unknown encoding in PO": ("a.po", PO.format(encoding="unknown-8bit")),
    "an unknown plural form": ("a.po", PLURAL.format("nplurals=2; plural=n>;")),
    "a plural form that is code": ("a.po", PLURAL.format("nplurals=2; plural=__import__('os').abort();")),
    "a plural form that is deep": ("a.po", PLURAL.format(f"nplurals=2; plural={'(' * 9999}n{')' * 9999};")),
    "more plural forms than there are": ("a.po", PLURAL.format("nplurals=9999999999; plural=0;")),
    "an entry of PO twice": ("a.po", EXAMPLES["po"] + '\nmsgid "café"\nmsgstr ""\n'),
    "a string of PO without its end": ("a.po", EXAMPLES["po"] + '\nmsgid "a\nmsgstr ""\n'),
    "no PO": ("a.po", "nothing"),
    "times that run backwards": ("a.srt", SRT),
    "a broken cue": ("a.srt", "1\n00:00:05,000 -> 00:00:06,000\nOne\n"),
    "no WebVTT": ("a.vtt", "1\n00:00:05.000 --> 00:00:06.000\nOne\n"),
    "a CSV with a quote without its end": ("a.csv", 'a,b\n"c,d\n', "--format", "csv:a"),
    "a CSV without the column": ("a.csv", "a,b\nc,d\n", "--format", "csv:e"),
    "a CSV with a short record": ("a.csv", "a,b\nc\n", "--format", "csv:b"),
    "a NUL": ("a.txt", "a\0b"),
    "a long text": ("a.txt", "word " * 1_000_000),
    "a gzip bomb": ("a.txt.gz", gzip.compress(bytes(1 << 27))),
    "a gzip file that is none": ("a.po.gz", "nothing"),
    "an unknown format": ("a.odt", b"PK\x03\x04"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_document_is_refused_in_a_sentence_and_nothing_is_written(translate, tmp_path: Path, case: str):
    name, content, *words = HOSTILE[case]
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    translate(name, *words).refuses(str(path))
    assert names(tmp_path) == [name]


def test_a_line_of_100_megabytes_is_refused(translate, tmp_path: Path):
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(100_000_000)
    translate("a.txt").refuses("and at most")
    assert names(tmp_path) == ["a.txt"]


def test_a_pipe_is_refused_and_not_waited_for(translate, tmp_path: Path):
    os.mkfifo(tmp_path / "a.po")
    translate("a.po").refuses("this is a pipe")
