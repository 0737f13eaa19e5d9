"""Options that several verbs have, written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the recipe; may be repeated."),
]
Device = Annotated[str, typer.Option(help="Where to compute: auto, cpu, cuda or mps.")]
Beam = Annotated[int | None, typer.Option(help="Hypotheses kept at each step; 1 is greedy. Default: the run's own.")]
LengthPenalty = Annotated[float | None, typer.Option(help="α of the paper's length penalty. Default: the run's own.")]
Engine = Annotated[
    str,
    typer.Option(help="What computes: auto, torch or ctranslate2. auto takes ctranslate2 wherever it can."),
]
Precision = Annotated[
    str, typer.Option(help="float32, or int8: smaller and faster, nearly the same text (ctranslate2 only).")
]
BatchSentences = Annotated[int, typer.Option("--batch", help="Sentences translated at once.")]
SourceFile = Annotated[Path, typer.Option("--source", help="Source text, one sentence per line (also .gz).")]
TargetFile = Annotated[Path, typer.Option("--target", help="Target text, line by line parallel to the source.")]
