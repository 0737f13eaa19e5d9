"""Which columns of a record are the pair: by number, from 0, or by the name that the header gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError, did_you_mean


class PairColumns(NamedTuple):
    """The numbers of the columns that hold the source and the target, and of those that select records."""

    source: int
    target: int
    keep: Mapping[int, Sequence[str]]

    @classmethod
    def find(
        cls,
        source: int | str,
        target: int | str,
        keep: Mapping[int | str, Sequence[str]],
        *,
        header: Sequence[str] | None,
        where: str,
    ) -> Self:
        """Return the columns, of which names are looked up in the header."""

        def number(column: int | str) -> int:
            """Return the number of one column."""
            if isinstance(column, int) or column.isdecimal():
                return int(column)
            names = [name.strip() for name in header or ()]
            if column in names:
                return names.index(column)
            raise ManyheadsError(f"there is no column '{column}'.", where=where, cure=did_you_mean(column, names))

        return cls(number(source), number(target), {number(column): values for column, values in keep.items()})

    def pair(self, record: Sequence[str], *, where: str, between: str) -> Pair | None:
        """Return the pair of a record, None if it is not to be kept; too few columns are an error.

        `between` names what separates columns, for the message.
        """
        try:
            if not all(record[column] in values for column, values in self.keep.items()):
                return None
            return Pair(record[self.source], record[self.target])
        except IndexError:
            numbers = [self.source, self.target, *self.keep]
            needed = f"columns {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
            raise ManyheadsError(
                f"this line has {len(record)} {between} columns, {needed} (from 0) are needed.",
                where=where,
                cure="Set source_column and target_column (and keep), or mend the line.",
            ) from None


def needs_header(*columns: int | str) -> bool:
    """Whether a column is given by name, so that the first record must be a header."""
    return any(isinstance(column, str) and not column.isdecimal() for column in columns)
