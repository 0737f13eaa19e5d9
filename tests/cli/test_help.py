"""Help pages, as a terminal of 80 columns shows them."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from commands import verbs
from manyheads.cli.app import app
from manyheads.serving.options import ServerOptions, variable

Command = Callable[..., Any]
COLUMNS = 80


VERBS = [pytest.param(*one, id=" ".join(one[0]) or "manyheads") for one in verbs()]


@pytest.fixture
def page(command: Command, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`page("data", "get")` returns the help page of a verb."""
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("TERMINAL_WIDTH", str(COLUMNS))

    def render(*words: str) -> str:
        result = command(*words, "--help")
        result.succeeds()
        return str(result.out)

    return render


def width(line: str) -> int:
    """Return the columns that a line takes on a terminal."""
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in line)


def squeezed(text: str) -> str:
    """Return a text without white space, and without the hyphens at which a page may break a line."""
    return re.sub(r"[\s-]", "", text)


@pytest.mark.parametrize(("words", "verb"), VERBS)
def test_nothing_is_cut_off(page: Callable[..., str], words: tuple[str, ...], verb: Any):
    shown = page(*words)
    assert [line for line in shown.splitlines() if width(line) > COLUMNS] == []
    assert "…" not in shown
    for internal in ("<class", "Annotated", "FieldInfo", "typing.", "list["):
        assert internal not in shown
    for parameter in verb.params:
        for name in (one for one in parameter.opts if one.startswith("-")):
            assert re.search(rf"^  (--\S+ / )?{re.escape(name)}( |$)", shown, re.MULTILINE), name
        assert squeezed(parameter.help) in squeezed(shown)  # in brackets or not
    assert squeezed(verb.help) in squeezed(shown)


@pytest.mark.parametrize(("words", "verb"), VERBS)
def test_there_are_examples_that_the_verbs_understand(page: Callable[..., str], words: tuple[str, ...], verb: Any):
    _, _, shown = page(*words).partition("\nExamples:\n")
    lines = [line.strip() for line in shown.replace("\\\n", " ").splitlines() if line.strip()]
    assert any(line.split()[1 : len(words) + 1] == list(words) for line in lines)
    for line in lines:
        _, _, given = line.partition("manyheads ")
        arguments = shlex.split(given.partition(" > ")[0])
        found: Any = typer.main.get_command(app)
        while isinstance(found, TyperGroup):
            found = found.get_command(typer.Context(found), arguments.pop(0))
            assert found is not None, line
        found.make_context("manyheads", arguments)  # refuses options that it does not know, and missing ones


def test_the_page_of_the_server_has_every_environment_variable(page: Callable[..., str]):
    shown = page("serve").split()
    assert {variable(name) for name in ServerOptions.model_fields} <= {word.strip("[];") for word in shown}


def test_the_first_page_has_a_whole_sentence_of_every_verb(page: Callable[..., str]):
    shown = page()
    assert "..." not in shown.partition("Commands:")[2]
    assert page("data").partition("Commands:")[2].count("completion") == 0


def test_texts_in_brackets_survive(page: Callable[..., str]):
    assert "an .npy file holds [texts, tokens, width], with zeros" in " ".join(page("encode").split())
