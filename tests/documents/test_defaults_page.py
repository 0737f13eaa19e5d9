"""The page about chosen recipes has the numbers that the code has."""

from pathlib import Path

from manyheads.training.defaults import SIZES
from manyheads.training.fitting import DROPOUTS, MOST_EPOCHS, SCALES, TOKENS_PER_WEIGHT
from manyheads.training.planning import DECAY, UPDATES

PAGE = (Path(__file__).parents[2] / "docs" / "defaults.md").read_text(encoding="utf-8")


def row(*cells: object) -> str:
    """Return cells as a row of a table in Markdown."""
    return "| " + " | ".join(map(str, cells)) + " |"


def test_the_choices_by_size_are_those_of_the_code():
    for size in SIZES:
        pairs = "more" if size.pairs == float("inf") else f"{size.pairs:,}"
        rate = f"{size.rate:g}"
        assert row(pairs, f"{size.vocabulary:,}", f"{size.batch_tokens:,}", rate, f"{size.minutes:g}") in PAGE


def test_the_scales_are_those_of_the_code():
    for scale in SCALES:
        assert row(*(f"{size:,}" for size in scale)) in PAGE


def test_the_rules_by_time_are_those_of_the_code():
    assert f"at least {TOKENS_PER_WEIGHT:g} target tokens for each weight" in PAGE
    assert f"{UPDATES:.0%}".replace("%", " % of what is left") in PAGE
    assert f"at most {MOST_EPOCHS} epochs" in PAGE
    assert DECAY == 0.5, "the page says half"
    for dropout in DROPOUTS[:-1]:
        assert f"{dropout.probability:g} up to {dropout.epochs:g} epochs" in PAGE
    assert f"{DROPOUTS[-1].probability:g} above" in PAGE
