"""Checks of the options of a task, which come from a user's recipe and so may be anything."""

from __future__ import annotations

from manyheads.errors import ManyheadsError


def option_error(task: str, option: str, what: str, cure: str) -> ManyheadsError:
    """Return the error for an impossible option of a task."""
    return ManyheadsError(what, where=f"task '{task}', option '{option}'", cure=cure)


def check_range(task: str, *, least: tuple[str, object], most: tuple[str, object], low: int, high: int) -> None:
    """Check two options, given as (name, value), that name the least and the most of something.

    Both must be whole numbers from `low` to `high`, and in their order.
    """
    smallest = check_whole_number(task, *least, low=low, high=high)
    largest = check_whole_number(task, *most, low=low, high=high)
    if smallest > largest:
        what = f"{smallest} is more than {most[0]}, which is {largest}."
        raise option_error(task, least[0], what, "Exchange or change them.")


def check_whole_number(task: str, option: str, value: object, *, low: int, high: int) -> int:
    """Return the value where it is a whole number from `low` to `high`; else raise its error."""
    # bool is an int to Python, but `symbols: yes` in a recipe is a mistake.
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise option_error(task, option, f"{value!r} will not do.", f"Give a whole number from {low} to {high}.")
