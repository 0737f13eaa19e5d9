"""The texts of a plural form are found and made whole sentences; a text that only looks like one is left as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.documents.checks import problems
from manyheads.documents.message_sentences import MOST_SENTENCES, with_sentences
from manyheads.documents.messages import MOST_NESTED, message_arguments, message_spans, parse_message, written


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
    assert with_sentences(text, "pl") == text


def test_arguments_are_named():
    assert message_arguments("{n, plural, one {a} other {b}} {who,select, other {c}}") == [
        "{n, plural}",
        "{who, select}",
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "You have {n, plural, one {# file} other {# files}} left.",
            "{n, plural, one {You have # file left.} other {You have # files left.}}",
        ),
        (
            "{who, select, m {He} other {They}} sent {n, plural, =0 {nothing} other {# files}}",
            "{who, select, m {{n, plural, =0 {He sent nothing} other {He sent # files}}} "
            "other {{n, plural, =0 {They sent nothing} other {They sent # files}}}}",
        ),
        (" Hi!\n{n,plural,one{a}other{b}} left \nBye ", " Hi!\n{n,plural,one{a left}other{b left}} \nBye "),
        ("{g, select, f {a {n, plural, other {#}}} other {b}}", "{g, select, f {{n, plural, other {a #}}} other {b}}"),
    ],
)
def test_forms_get_the_whole_sentence(message, expected):
    assert with_sentences(message, None) == expected
    assert with_sentences(expected, None) == expected


@pytest.mark.parametrize(
    "message",
    [
        "{n, plural, one {# file} other {# files}}",
        "{n, plural, one {# file} other {# files}}.",
        "#1: {n, plural, one {a file} other {files}} left",  # the # would become the number
        "{a, plural, one {# x} other {# y}} and {b, plural, one {# z} other {# w}}",
        "and".join(["{a, plural, one {x} other {y}}"] * 5),
    ],
)
def test_what_has_them_already_or_would_change_its_meaning_stays(message):
    assert MOST_SENTENCES < 2**5
    assert with_sentences(message, "en") == message


def test_missing_plural_forms_of_a_language_begin_as_the_form_other():
    message = "{n, plural, one {a file} other {# files}} {w, select, other {x}}"
    found = with_sentences("{n, plural, one {a file} other {# files}}", "pl")
    assert found == "{n, plural, one {a file} few {# files} many {# files} other {# files}}"
    assert with_sentences("{n,selectordinal,one{#st}other{#th}}", "pl") == "{n,selectordinal,one{#st}other{#th}}"
    assert with_sentences("{n, plural, one {a} few {b} many {c} other {d}} x", "pl").count("few") == 1
    assert with_sentences(message, None).count("few") == 0


TEXTS = st.sampled_from(["", "a", " b ", "#", "{name}", "one\ntwo", "'{'", "c."])
FORMS = st.recursive(
    TEXTS,
    lambda inner: st.builds(
        lambda before, kind, one, other, behind: (
            f"{before}{{n, {kind}, {'one' if kind == 'plural' else 'm'} {{{one}}} other {{{other}}}}}{behind}"
        ),
        TEXTS,
        st.sampled_from(["plural", "select"]),
        inner,
        inner,
        TEXTS,
    ),
    max_leaves=6,
)


@LAW
@given(st.lists(FORMS, max_size=3).map("".join), st.sampled_from(["en", "pl", "zh", None]))
def test_a_message_stays_a_message_with_the_same_arguments_and_placeholders(message, language):
    assert written(parse_message(message)) == message
    found = with_sentences(message, language)
    assert (parse_message(found) == [found]) == (parse_message(message) == [message])
    assert not message.strip() or problems(message, found) == []


def test_a_translation_whose_braces_do_not_match_is_a_fault():
    message = "{n, plural, one {a} other {b}}"
    assert problems(message, "{n, plural, one {a} other {b}") == ["its braces do not match"]
    assert problems("{n, plural, one {{x}} other {b}}", message) == ["{x} is missing"]
