"""The public names of the package."""

import subprocess
import sys

import pytest

import manyheads

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
