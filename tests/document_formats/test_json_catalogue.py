"""JSON catalogues: what is filled in is found by Python's parser, and everything else stays to the last character."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from catalogues import real_texts, translated, unchanged, upper
from hypothesis import given
from hypothesis import strategies as st

from manyheads.bounded.json_text import DEEPEST
from manyheads.documents.interface import Document, Filling, Styled
from manyheads.documents.json_catalogue import read_json_catalogue
from manyheads.errors import ManyheadsError

TEXTS = st.text(st.characters(codec="utf-8"))
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(TEXTS, inner)),
    max_leaves=8,
)


def with_each_text(value: object, change: Callable[[str], str]) -> object:
    """Return a value with every text in it changed, keys excepted."""
    if isinstance(value, dict):
        return {key: with_each_text(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_each_text(inner, change) for inner in value]
    return change(value) if isinstance(value, str) and value.strip() else value


def unchanged_or_own(document: Document) -> set[str]:
    own = document.fill([segment.source for segment in document.segments], Filling())
    return unchanged(document) | {own}


@given(VALUES, st.booleans(), st.sampled_from([None, 2, "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_a_generated_catalogue_stays_and_is_filled(value: object, is_ascii: bool, indent: int | str, newline: str):
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent).replace("\n", newline)
    document = read_json_catalogue(text, language="de")
    assert unchanged_or_own(document) == {text}
    result = document.fill([Styled(f'{segment.source.text}"\\é\n') for segment in document.segments], Filling())
    assert json.loads(result) == with_each_text(value, lambda one: f'{one}"\\é\n')


def test_real_catalogues_stay_and_are_filled():
    for name, text in real_texts("*.json").items():
        document = read_json_catalogue(text, language="de")
        assert unchanged_or_own(document) == {text}, name
        expected = with_each_text(json.loads(text), lambda one: upper(Styled(one)).text)
        assert json.loads(translated(document)) == expected, name


@pytest.mark.parametrize(("there", "written"), [(r"\u00e4", r"\u00f6"), ("ä", "ö"), ("a", "ö"), (r"\n", "ö")])
def test_characters_are_escaped_as_in_the_file(there: str, written: str):
    document = read_json_catalogue(f'{{"a": "{there}x"}}', language=None)
    assert document.fill([Styled("ö")], Filling()) == f'{{"a": "{written}"}}'


def test_a_segment_says_its_path_and_line():
    text = '{"a": {"b": ["x",\n 1, {"c d": "y"}], "": "z"},\n "k": "v"}'
    found = {one.key: (one.source.text, one.line) for one in read_json_catalogue(text, language=None).segments}
    assert found == {"a.b[0]": ("x", 1), "a.b[2].c d": ("y", 2), "a.": ("z", 2), "k": ("v", 3)}


HOSTILE = {
    "nested 10,000 deep": "[" * 10_000 + "]" * 10_000,
    "objects 10,000 deep": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "nested too deep for people": "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1),
    "a key twice": '{"a": 1,\n"b": 2, "\\u0061": 3}',
    "no end": '{"a": "b"',
    "nothing": "",
    "single quotes": "{'a': 'b'}",
    "a comma too much": '{"a": "b",}',
    "a line break in a string": '"a\nb"',
    "half of a character": '{"a": "\\ud83d"}',
    "two values": "{} {}",
    "a number of any length": "9" * 10_000,
    "one line of 8 MB": '"' + "\\" * (1 << 23),
    "not JSON": "hello",
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_catalogue_is_refused_in_one_sentence(name: str):
    with pytest.raises(ManyheadsError) as refused:
        read_json_catalogue(HOSTILE[name], language=None)
    assert re.fullmatch(r"(line \d+: )?[^\n]{10,250}\.", str(refused.value))


def test_paths_do_not_multiply_a_long_key():
    value = {"k" * 100_000: {str(number): ["a", "b"] for number in range(1000)}}
    keys = [one.key for one in read_json_catalogue(json.dumps(value), language=None).segments]
    assert len(set(keys)) == 2000 and sum(map(len, keys)) < 1_000_000


def test_as_deep_as_people_nest_is_read():
    text = "[" * DEEPEST + '"a"' + "]" * DEEPEST
    assert read_json_catalogue(text, language=None).segments[0].key == "[0]" * DEEPEST
