"""`manyheads study`: a question about models, answered by measurements."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyheads.cli.options import AsJson
from manyheads.errors import ManyheadsError

if TYPE_CHECKING:
    from manyheads.studies.study import Study


def study(
    name: Annotated[str | None, typer.Argument(help="The study, one that --list shows.", show_default=False)] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Measure a small grid, in minutes.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for records, runs, tables and pictures. Default: studies/NAME, or studies/NAME-quick."
        ),
    ] = None,
    parallel: Annotated[
        int, typer.Option(min=1, help="Processes that measure at the same time, each with one thread.")
    ] = 1,
    list_all: Annotated[bool, typer.Option("--list", help="List all studies with the time that they take.")] = False,
    as_json: AsJson = False,
) -> None:
    """Answer a question about models by measurements.

    A study that was stopped goes on where it was, if it is started again with the same folder.
    """
    from manyheads.studies.bench import run_study
    from manyheads.studies.catalogue import all_studies, study_named

    if list_all:
        _print_list(all_studies(), as_json=as_json)
        return
    if name is None:
        raise ManyheadsError("no study is named.", cure="Choose one of those that 'manyheads study --list' shows.")
    result = run_study(study_named(name), quick=quick, out=out, parallel=parallel, tell=_tell)
    if as_json:
        _print_json(result.to_json())
    else:
        typer.echo(str(result), nl=False)


def _tell(line: str) -> None:
    """Show a line of progress, on a terminal only."""
    if sys.stderr.isatty():
        typer.echo(line, err=True)


def _print_list(studies: list[Study[Any]], *, as_json: bool) -> None:
    """Print the studies with their questions and times."""
    from manyheads.training.progress import duration

    if as_json:
        _print_json(
            [{key: getattr(one, key) for key in ("name", "question", "seconds", "quick_seconds")} for one in studies]
        )
        return
    for one in studies:
        typer.echo(f"{one.name}: {one.question}")
        typer.echo(f"  about {duration(one.seconds)} on one core; with --quick, {duration(one.quick_seconds)}")


def _print_json(value: object) -> None:
    """Print a value as JSON."""
    import json

    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
