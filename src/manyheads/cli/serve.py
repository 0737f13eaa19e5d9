"""`manyheads serve`: an HTTP server with LibreTranslate's API, and the page, for several runs at once."""

from __future__ import annotations

import inspect
from importlib.util import find_spec
from typing import Annotated, Any, get_type_hints

import typer

from manyheads.cli import completion
from manyheads.errors import ManyheadsError
from manyheads.serving.options import PREFIX, ServerOptions, build_options, variable

NEEDED = ("fastapi", "uvicorn", "python_multipart", "prometheus_client")

Runs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN",
        envvar=f"{PREFIX}RUNS",
        help="Run folders; one whose recipe names no languages as en-de=RUN. Default: the model of the package.",
        show_default=False,
        autocompletion=completion.models,
    ),
]

COMPLETED = {"engine": completion.engines, "precision": completion.precisions, "device": completion.devices}


def serve(**given: Any) -> None:  # noqa: ANN401
    """Serve runs over HTTP with LibreTranslate's API, and a page that shows the attention of every head."""
    runs = given.pop("runs") or [None]
    options = build_options(given)
    check_extra()
    from manyheads.serving.server import serve_runs

    serve_runs(runs, options, tell=lambda line: typer.echo(line, err=True))


def check_extra() -> None:
    """Raise an error that names the extra if a package that the server needs is not installed."""
    if absent := [name for name in NEEDED if find_spec(name) is None]:
        raise ManyheadsError(
            f"serving needs {', '.join(absent)}.", cure="Install the extra: pip install 'manyheads[serve]'"
        )


def _parameters() -> list[inspect.Parameter]:
    """Return the command's parameters: the runs, and every option of the server's table."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("runs", keyword, default=None, annotation=Runs)]
    types = get_type_hints(ServerOptions)  # without pydantic's metadata
    for name, field in ServerOptions.model_fields.items():
        option = typer.Option(help=field.description, envvar=variable(name), autocompletion=COMPLETED.get(name))
        kind: Any = Annotated[types[name], option]
        parameters.append(inspect.Parameter(name, keyword, default=field.default, annotation=kind))
    return parameters


# Typer reads a command's options from its signature. It is made from the table, so that options are defined once.
serve.__signature__ = inspect.Signature(_parameters())  # type: ignore[attr-defined]
serve.__annotations__ = {one.name: one.annotation for one in _parameters()}
