"""Options that several verbs share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli import completion
from manyheads.errors import ManyheadsError

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key of the recipe; may be repeated.",
        autocompletion=completion.recipe_keys,
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        help="A run folder, or a name that 'manyheads models' lists; by default the first.",
        autocompletion=completion.models,
    ),
]
Run = Annotated[Path, typer.Argument(help="The run folder.", show_default=False, autocompletion=completion.models)]
Device = Annotated[
    str, typer.Option(help="Where to compute: auto, cpu, cuda or mps.", autocompletion=completion.devices)
]
Beam = Annotated[int | None, typer.Option(help="Hypotheses kept at each step; 1 is greedy. Default: the run's own.")]
LengthPenalty = Annotated[
    str | None,
    typer.Option(
        metavar="[FORM:]α",
        help="α of the length penalty, by default the run's own. Forms: paper, ((5 + |y|) / 6)^α, the default; "
        "power, |y|^α, as in other toolkits.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        help="The engine: auto, torch or ctranslate2. auto chooses ctranslate2 if possible.",
        autocompletion=completion.engines,
    ),
]
Precision = Annotated[
    str,
    typer.Option(
        help="float32; int8: smaller, faster, nearly the same text; int16 (ctranslate2 only).",
        autocompletion=completion.precisions,
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        help="Language to translate into, such as en, if the model has several. Default: chosen by the language of the "
        "text.",
        autocompletion=completion.languages,
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from", help="Language of the texts, such as en, if the model has several. Default: it is detected."
    ),
]
BatchSentences = Annotated[
    int | None, typer.Option("--batch", help="Sentences translated at once; by default the engine chooses.")
]
PairsFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of --pairs: auto (by its name and beginning), tsv, csv, jsonl, scan or memories (TMX, XLIFF, PO).",
    ),
]
SourceColumn = Annotated[
    str | None, typer.Option(help="Column (number from 0, or name) or key of the source in --pairs.")
]
TargetColumn = Annotated[
    str | None, typer.Option(help="Column (number from 0, or name) or key of the target in --pairs.")
]
SourceFile = Annotated[Path, typer.Option("--source", help="Source text, one sentence per line (also .gz).")]
TargetFile = Annotated[Path, typer.Option("--target", help="Target text, line by line parallel to the source.")]


def length_penalty_options(text: str | None) -> dict[str, float | str | None]:
    """Return the translation options for the value of --length-penalty: α, a form, or both."""
    form, colon, number = (text or "").rpartition(":")
    if not colon and number in ("paper", "power"):
        form, number = number, ""
    try:
        alpha = float(number) if number else None
    except ValueError:
        alpha = math.nan
    if form not in ("", "paper", "power") or (alpha is not None and not math.isfinite(alpha)):
        raise ManyheadsError(
            f"'{text}' is not a length penalty.",
            where="--length-penalty",
            cure="Write 0.6, paper, paper:0.6 or power:1.",
        )
    return {"length_penalty": alpha, "penalty_form": form or None}
