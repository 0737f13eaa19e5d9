"""A column of a CSV: Python's reader finds what was filled in, and all other fields stay to the last character."""

from __future__ import annotations

import csv
import io
import re

import pytest
from catalogues import unchanged
from hypothesis import given
from hypothesis import strategies as st

from manyheads.documents.csv_column import read_csv_column
from manyheads.documents.interface import Filling, Styled
from manyheads.errors import ManyheadsError

FIELDS = st.sampled_from(
    ["", " ", "text", 'say "hi"', "a,b;c\td", "two\nlines", "cr\rlf\r\n", "日本 é", " spaced ", "0"]
)
ROWS = st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1)


def written(rows: list[tuple[str, ...]], delimiter: str, newline: str, quoting: int) -> str:
    """Return rows as a CSV."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=newline, quoting=quoting).writerows(rows)
    return out.getvalue()


def read(text: str, delimiter: str) -> list[list[str]]:
    """Return the rows of a CSV, as Python reads them."""
    return [*csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)]


@given(
    ROWS,
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from([None, "note"]),
)
def test_a_generated_file_stays_and_is_filled(
    rows: list[tuple[str, str, str]], delimiter: str, newline: str, quoting: int, into: str | None
):
    text = written([("id", "text", "note"), *rows], delimiter, newline, quoting)
    document = read_csv_column(text, language="de", column="text", into=into)
    own = [one.target if into else one.source for one in document.segments]
    assert unchanged(document) | {document.fill(own, Filling())} == {text}
    new = [f'{one.source.text}!"{delimiter}\n' for one in document.segments]
    result = read(document.fill([Styled(one) for one in new], Filling()), delimiter)
    remaining, target = iter(new), 2 if into else 1
    expected = [["id", "text", "note"], *map(list, rows)]
    for row in expected[1:]:
        if row[1].strip():
            row[target] = next(remaining)
    assert result == expected
    assert not [*remaining]


def test_bare_fields_stay_bare():
    text = 'id,en,de\n"1",Hello,\n2,"Bye","Tschüss"\n\n,,\n3,"",x\n'
    document = read_csv_column(text, language="de", column="en", into="de")
    assert [(one.line, one.target) for one in document.segments] == [(2, None), (3, Styled("Tschüss"))]
    result = document.fill([Styled("Hallo"), Styled("Ade")], Filling())
    assert result == 'id,en,de\n"1",Hello,Hallo\n2,"Bye","Ade"\n\n,,\n3,"",x\n'


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_found(delimiter: str):
    text = f'\ufeff"a,;\t,;\t"{delimiter}b\n1{delimiter}x\n'
    assert [one.source.text for one in read_csv_column(text, language=None, column="b").segments] == ["x"]


def test_a_column_by_number_has_no_header():
    assert len(read_csv_column("a,b\nc,d", language=None, column="0").segments) == 2


def test_a_file_of_nothing_has_no_segments():
    for text in ("", "\n\n", "\ufeff"):
        assert unchanged(read_csv_column(text, language=None, column="a")) == {text}


HOSTILE = {
    "no end of the quotes": 'a,b\n"x,y\n' + "z\n" * 1000,
    "text behind quotes": 'a,b\n"x"y,z\n',
    "too few fields": "a,b\nx\n",
    "no such column": "a,c\nx,y\n",
    "quotes of 8 MB": 'a,b\n"' + '""' * (1 << 22),
    "one line of 8 MB": "b\n" + '"' + "x" * (1 << 23),
    "commas of 8 MB": "b" + "," * (1 << 23),
    "many long names": ",".join("x" * 1000 for _ in range(1000)),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_file_is_refused_in_one_sentence(name: str):
    with pytest.raises(ManyheadsError) as refused:
        read_csv_column(HOSTILE[name], language=None, column="b")
    assert re.fullmatch(r"line \d+: [^\n]{10,2000}[.?]", str(refused.value))
