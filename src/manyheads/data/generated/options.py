"""Checks of a task's options, which come from a user's recipe."""

from __future__ import annotations

from manyheads.errors import ManyheadsError


def option_error(task: str, option: str, what: str, cure: str) -> ManyheadsError:
    """Return the error for a wrong option of a task."""
    return ManyheadsError(what, where=f"task '{task}', option '{option}'", cure=cure)


def check_range(task: str, *, least: tuple[str, object], most: tuple[str, object], low: int, high: int) -> None:
    """Check two options, given as (name, value), that are a minimum and a maximum.

    Both must be whole numbers from `low` to `high`, and the minimum must not be above the maximum.
    """
    smallest = check_whole_number(task, *least, low=low, high=high)
    largest = check_whole_number(task, *most, low=low, high=high)
    if smallest > largest:
        what = f"{smallest} is more than {most[0]}, which is {largest}."
        raise option_error(task, least[0], what, "Swap or change them.")


def check_whole_number(task: str, option: str, value: object, *, low: int, high: int) -> int:
    """Return the value if it is a whole number from `low` to `high`; otherwise raise an error."""
    # In Python, a bool is an int, but `symbols: yes` in a recipe is a mistake.
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise option_error(task, option, f"{value!r} is not valid.", f"Give a whole number from {low} to {high}.")
