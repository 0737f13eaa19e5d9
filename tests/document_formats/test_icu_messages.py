"""The texts of a plural form are found, and a text that only looks like one is left whole."""

import pytest

from manyheads.documents.messages import MOST_NESTED, message_arguments, message_spans


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("You have {n, plural, one {# file} other {# files}}.", ["You have ", "# file", "# files", "."]),
        ("{who, select, m {He has {n, plural, =0 {none} other {#}}} other {They}}", ["He has ", "none", "#", "They"]),
        ("{n,plural,offset:1 one{a '{'b'}'} other{c}}", ["a '{'b'}'", "c"]),
        ("{n, selectordinal, few {#rd} other {#th}}", ["#rd", "#th"]),
    ],
)
def test_the_texts_of_a_message_are_what_is_not_its_skeleton(text, texts):
    assert [text[start:stop] for start, stop in message_spans(text)] == texts


DEEP = MOST_NESTED + 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{name} has {0}",
        "{n, plural, one {# file",
        "{n, plural} x",
        "{n, date, short}",
        "{n, plural, one {x}",
        "{n, plural, other {" * DEEP + "x" + "}}" * DEEP,
    ],
)
def test_anything_else_is_one_text(text):
    assert message_spans(text) == [(0, len(text))]


def test_arguments_are_named():
    assert message_arguments("{n, plural, one {a} other {b}} {who,select, other {c}}") == [
        "{n, plural}",
        "{who, select}",
    ]
