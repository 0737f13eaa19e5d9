"""`manyheads score`: the log-probability of given targets."""

from __future__ import annotations

from typing import Annotated

import typer

from manyheads.cli.options import AsJson, Device, Engine, Run, SourceFile, TargetFile, To


def score(
    run: Run,
    source: SourceFile,
    target: TargetFile,
    to: To = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Also print the log-probability of each token (with --json).")
    ] = False,
    engine: Engine = "auto",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Print log P(target | source) of each pair, one per line."""
    import json

    from manyheads.config.corpora import CorpusSettings
    from manyheads.data.text.corpora import open_corpus
    from manyheads.decoding.translator import Translator

    pairs = list(open_corpus(CorpusSettings(source=str(source), target=str(target)), split="test").pairs())
    translator = Translator(run, engine=engine, device=device)
    scored = translator.score([pair.source for pair in pairs], [pair.target for pair in pairs], to=to)
    for likely in scored:
        total = sum(likely)
        if as_json:
            values = {"log_probability": total, "tokens": likely if tokens else len(likely)}
            typer.echo(json.dumps(values))
        else:
            typer.echo(f"{total:.6f}")
