"""Slices of a corpus: random pairs of it, the same each time, and every slice has all pairs of the smaller ones."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

from manyheads.data.text.records import Pair
from manyheads.runs.atomic import write_file


def slice_of(pairs: Sequence[Pair], count: int, *, seed: int = 1) -> list[Pair]:
    """Return a number of random pairs."""
    order = list(range(len(pairs)))
    random.Random(seed).shuffle(order)
    return [pairs[number] for number in order[:count]]


def write_pairs(pairs: Iterable[Pair], file: Path) -> dict[str, str]:
    """Write pairs as JSONL, which keeps any text, and return the keys of a recipe's corpus for them."""
    lines = (json.dumps(pair._asdict(), ensure_ascii=False) for pair in pairs)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, "".join(f"{line}\n" for line in lines))
    return {"pairs": str(file), **COLUMNS}


COLUMNS = {"format": "jsonl", "source_column": "source", "target_column": "target"}
"""How the files are read."""
