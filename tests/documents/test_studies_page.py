"""The page on studies has what the recorded studies concluded, and every study has its place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from manyheads.studies.catalogue import all_studies
from manyheads.studies.conclusion import Table

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
RECORDS = sorted((ROOT / "benchmarks" / "results" / "studies").glob("*.json"))
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))


def record(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def section(study: str) -> str:
    return SECTIONS[study.replace("-", " ").capitalize()]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_the_page_has_what_was_concluded(path: Path):
    found = record(path)
    text = section(found["study"])
    for table in found["conclusion"]["tables"]:
        assert Table(**table).markdown() in text
    for sentence in found["conclusion"]["sentences"]:
        assert sentence in text
    assert f"$ {found['command']}\n" in text
    assert path.stem == found["study"] + ("-quick" if found["quick"] else "")


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_quick_run_is_called_one(path: Path):
    found = record(path)
    (row,) = (line for line in PAGE.splitlines() if f"| [`{found['study']}`](#{found['study']}) |" in line)
    assert ("quick" in row) == found["quick"]
    assert ("a quick run" in section(found["study"])) == found["quick"]


def test_every_study_has_one_record_a_section_and_a_picture():
    assert sorted(record(path)["study"] for path in RECORDS) == sorted(study.name for study in all_studies())
    for study in all_studies():
        (picture,) = re.findall(r"!\[.*?\]\((.*?)\)", section(study.name))
        assert (ROOT / "docs" / picture).exists()


def test_every_link_leads_somewhere():
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", PAGE):
        path, _, anchor = target.partition("#")
        if path:
            assert (ROOT / "docs" / path).exists() or (ROOT / "docs" / f"{path}.py").exists(), target
        else:
            assert anchor in {title.lower().replace(" ", "-") for title in SECTIONS}, target
