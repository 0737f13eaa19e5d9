"""`manyheads classify`: the label of each text or pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli import completion
from manyheads.cli.options import AsJson, Device
from manyheads.cli.texts import AsText, Texts, lines_of, pairs_of, sources_of


def classify(
    text: Texts = None,
    as_text: AsText = False,
    model: Annotated[
        Path, typer.Option(help="A run with task: classification.", autocompletion=completion.models)
    ] = ...,  # type: ignore[assignment]
    pairs: Annotated[bool, typer.Option("--pairs", help="Each line holds two texts with a tab between them.")] = False,
    batch: Annotated[int, typer.Option(min=1, help="Texts computed at once.")] = 32,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Print the label of each text, one per line, in order."""
    import json
    from dataclasses import asdict

    from manyheads.encoding.encoder import Encoder

    sources = sources_of(text, as_text=as_text)
    encoder = Encoder.from_folder(model, device=device)
    texts = pairs_of(sources) if pairs else lines_of(sources)
    for label in encoder.classify(texts, batch=batch):
        typer.echo(json.dumps(asdict(label), ensure_ascii=False) if as_json else label.name)
