"""What `manyheads inspect` shows: each view as a figure, a page, numbers or text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from manyheads.errors import ManyheadsError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from manyheads.config.alignment import Step
    from manyheads.inspection.earlier_text import EarlierTextView
    from manyheads.inspection.halting import HaltingView
    from manyheads.inspection.inspector import Inspector
    from manyheads.inspection.kinds import Kind
    from manyheads.inspection.remembering import MemoryView
    from manyheads.inspection.views import AttentionView
    from manyheads.runs.folder import RunFolder


PICTURE = (".png", ".svg")


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
    memory = "memory"
    halting = "halting"
    curves = "curves"


class KindName(StrEnum):
    """The three uses of attention."""

    encoder = "encoder"
    decoder = "decoder"
    cross = "cross"


class StepName(StrEnum):
    """The step whose attention aligns a token: the one that reads it, or the one that writes it."""

    input = "input"
    output = "output"


class LevelName(StrEnum):
    """What an alignment counts."""

    word = "word"
    token = "token"


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
    step: StepName | None
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

    def story(self) -> str:
        """Return all texts as the lines of one story."""
        return "\n".join(self.texts)

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


def _attention(asked: Asked) -> Content:
    """Make one head, all heads of a layer, or all layers; or the page; or the numbers."""
    inspector = asked.inspector()
    text, number = (asked.story(), 1) if inspector.remembers else (asked.text(), asked.number(inspector))
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
    step: Step | None = asked.step.value if asked.step else None
    aligned = [
        [
            align(inspector.everything(text, sentence=number, beam=asked.beam, to=asked.to), heads, step=step)
            for number in numbers
        ]
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


def _memory(asked: Asked) -> Content:
    """Make what is read of a memory, of facts or of earlier text: a picture, a page, numbers or text."""
    from manyheads.inspection.remembering import MemoryView

    view = asked.inspector().memory(asked.story())
    if asked.form not in PICTURE:
        return _written(view, asked.form)
    if isinstance(view, MemoryView):
        from manyheads.inspection.figures.memory import memory_figure

        return memory_figure(view)
    from manyheads.inspection.figures.earlier_text import earlier_text_figure

    return earlier_text_figure(view)


def _halting(asked: Asked) -> Content:
    """Make the steps that each token takes: a picture, a page, numbers or text."""
    inspector = asked.inspector()
    view = inspector.halting(asked.text(), beam=asked.beam, sentence=asked.number(inspector), to=asked.to)
    if asked.form not in PICTURE:
        return _written(view, asked.form)
    from manyheads.inspection.figures.halting import halting_figure

    return halting_figure(view)


def _written(view: MemoryView | EarlierTextView | HaltingView, form: str) -> Content:
    """Return a view as a page, numbers or text."""
    if form == ".json":
        return view.to_json()
    if form == ".txt":
        return str(view)
    from manyheads.inspection.html_page import static_page

    return static_page(view.title, view._repr_html_())


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


MAKERS: dict[What, Callable[[Asked], Content]] = {
    What.attention: _attention,
    What.alignment: _alignment,
    What.steps: _steps,
    What.beam: _beam,
    What.positions: _positions,
    What.masks: _masks,
    What.schedule: _schedule,
    What.smoothing: _smoothing,
    What.curves: _curves,
    What.memory: _memory,
    What.halting: _halting,
}
