"""Settings of memory and depth that cannot be: a sentence each."""

from typing import Any

import pytest

from manyheads.config.reading import build_recipe
from manyheads.errors import ManyheadsError

TEXT = {"task": "language_model", "data": {"train": "text.txt"}}
PAIRS = {"task": "translation", "data": {"train": {"task": "copy"}, "valid": {"task": "copy"}}}
REFUSED = {
    "a rate that does not divide the memory": (
        {**TEXT, "model": {"kind": "compressive", "memory": 10}},
        r"memory 10 is not divisible by the compression rate 4",
    ),
    "an unknown compression": (
        {**TEXT, "model": {"kind": "compressive", "compression": "median"}},
        r"'model\.compression' = 'median': input should be 'mean', 'max', ",
    ),
    "a ponder cost below zero": (
        {**PAIRS, "model": {"kind": "universal", "halting": {"cost": -0.1}}},
        r"'model\.halting\.cost' = -0\.1: input should be greater than or equal to 0",
    ),
    "a vocabulary of bytes": (
        {**TEXT, "tokenizer": {"kind": "bytes", "vocabulary": 300}},
        r"tokenizer\.vocabulary is not for bytes",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(name: str):
    values, said = REFUSED[name]
    recipe: dict[str, Any] = {"name": "x", **values}
    with pytest.raises(ManyheadsError, match=said) as refusal:
        build_recipe(recipe)
    assert "\n" not in str(refusal.value)
