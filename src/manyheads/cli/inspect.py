"""`manyheads inspect`: figures, pages and numbers of the internals of a run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli import completion
from manyheads.cli.inspect_views import MAKERS, PICTURE, Asked, Content, KindName, LevelName, StepName, What
from manyheads.cli.options import AsJson, Beam, Device, Model, To
from manyheads.cli.outputs import Overwrite, output_file
from manyheads.cli.texts import AsText, existing, lines_of, sources_of
from manyheads.errors import ManyheadsError
from manyheads.runs.shipped import find_run, shipped_models

OF_A_RUN = (What.positions, What.masks, What.schedule, What.smoothing, What.curves)
FORMATS: dict[What, tuple[str, ...]] = {
    What.attention: (*PICTURE, ".html", ".json"),
    What.alignment: (*PICTURE, ".json", ".txt"),
    What.steps: (*PICTURE, ".html", ".json"),
    What.beam: (*PICTURE, ".html", ".json"),
    What.positions: (*PICTURE, ".json"),
    What.masks: PICTURE,
    What.schedule: PICTURE,
    What.smoothing: PICTURE,
    What.curves: PICTURE,
    What.memory: (*PICTURE, ".html", ".json", ".txt"),
    What.halting: (*PICTURE, ".html", ".json", ".txt"),
}


RunOrTexts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN|TEXT|FILE|-",
        help="What the model reads: texts, or files with one text per line (also .gz); -: standard input. The "
        "first may be the run folder instead, or the name of a model that comes with the package.",
        show_default=False,
        autocompletion=completion.models,
    ),
]


def inspect(
    text: RunOrTexts = None,
    as_text: AsText = False,
    model: Model = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write: a name that ends in .png, .svg, .html, .json or .txt.")
    ] = None,
    overwrite: Overwrite = False,
    show: Annotated[
        What,
        typer.Option(
            metavar="VIEW",
            help="attention, alignment, steps, beam or halting of a text; memory of a story or a text; schedule, "
            "smoothing and curves of a run's training; positions; masks.",
        ),
    ] = What.attention,
    kind: Annotated[
        KindName | None, typer.Option(help="Kind of attention. Default: cross, or the only kind that the model has.")
    ] = None,
    layer: Annotated[int | None, typer.Option(help="One layer, counted from 1. Default: all.")] = None,
    head: Annotated[int | None, typer.Option(help="One head of that layer, counted from 1. Default: all.")] = None,
    heads: Annotated[
        str | None,
        typer.Option(help="Heads whose mean aligns, such as 1:1,1:4 (layer:head). Default: decoding.alignment."),
    ] = None,
    step: Annotated[
        StepName | None,
        typer.Option(help="Align each token at the step that reads it (input) or the one that writes it (output)."),
    ] = None,
    level: Annotated[LevelName, typer.Option(help="Align words or tokens.")] = LevelName.token,
    beam: Beam = None,
    to: To = None,
    sentence: Annotated[
        int | None, typer.Option(help="Which sentence of a text, counted from 1. Default: the first; alignments: all.")
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN", help="Another run, to add its curves; may be repeated.", autocompletion=completion.models
        ),
    ] = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Look inside a run: a picture (.png, .svg), a page that works offline (.html), or numbers (.json).

    Alignments are printed in Pharaoh format if no file is given, and memories and halting as tables.
    """
    form = _form(show, out, as_json)
    output_file(out, overwrite=overwrite)
    run, arguments = _run_and_texts(model, text or [])
    texts = list(lines_of(sources_of(arguments, as_text=as_text))) if arguments else []
    if show in OF_A_RUN and run is None and texts:
        raise ManyheadsError("there is no such run folder.", where=texts[0], cure=f"{show} is of a run, not of texts.")
    asked = Asked(run, texts, form, kind, layer, head, heads, step, level, beam, to, sentence, against or [], device)
    _write(MAKERS[show](asked), out, form)


def _run_and_texts(model: Path | None, arguments: list[str]) -> tuple[Path | None, list[str]]:
    """Separate the run from the texts: it is the value of --model, or else a first argument that is a run."""
    if model is None and arguments and _is_run(arguments[0]):
        return find_run(arguments[0]), arguments[1:]
    return model, arguments


def _is_run(argument: str) -> bool:
    """Whether an argument is a folder, or the name of a model that comes with the package."""
    place = Path(argument) if argument == "." and Path("config.json").exists() else existing(argument)
    return place.is_dir() if place else argument in [model.name for model in shipped_models()]


def _form(show: What, out: Path | None, as_json: bool) -> str:
    """Return the suffix of the output; raise an error if the view cannot be written in that format."""
    possible = FORMATS[show]
    if out is None:
        form = ".json" if as_json else ".txt"
        if form not in possible:
            instead = " or --json" if ".json" in possible else ""
            raise ManyheadsError(f"{show} needs a file: name one with --out{instead}.", cure=f"{_list(possible)}.")
        return form
    if out.suffix.lower() not in possible:
        raise ManyheadsError(f"{show} is written as {_list(possible)}.", where=str(out))
    return out.suffix.lower()


def _list(endings: tuple[str, ...]) -> str:
    """Return suffixes as a readable list."""
    return " or ".join([", ".join(endings[:-1]), endings[-1]]) if len(endings) > 1 else endings[0]


def _write(content: Content, out: Path | None, form: str) -> None:
    """Write the result to its file, or print it."""
    if form in PICTURE:
        from manyheads.inspection.figures.canvas import save

        assert out is not None
        save(content, out)
        return
    text = json.dumps(content, ensure_ascii=False) + "\n" if form == ".json" else str(content)
    if out is None:
        sys.stdout.write(text)
        return
    from manyheads.runs.atomic import write_file

    write_file(out, text)
