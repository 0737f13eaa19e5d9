"""The public names of the package."""

import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import manyheads

UNPINNED = {"setuptools", "pip", "triton"}  # tools, and what depends on the machine
LAZY = """
import sys, manyheads
names = dir(manyheads)
assert {"Transformer", "Translator", "Inspector", "Encoder", "train", "evaluate", "__version__"} <= set(names), names
assert "torch" not in sys.modules
"""


def test_every_public_name_is_listed_and_there():
    assert set(manyheads.__all__) <= set(dir(manyheads))
    for name in manyheads.__all__:
        assert getattr(manyheads, name) is not None


def test_listing_the_names_loads_none_of_them():
    subprocess.run([sys.executable, "-c", LAZY], check=True)


def test_an_earlier_name_works_and_warns():
    with pytest.warns(DeprecationWarning, match=r"manyheads\.Encoder"):
        assert manyheads.Bert is manyheads.Encoder


def test_every_dependency_has_its_tested_version():
    root = Path(__file__).resolve().parents[1]
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    tested = {canonicalize_name(Requirement(line).name) for line in lines if line and not line.startswith("#")}
    named = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [named["dependencies"], *named["optional-dependencies"].values()]
    needed = {canonicalize_name(Requirement(one).name) for group in groups for one in group} - {"manyheads"}
    waiting = list(needed)
    while waiting:  # what these need, as far as it is installed here
        try:
            further = [Requirement(one) for one in requires(waiting.pop()) or ()]
        except PackageNotFoundError:
            continue
        always = [one for one in further if one.marker is None or one.marker.evaluate({"extra": ""})]
        fresh = {canonicalize_name(one.name) for one in always}
        waiting += fresh - needed
        needed |= fresh
    assert needed - tested <= UNPINNED


UNUSED = """
import sys, manyheads.cli
sys.argv = ["manyheads", "translate", "--to", "en", "Je suis étudiant."]
manyheads.cli.main()
unused = {"torch", "xml.parsers.expat", "manyheads.documents.po", "manyheads.decoding.protector"} & set(sys.modules)
assert not unused, unused
"""


def test_translating_a_text_loads_nothing_that_it_does_not_need():
    subprocess.run([sys.executable, "-c", UNUSED], check=True)
