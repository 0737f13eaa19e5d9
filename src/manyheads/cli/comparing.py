"""The message of `export` and `import` about the comparison with Hugging Face."""

from __future__ import annotations

from pathlib import Path

import typer


def report_comparison(run: Path, folder: Path) -> None:
    """Compare a run with a Hugging Face folder, and print the result."""
    from manyheads.exchange.comparison import compare

    difference = compare(run, folder)
    if difference is None:
        message = "Not compared with Hugging Face: transformers is not installed."
    else:
        message = f"Compared with Hugging Face: logits differ by at most {difference:.2g}."
    typer.echo(message, err=True)
