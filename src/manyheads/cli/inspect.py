"""`manyheads inspect`: figures, pages and numbers of the internals of a run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyheads.cli import completion
from manyheads.cli.options import AsJson, Beam, Device, Model, To
from manyheads.cli.outputs import Overwrite, output_file
from manyheads.cli.texts import AsText, existing, lines_of, sources_of
from manyheads.errors import ManyheadsError
from manyheads.runs.shipped import find_run, shipped_models

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from manyheads.inspection.inspector import Inspector
    from manyheads.inspection.kinds import Kind
    from manyheads.inspection.views import AttentionView
    from manyheads.runs.folder import RunFolder


class What(StrEnum):
    """The views."""

    attention = "attention"
    alignment = "alignment"
    steps = "steps"
    beam = "beam"
    positions = "positions"
    masks = "masks"
    schedule = "schedule"
    smoothing = "smoothing"
    curves = "curves"


class KindName(StrEnum):
    """The three uses of attention."""

    encoder = "encoder"
    decoder = "decoder"
    cross = "cross"


class LevelName(StrEnum):
    """What an alignment counts."""

    word = "word"
    token = "token"


OF_A_RUN = (What.positions, What.masks, What.schedule, What.smoothing, What.curves)
PICTURE = (".png", ".svg")
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
}


@dataclass(frozen=True)
class Asked:
    """The parsed command line; `form` is the suffix of the output file."""

    run: Path | None
    texts: list[str]
    form: str
    kind: KindName | None
    layer: int | None
    head: int | None
    heads: str | None
    level: LevelName
    beam: int | None
    to: str | None
    sentence: int | None
    against: list[Path]
    device: str

    def inspector(self) -> Inspector:
        """Open the run as an `Inspector`."""
        from manyheads.inspection.inspector import Inspector

        return Inspector(self.run, self.device)

    def folder(self) -> RunFolder:
        """Open the run."""
        from manyheads.runs.folder import RunFolder

        return RunFolder.open(self.run)

    def text(self) -> str:
        """Return the one text."""
        if len(self.texts) == 1:
            return self.texts[0]
        several = self.run is None and self.texts  # of which the first may have been meant as the run
        cure = f"There is no run folder '{self.texts[0]}'; --model names the run." if several else None
        raise ManyheadsError(f"one text can be shown at a time, not {len(self.texts)}.", where="TEXT", cure=cure)

    def number(self, inspector: Inspector) -> int:
        """Return the number of the requested sentence; if the text has several and none was given, print a note."""
        if self.sentence is None and len(inspector.sentences(self.text(), to=self.to)) > 1:
            typer.echo("This is the first sentence of the text; --sentence 2 shows the second.", err=True)
        return 1 if self.sentence is None else self.sentence

    def numbers(self, inspector: Inspector) -> list[list[int]]:
        """Return the requested sentences of each text; for a text without sentences 1, which raises an error later."""
        if self.sentence is not None:
            return [[self.sentence] for _ in self.texts]
        return [list(range(1, 1 + max(1, len(inspector.sentences(text, to=self.to))))) for text in self.texts]


Content = Any
"""A figure, text, or anything that JSON can hold."""


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
            help="attention, alignment, steps or beam of a text; schedule, smoothing and curves of a run's training; "
            "positions; masks.",
        ),
    ] = What.attention,
    kind: Annotated[
        KindName | None, typer.Option(help="Kind of attention. Default: cross, or the only kind that the model has.")
    ] = None,
    layer: Annotated[int | None, typer.Option(help="One layer, counted from 1. Default: all.")] = None,
    head: Annotated[int | None, typer.Option(help="One head of that layer, counted from 1. Default: all.")] = None,
    heads: Annotated[
        str | None,
        typer.Option(help="Heads whose mean aligns, such as 2:1,2:4 (layer:head). Default: all of the last layer."),
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

    Alignments are printed in Pharaoh format if no file is given.
    """
    form = _form(show, out, as_json)
    output_file(out, overwrite=overwrite)
    run, arguments = _run_and_texts(model, text or [])
    texts = list(lines_of(sources_of(arguments, as_text=as_text))) if arguments else []
    if show in OF_A_RUN and run is None and texts:
        raise ManyheadsError("there is no such run folder.", where=texts[0], cure=f"{show} is of a run, not of texts.")
    asked = Asked(run, texts, form, kind, layer, head, heads, level, beam, to, sentence, against or [], device)
    _write(_MAKERS[show](asked), out, form)


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


def _attention(asked: Asked) -> Content:
    """Make one head, all heads of a layer, or all layers; or the page; or the numbers."""
    inspector = asked.inspector()
    text, number = asked.text(), asked.number(inspector)
    kind: Kind = asked.kind.value if asked.kind else inspector.main_kind
    if asked.head is not None and asked.layer is None:
        raise ManyheadsError("a head belongs to a layer.", where="--head", cure="Add --layer.")
    if asked.layer is not None and asked.form != ".html":
        view = inspector.attention(text, kind=kind, layer=asked.layer, sentence=number, beam=asked.beam, to=asked.to)
        return view.to_json() if asked.form == ".json" else _layer_picture(asked, view)
    seen = inspector.everything(text, sentence=number, beam=asked.beam, to=asked.to)
    if asked.form == ".html":
        from manyheads.inspection.html_page import html_page

        return html_page(seen)
    if asked.form == ".json":
        return seen.to_json()
    from manyheads.inspection.figures.attention import layers_figure

    return layers_figure(seen, kind)


def _layer_picture(asked: Asked, view: AttentionView) -> Figure:
    """Make a picture of one layer, or of one of its heads."""
    from manyheads.inspection.figures.attention import head_figure, layer_figure

    return layer_figure(view) if asked.head is None else head_figure(view, asked.head)


def _alignment(asked: Asked) -> Content:
    """Make the alignments of texts: a matrix each, numbers, or lines in Pharaoh format."""
    from manyheads.inspection.alignment import align, pharaoh, read_heads

    if not asked.texts:
        raise ManyheadsError("there is no text to align.", where="TEXT")
    heads = read_heads(asked.heads) if asked.heads is not None else None
    inspector = asked.inspector()
    aligned = [
        [align(inspector.everything(text, sentence=number, beam=asked.beam, to=asked.to), heads) for number in numbers]
        for text, numbers in zip(asked.texts, asked.numbers(inspector), strict=True)
    ]
    if asked.form == ".txt":
        return "".join(f"{pharaoh(sentences, asked.level.value)}\n" for sentences in aligned)
    each = [one for sentences in aligned for one in sentences]
    if asked.form == ".json":
        return [one.to_json() for one in each]
    from manyheads.inspection.figures.alignment import alignment_figure

    return alignment_figure(each, level=asked.level.value)


def _steps(asked: Asked) -> Content:
    """Make the steps of greedy decoding: a picture, a page or numbers."""
    from manyheads.inspection.steps import Step

    inspector = asked.inspector()
    steps = list(inspector.steps(asked.text(), sentence=asked.number(inspector), to=asked.to))
    if asked.form == ".json":
        return [step.to_json() for step in steps]
    if asked.form == ".html":
        from manyheads.inspection.fragments import steps_fragment
        from manyheads.inspection.html_page import static_page

        return static_page(f"Step by step: {asked.text()}", steps_fragment(steps))
    from manyheads.inspection.figures.steps import steps_figure

    return steps_figure([step for step in steps if isinstance(step, Step)])


def _beam(asked: Asked) -> Content:
    """Make the tree of a beam search: a picture, a page or numbers."""
    inspector = asked.inspector()
    tree = inspector.beam(asked.text(), beam=asked.beam, sentence=asked.number(inspector), to=asked.to)
    if asked.form == ".json":
        return tree.to_json()
    if asked.form == ".html":
        from manyheads.inspection.fragments import beam_fragment
        from manyheads.inspection.html_page import static_page

        return static_page(f"The beam: {asked.text()}", beam_fragment(tree))
    from manyheads.inspection.figures.beam import beam_figure

    return beam_figure(tree)


def _positions(asked: Asked) -> Content:
    """Make the positional encodings: the run's own, or the paper's 50 × 128."""
    from manyheads.inspection.positions import position_table, run_position_table

    table = position_table() if asked.run is None else run_position_table(asked.folder())
    if asked.form == ".json":
        return table.to_json()
    from manyheads.inspection.figures.positions import positions_figure

    return positions_figure(table)


def _masks(_: Asked) -> Figure:
    """Make the masks."""
    from manyheads.inspection.figures.masks import masks_figure

    return masks_figure()


def _schedule(asked: Asked) -> Figure:
    """Make the learning rate of a run."""
    from manyheads.inspection.figures.schedule import schedule_figure

    run = asked.folder()
    return schedule_figure(run.recipe().training, width=run.config().model.width)


def _smoothing(asked: Asked) -> Figure:
    """Make the target of a run's label smoothing."""
    from manyheads.inspection.figures.smoothing import smoothing_figure

    return smoothing_figure(smoothing=asked.folder().recipe().training.label_smoothing)


def _curves(asked: Asked) -> Figure:
    """Make the training curves of a run, and of the runs to compare it with."""
    from manyheads.inspection.figures.curves import curves_figure
    from manyheads.runs.folder import RunFolder

    return curves_figure([asked.folder(), *(RunFolder.open(other) for other in asked.against)])


_MAKERS: dict[What, Callable[[Asked], Content]] = {
    What.attention: _attention,
    What.alignment: _alignment,
    What.steps: _steps,
    What.beam: _beam,
    What.positions: _positions,
    What.masks: _masks,
    What.schedule: _schedule,
    What.smoothing: _smoothing,
    What.curves: _curves,
}
