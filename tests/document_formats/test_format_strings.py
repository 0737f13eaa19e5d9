"""What passes for a text of a format passes msgfmt -c, which also refuses the faults that are named."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from manyheads.documents.checks import amended, problems
from manyheads.documents.format_strings import NO_RULES, Rules, directives, formats_of
from manyheads.documents.po import PoDocument, read_po

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Plural-Forms: {plurals};\\n"\n'
GERMAN = "nplurals=2; plural=n != 1"
RUSSIAN = "nplurals=3; plural=n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"
SOURCES = {
    "c-format": ["%d of %s", "%2$s has %1$d", "50%% of %s", "%dpx", "100%% sure", "%-5.2lf%% x", "A% sure %s", "word"],
    "python-format": ["%(a)s of %(b)d", "%s: %d", "50%% of %(a)s", "%r"],
    "python-brace-format": ["{a} of {b}", "{} and {}", "{0.x} {1[2]} {{x}}", "x"],
    "java-format": ["{0} of {1,number}", "don''t {0}", "it's '{'0'}'", "x"],
    "csharp-format": ["{0} of {1:N2}", "x"],
    "perl-brace-format": ["{name} x {other}"],
    "qt-format": ["%1 of %L2", "%n files"],
    "kde-format": ["%1 of %2"],
    "boost-format": ["%1% of %2%", "%s x"],
    "php-format": ["%1$s of %2$d", "%s%%"],
    "lisp-format": ["~a of ~d", "x"],
    "sh-format": ["$name of ${other}"],
    "javascript-format": ["%s of %d"],
}
NOISE = ["Wort", "50%", "%", "l'", "10% in", "%d", "%s", "{", "}", "{0}", "%1", "~", "''", "%%", "$x", "\n", "% v"]


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def refused_by_msgfmt(text: str, folder: Path) -> list[int]:
    """Return the lines of a catalogue that msgfmt refuses."""
    if shutil.which("msgfmt") is None:
        pytest.skip("needs msgfmt: install gettext.")
    path = folder / "catalogue.po"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(["msgfmt", "-c", "-o", "/dev/null", path], capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if ": warning:" not in line]
    return [int(found[1]) for line in lines if (found := re.match(r".*?\.po:(\d+):", line))]


def translations(source: str, form: str, count: int, chance: random.Random) -> list[str]:
    """Return what models may write for a text: its parts in another order, without some, with noise."""
    parts = [one[0] for one in directives(source, form)]
    results = [source]
    for _ in range(count):
        some = [one for one in parts if chance.random() < 0.9] + chance.choices(NOISE, k=chance.randint(0, 2))
        if chance.random() < 0.5:
            chance.shuffle(some)
        results.append(" ".join(some))
    return results


def entries(document: PoDocument, chance: random.Random) -> str:
    """Return the entries of a catalogue with what passes for each of its texts, and nothing for the others."""
    written = []
    for number, unit in enumerate(document.units):
        form = unit.segments[0].rules.formats[0]
        choices = [translations(one.source.text, form, 25, chance) for one in unit.segments]
        for turn, some in enumerate(zip(*choices, strict=True)):
            texts = [amended(one.source.text, text, one.rules) for one, text in zip(unit.segments, some, strict=True)]
            if any(problems(*pair, one.rules) for one, *pair in _pairs(unit.segments, texts)):
                continue
            strings = {name: string.text for name, string in unit.entry.strings.items() if name.startswith("msgid")}
            names = ["msgstr"] if len(texts) == 1 and not unit.entry.is_plural else None
            strings |= zip(names or [f"msgstr[{form}]" for form in range(len(texts))], texts, strict=True)
            lines = [
                f'#, {form}\nmsgctxt "{unit.entry.is_plural}, {number}, {turn}"',
                *(f"{name} {quoted(text)}" for name, text in strings.items()),
            ]
            written.append("\n".join(lines) + "\n")
    return "\n".join(written)


def _pairs(segments, texts):
    return ((one, one.source.text, text) for one, text in zip(segments, texts, strict=True))


@pytest.mark.parametrize("plurals", [GERMAN, RUSSIAN])
def test_what_passes_passes_msgfmt(plurals: str, tmp_path: Path):
    header = HEADER.format(plurals=plurals)
    singles = [
        f'#, {form}\nmsgctxt "{form}"\nmsgid {quoted(source)}\nmsgstr ""\n'
        for form, sources in SOURCES.items()
        for source in [*sources, f"{sources[0]}\n"]
    ]
    several = [
        f'#, {form}\nmsgctxt "{form}"\nmsgid {quoted(singular)}\nmsgid_plural {quoted(sources[0])}\nmsgstr[0] ""\n'
        for form, sources in SOURCES.items()
        for singular in ("One x", f"one {sources[0]}")
    ]
    chance = random.Random(1)
    text = header + "".join(
        "\n" + entries(read_po(f"{header}\n" + "\n".join(some), language=None), chance) for some in (singles, several)
    )
    assert text.count("msgid_plural") > 100 and text.count("msgctxt") > 500
    assert refused_by_msgfmt(text, tmp_path) == []


FAULTS = [
    ("c-format", "%dpx", "px"),
    ("c-format", "%d x", "%s x"),
    ("c-format", "50%% of %s", "50% von %s"),
    ("c-format", "A% sure %s", "nichts"),
    ("python-format", "%(a)s", "%(b)s"),
    ("python-brace-format", "{a} and {b}", "{a}"),
    ("java-format", "user {0}", "l'utilisateur {0}"),
    ("qt-format", "%1 of %2", "%1"),
    ("lisp-format", "~a", "a"),
]


@pytest.mark.parametrize(("form", "source", "translation"), FAULTS)
def test_faults_are_named_and_refused_by_msgfmt(form: str, source: str, translation: str, tmp_path: Path):
    assert problems(source, translation, Rules((form,)))
    text = f"{HEADER.format(plurals=GERMAN)}\n#, {form}\nmsgid {quoted(source)}\nmsgstr {quoted(translation)}\n"
    assert refused_by_msgfmt(text, tmp_path)


@pytest.mark.parametrize(
    ("form", "source", "translation", "expected"),
    [
        ("c-format", "50%% of %s", "50% von %s", "50%% von %s"),
        ("c-format", "50%% of %s", "50 % von %s", "50 %% von %s"),
        ("c-format", "50%% of %s", "50%% von %s", "50%% von %s"),
        ("c-format", "x %s", "100%ig %s", "100%%ig %s"),
        ("c-format", "100% %s", "100% v %s", "100% v %s"),
        ("java-format", "user {0}", "l'utilisateur {0}", "l''utilisateur {0}"),
        ("java-format", "it's '{'0'}'", "c'est", "c'est"),
    ],
)
def test_what_is_text_is_escaped(form: str, source: str, translation: str, expected: str):
    assert amended(source, translation, Rules((form,))) == expected
    assert amended(source, translation) == translation


def test_line_breaks_at_both_ends_are_those_of_the_source():
    rules = Rules(keeps_line_breaks=True)
    assert amended("\nOne\n", "Eins", rules) == "\nEins\n"
    assert amended("One", "\n\nEins\nzwei\n", rules) == "Eins\nzwei"
    assert amended("One\n", "", rules) == ""
    assert problems("One\n", "Eins", rules) == ["only one of the two ends with a line break"]
    assert problems("One\n", "Eins") == []


def test_a_translation_is_not_empty():
    assert problems("One", " ") == ["it is empty"]
    assert problems(" ", "") == []


@pytest.mark.parametrize("form", sorted({*SOURCES} - {"qt-format", "lisp-format"}))
def test_a_rare_form_may_lack_what_a_frequent_one_has(form: str):
    (source, *_) = SOURCES[form]
    fewer = source[: directives(source, form)[-1].start()]
    assert problems(fewer, fewer, Rules((form,), plural=source, is_rare=True)) == []
    assert problems(fewer, fewer, Rules((form,), plural=source))


def test_some_formats_let_a_rare_form_lack_little():
    for form, plural, fits in (
        ("kde-format", "%1 x", True),
        ("kde-format", "%1 of %2", False),
        ("qt-format", "%1 x", False),
        ("qt-plural-format", "%n x", False),
        ("lisp-format", "~a", False),
        ("c-format", "%d of %s", True),
    ):
        assert bool(problems("One", "Eins", Rules((form,), plural=plural, is_rare=True))) != fits


def test_the_formats_are_those_that_a_flag_says():
    flags = ["fuzzy", "c-format", "no-python-format", "possible-sh-format", "no-wrap"]
    assert formats_of(flags) == ("c-format",)
    assert NO_RULES.formats == ()
