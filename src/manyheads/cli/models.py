"""`manyheads models`: the models that come with the package."""

from __future__ import annotations

import typer

from manyheads.cli.options import AsJson


def models(as_json: AsJson = False) -> None:
    """List the models that come with the package: languages, size, scores, data and licence."""
    from manyheads.runs.shipped import shipped_models

    found = shipped_models()
    if as_json:
        import json
        from dataclasses import asdict

        values = [{**asdict(model), "path": str(model.path), "bytes": model.size} for model in found]
        typer.echo(json.dumps(values, ensure_ascii=False, indent=2))
        return
    if not found:
        typer.echo("No model comes with this package yet: train one, or import one.", err=True)
    for model in found:
        languages = ", ".join(model.languages)
        typer.echo(f"{model.name}: {model.description}")
        typer.echo(f"  languages    {languages}")
        typer.echo(f"  size         {model.parameters:,} parameters, {model.size / 1e6:.1f} MB")
        typer.echo(f"  BLEU         {', '.join(f'{pair} {score:.1f}' for pair, score in model.scores.items())}")
        typer.echo(f"  data         {model.data}")
        typer.echo(f"  licence      {model.licence}")
        typer.echo(f"  attribution  {model.attribution}")
        typer.echo(f"  card         {model.path / 'card.md'}")
