"""The table of verbs."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, cast

import typer
from typer.core import TyperCommand, TyperGroup

from manyheads import __version__
from manyheads.cli.examples import EXAMPLES
from manyheads.cli.help_pages import Verbs, with_help_pages

Command = TyperCommand | TyperGroup

VERBS = (
    "train",
    "translate",
    "generate",
    "evaluate",
    "score",
    "inspect",
    "encode",
    "classify",
    "answer",
    "serve",
    "export",
    "import",
    "models",
    "shortlist",
    "describe",
    "validate",
    "recipe",
    "data",
    "study",
    "plan",
)


class AllVerbs(Verbs):
    """Imports the file of a verb only when it is used, so that no verb waits for the imports of another."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return every verb, for the help page."""
        return list(VERBS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Command | None:  # type: ignore[override]
        """Return a verb; for an unknown name all verbs are loaded, so that the most similar one can be suggested."""
        for verb in (cmd_name,) if cmd_name in VERBS else VERBS:
            if verb not in self.commands:
                self.commands[verb] = _load(verb)
        return cast("Command | None", self.commands.get(cmd_name))


def _load(verb: str) -> Command:
    """Return the command, or the group of commands, that a verb's file holds."""
    name = "import_" if verb == "import" else verb  # `import` is a keyword of Python
    module = import_module(f"manyheads.cli.{name}")
    if isinstance(several := getattr(module, "app", None), typer.Typer):
        return typer.main.get_group(with_help_pages(several, verb))
    single = typer.Typer(add_completion=False)
    single.command(verb)(getattr(module, name))
    return cast("Command", typer.main.get_command(with_help_pages(single, verb)))


app = typer.Typer(
    name="manyheads",
    cls=AllVerbs,
    help="Train, evaluate and translate with Transformers, and look inside them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog=EXAMPLES[""],
    add_completion=True,
)


def _print_version(asked: bool) -> None:
    """Print the version and exit."""
    if asked:
        typer.echo(f"manyheads {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Train, evaluate and translate with Transformers, and look inside them."""
