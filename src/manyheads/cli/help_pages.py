"""Help pages: plain text in which nothing is cut off or taken for markup, with examples at the end."""

from __future__ import annotations

import inspect
import re
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from manyheads.cli.examples import EXAMPLES

# Typer's contexts and formatters are those of its own Click or of the one installed, depending on its version.
Context = Any
Formatter = Any


class Verb(TyperCommand):
    """A verb whose page explains its arguments and options and shows examples."""

    def format_options(self, ctx: Context, formatter: Formatter) -> None:
        """Write the arguments and the options."""
        records: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                title = "Arguments" if parameter.param_type_name == "argument" else "Options"
                records[title].append((_without_types(record[0], title), record[1]))
        for title, lines in records.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)

    def format_epilog(self, ctx: Context, formatter: Formatter) -> None:
        """Write the examples."""
        _write_examples(self.epilog, formatter)


class Verbs(TyperGroup):
    """A group of verbs whose page has one sentence for each, and examples."""

    def format_commands(self, ctx: Context, formatter: Formatter) -> None:
        """Write each verb with the first sentence of its own page, whole."""
        verbs = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first_sentence(verb.help or "")) for name, verb in verbs if verb])

    def format_epilog(self, ctx: Context, formatter: Formatter) -> None:
        """Write the examples."""
        _write_examples(self.epilog, formatter)


def with_help_pages(app: typer.Typer, name: str) -> typer.Typer:
    """Give the verb `name`, or the group of that name and each verb in it, its help page."""
    app.rich_markup_mode = None  # Rich would truncate long names, and remove text in brackets
    app.info.cls, app.info.epilog = Verbs, EXAMPLES[name]
    for verb in app.registered_commands:
        verb.cls, verb.epilog = Verb, EXAMPLES[name if verb.name == name else f"{name} {verb.name}"]
    return app


def _write_examples(examples: str | None, formatter: Formatter) -> None:
    """Write examples line by line, so that each can be pasted."""
    with formatter.section("Examples"):
        for line in inspect.cleandoc(examples or "").splitlines():
            formatter.write(f"{' ' * formatter.current_indent}{line}\n")


def _without_types(name: str, title: str) -> str:
    """Return an argument's name alone, and an option's with the type of one value, not of a list in Python."""
    return re.sub(r" <.*>$", "", name) if title == "Arguments" else re.sub(r"<list\[(.*)\]>", r"<\1>", name)


def _first_sentence(text: str) -> str:
    """Return the first sentence of a text on one line."""
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]
