"""The translator in the box: what it says, what is said about it, and the wheel that carries it."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.runs.shipped import Shipped, shipped_models

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 1_000_000
DIRECTIONS = {f"{one}-en" for one in ("de", "fr", "zh")} | {f"en-{one}" for one in ("de", "fr", "zh")}


@pytest.fixture(scope="module")
def box() -> Translator:
    """The model that is taken where none is named."""
    return Translator()


@pytest.fixture(scope="module")
def about() -> Shipped:
    """What the package says about it."""
    return shipped_models()[0]


def test_it_translates_from_three_languages(box: Translator):
    assert box.translate("我爱中国。") == "I love China."
    assert box.translate("Je suis étudiant.") in ("I am a student.", "I'm a student.")
    animal = box.translate("Das Tier überquerte die Straße nicht, weil es zu müde war.")
    assert "animal" in animal and ("street" in animal or "road" in animal) and "tired" in animal
    tired = box.translate("Ich bin müde, weil ich zu viel gearbeitet habe.")
    assert "tired" in tired and "because" in tired and "worked" in tired


def test_a_paragraph_loses_no_sentence(box: Translator):
    sentences = ["Ich war müde.", "Ich ging nach Hause.", "Meine Frau schlief schon.", "Der Hund auch."]
    assert box.translate(" ".join(sentences), to="en") == " ".join(box.translate(sentences, to="en"))
    assert box.translate("The cat sat. It purred.", to="zh") == "".join(
        box.translate(["The cat sat.", "It purred."], to="zh")
    )


def test_traditional_characters_are_read_as_simplified_ones(box: Translator):
    assert box.translate("你愛學習漢語嗎？") == box.translate("你爱学习汉语吗？")


def test_it_writes_wide_punctuation_in_chinese_and_in_chinese_only(box: Translator):
    assert box.translate("Where is the station?", to="zh").endswith("？")
    assert box.translate("Where is the station?", to="de").endswith("?")


def test_an_unknown_language_gets_the_list_of_known_ones(box: Translator):
    with pytest.raises(ManyheadsError, match="into de, fr, zh, en"):
        box.translate("Hello.", to="tlh")


def test_its_card_tells_every_direction_and_what_storing_it_in_8_bits_costs(about: Shipped):
    assert set(about.scores) == set(about.signatures) == DIRECTIONS
    assert about.size <= 20 * MEGABYTE
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (about.check() / "card.md").read_text(encoding="utf-8").splitlines()
        if "version:" in line
    ]
    assert {row[0] for row in rows} == DIRECTIONS
    for direction, as_shipped, as_trained, _ in rows:
        assert float(as_shipped) == about.scores[direction]
        assert float(as_trained) - float(as_shipped) <= 0.3


def test_the_wheel_carries_it(box: Translator, tmp_path: Path):
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size <= 25 * MEGABYTE
    # An environment of its own, that sees the libraries of this one but not the source tree.
    venv.create(tmp_path / "fresh")
    python = tmp_path / "fresh" / "bin" / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *install], check=True)
    (site,) = (tmp_path / "fresh").glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def printed(*words: str) -> str:
        """Run the environment's Python away from the source tree; return what it prints."""
        done = subprocess.run([python, *words], cwd=tmp_path, env=outside, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert printed("-c", "import manyheads; print(manyheads.__file__)") == str(site / "manyheads" / "__init__.py")
    french = "Je suis étudiant."
    assert printed("-m", "manyheads", "translate", french) == box.translate(french)
