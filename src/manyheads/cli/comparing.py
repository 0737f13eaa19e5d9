"""What the verbs that exchange models say about them."""

from __future__ import annotations

from pathlib import Path

import typer


def compare_aloud(run: Path, folder: Path) -> None:
    """Compare a run with a Hugging Face folder, and say what came of it."""
    from manyheads.exchange.comparison import compare

    difference = compare(run, folder)
    if difference is None:
        said = "Not compared with Hugging Face: transformers is not installed."
    else:
        said = f"Compared with Hugging Face: logits differ by at most {difference:.2g}."
    typer.echo(said, err=True)
