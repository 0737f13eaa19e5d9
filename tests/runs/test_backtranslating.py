"""tools/backtranslate.py: sentences that a language lacks become sources to learn from, but never held-out ones."""

import gzip
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from manyheads.decoding.translator import Translator

ROOT = Path(__file__).resolve().parents[2]
STUDENT, CHINA, DOG = "I'm a student.", "I love China.", "I have a dog."


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The tool, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("backtranslate", ROOT / "tools" / "backtranslate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_cut(folder: Path, **parts: list[tuple[str, str]]) -> Path:
    """Write pairs as `manyheads data cut` does; the name of a part is train_de for train.en-de.tsv.gz."""
    folder.mkdir()
    for name, pairs in parts.items():
        part, language = name.split("_")
        lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
        (folder / f"{part}.en-{language}.tsv.gz").write_bytes(gzip.compress(lines.encode("utf-8")))
    return folder


def read_back(file: Path) -> list[tuple[str, ...]]:
    """Return the pairs of a file of the tool."""
    return [tuple(line.split("\t")) for line in gzip.decompress(file.read_bytes()).decode("utf-8").splitlines()]


def test_what_a_language_lacks_is_translated_into_it_unless_it_is_held_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: ModuleType
):
    translator = Translator(engine="ctranslate2", precision="int8")
    student, china = translator.translate([STUDENT, CHINA], to="de", beam=tool.BEAM)
    cut = write_cut(
        tmp_path / "cut",
        train_de=[(DOG, "Ich habe einen Hund.")],
        train_zh=[(STUDENT, "我是学生。"), (CHINA, "我爱中国。")],
        valid_zh=[("Good night.", "晚安。")],
        test_de=[("Me, I study.", student.upper().rstrip("."))],
    )
    out = tmp_path / "back"
    monkeypatch.setattr(sys, "argv", ["backtranslate.py", str(cut), "--least", "-9", "--out", str(out)])
    tool.main()
    assert read_back(out / "back.de-en.tsv.gz") == [(china, CHINA)]
    ((into_chinese, source),) = read_back(out / "back.zh-en.tsv.gz")
    assert source == DOG and into_chinese == translator.translate(DOG, to="zh", beam=tool.BEAM)


def test_a_translation_that_lost_its_meaning_is_left_out(tool: ModuleType):
    translator = Translator(engine="ctranslate2")
    good, poor = tool.Pair("Ich habe einen Hund.", DOG), tool.Pair("Der Zug kommt.", DOG)
    probable, not_so = (
        sum(each) / len(each) for each in translator.score([good.source, poor.source], [DOG, DOG], to="en")
    )
    between = (probable + not_so) / 2
    assert tool.faithful(translator, [poor, good], tool.Languages("de", "en"), between) == [good]
