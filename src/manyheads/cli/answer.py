"""`manyheads answer`: the words of a context that answer a question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli import completion
from manyheads.cli.options import AsJson, Device
from manyheads.cli.texts import AsText, PairTexts, pairs_of, sources_of


def answer(
    text: PairTexts = None,
    as_text: AsText = False,
    model: Annotated[
        Path, typer.Option(help="A run with task: question_answering.", autocompletion=completion.models)
    ] = ...,  # type: ignore[assignment]
    batch: Annotated[int, typer.Option(min=1, help="Questions computed at once.")] = 32,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Print the answer to each question, one per line, in order."""
    import json
    from dataclasses import asdict

    from manyheads.encoding.encoder import Encoder

    sources = sources_of(text, as_text=as_text)
    encoder = Encoder.from_folder(model, device=device)
    for result in encoder.answer(pairs_of(sources), batch=batch):
        typer.echo(json.dumps(asdict(result), ensure_ascii=False) if as_json else result.text)
