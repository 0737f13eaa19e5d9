"""`manyheads generate`: a text continued by a language model, token by token."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli import completion
from manyheads.cli.options import Device


def generate(
    prompt: Annotated[str, typer.Argument(help="The beginning of the text.", show_default="none")] = "",
    model: Annotated[
        Path, typer.Option(help="A run with task: language_model.", autocompletion=completion.models)
    ] = ...,  # type: ignore[assignment]
    tokens: Annotated[int, typer.Option(min=1, help="Number of tokens to write.")] = 200,
    temperature: Annotated[
        float, typer.Option(min=0.0, help="Below 1 sharpens the distribution; 0 takes the most probable token.")
    ] = 1.0,
    top_k: Annotated[int, typer.Option(min=0, help="Sample from this many most probable tokens; 0: from all.")] = 0,
    top_p: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Sample from the most probable tokens with this total probability.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Seed of the sampling.")] = 1,
    device: Device = "auto",
) -> None:
    """Continue a text, and print it token by token."""
    from manyheads.cli.texts import in_utf8
    from manyheads.decoding.generator import Generator

    prompt = in_utf8(prompt)
    generator = Generator(model, device=device)
    sys.stdout.write(prompt)
    for piece in generator.stream(prompt, tokens=tokens, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed):
        sys.stdout.write(piece)
        sys.stdout.flush()
    sys.stdout.write("\n")
