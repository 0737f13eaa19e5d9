"""What would break a program is named; what only differs is not."""

import shutil
import subprocess

import pytest

from manyheads.documents.checks import problems

FAULTS = [
    ("Copied %d of %s", "%s kopiert", ["%d is missing"]),
    ("%s", "%s %s", ["%s is too much"]),
    ("%s has %d", "%d hat %s", ["%d stands where %s belongs"]),
]


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        *FAULTS,
        ("{a}", "{b}", ["{a} is missing", "{b} is too much"]),
        ("<b>x</b>", "</b>x<b>", ["</b> has no counterpart", "<b> has no counterpart"]),
        ("<b>x</b>", "x", ["b is missing"]),
        ("{n, plural, one {He} other {They}}", "Sie", ["{n, plural} is missing"]),
    ],
)
def test_faults_are_named(source, translation, expected):
    assert problems(source, translation) == expected


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("%1$s has %2$d", "%2$d hat %1$s"),
        ("%(a)s of %(b)s", "%(b)s: %(a)s"),
        ("{0} of {1}", "{1}: {0}"),
        ("50%% of %s", "50%% von %s"),
        ("a<br><img src='x'>b", "a<br><img src='y'>b"),
        ("See https://example.org/en", "Siehe https://example.org/de"),
        ("{n, plural, one {He} other {They}}", "{n, plural, one {Er} few {Sie} other {Sie}}"),
        ("x</b>", "y</b>"),
    ],
)
def test_what_only_differs_is_no_fault(source, translation):
    assert problems(source, translation) == []


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="needs msgfmt (apt-get install gettext)")
@pytest.mark.parametrize(
    ("source", "translation"), [*(fault[:2] for fault in FAULTS), ("%s of %d", "%s von %d"), ("%1$s", "%1$s")]
)
def test_msgfmt_agrees(source, translation, tmp_path):
    file = tmp_path / "a.po"
    file.write_text(f'#, c-format\nmsgid "{source}"\nmsgstr "{translation}"\n', encoding="utf-8")
    refused = (
        subprocess.run(["msgfmt", "--check-format", "-o", "/dev/null", str(file)], capture_output=True).returncode != 0
    )
    assert refused == bool(problems(source, translation))
