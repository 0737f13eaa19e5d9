"""`manyheads encode`: texts as vectors, for each token or for each text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from manyheads.cli import completion
from manyheads.cli.options import Device
from manyheads.cli.outputs import Overwrite, output_file
from manyheads.cli.texts import AsText, Texts, lines_of, pairs_of, sources_of
from manyheads.errors import ManyheadsError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from manyheads.encoding.encoder import Vectors

FORMATS = (".npy", ".jsonl")


class Pooling(StrEnum):
    """How the vectors of a text's tokens are pooled."""

    none = "none"
    mean = "mean"
    cls = "cls"


def encode(
    text: Texts = None,
    as_text: AsText = False,
    model: Annotated[
        Path, typer.Option(help="The run folder, or a folder from Hugging Face.", autocompletion=completion.models)
    ] = ...,  # type: ignore[assignment]
    out: Annotated[
        Path | None, typer.Option(help="Where to write: x.npy or x.jsonl. Without it, JSON lines to standard output.")
    ] = None,
    overwrite: Overwrite = False,
    pool: Annotated[
        Pooling, typer.Option(help="A vector per token (none), or one per text: their mean, or the first one (cls).")
    ] = Pooling.mean,
    pairs: Annotated[bool, typer.Option("--pairs", help="Each line holds two texts with a tab between them.")] = False,
    batch: Annotated[int, typer.Option(min=1, help="Texts computed at once.")] = 32,
    longest: Annotated[
        int | None, typer.Option(min=8, help="Tokens kept of a text. Default: as many as the model has positions.")
    ] = None,
    device: Device = "auto",
) -> None:
    """Turn texts into vectors, one result per line, in order, empty lines included.

    With --pool none, an .npy file holds [texts, tokens, width], with zeros where a text has fewer tokens than another.
    """
    if out is not None and out.suffix not in FORMATS:
        raise ManyheadsError(f"the name must end in {' or '.join(FORMATS)}.", where=str(out))
    sources = sources_of(text, as_text=as_text)
    output_file(out, inputs=[source.name for source in sources if source.is_file], overwrite=overwrite)
    from manyheads.encoding.encoder import Encoder

    encoder = Encoder.from_folder(model, device=device)
    texts = pairs_of(sources) if pairs else lines_of(sources)
    results = _reporting(encoder.stream(texts, pool=pool.value, batch=batch, longest=longest))
    if out is None:
        _write_lines(results, sys.stdout.buffer)
    elif out.suffix == ".jsonl":
        from manyheads.runs.atomic import new_file

        with new_file(out) as target:
            _write_lines(results, target)
    else:
        _write_array([result.vectors for result in results], out)


def _reporting(results: Iterable[Vectors]) -> Iterator[Vectors]:
    """Yield the results; print at the end how many texts were truncated, and which was the first."""
    truncated, first = 0, 0
    for number, result in enumerate(results, start=1):
        if result.truncated:
            truncated, first = truncated + 1, first or number
        yield result
    if truncated:
        some = f"{truncated:,} texts were" if truncated > 1 else "1 text was"
        typer.echo(f"{some} too long and cut off (the first at line {first:,}).", err=True)


def _write_lines(results: Iterable[Vectors], target: BinaryIO) -> None:
    """Write each result as a line of JSON, as soon as it is computed."""
    for result in results:
        whole = result.vectors.ndim == 1
        values = {"text": result.text, "vector": _rounded(result.vectors)} if whole else _each(result)
        target.write((json.dumps(values, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))
    target.flush()


def _each(one: Vectors) -> dict[str, object]:
    """Return a text with a vector for each of its tokens."""
    return {"text": one.text, "tokens": one.tokens, "vectors": [_rounded(vector) for vector in one.vectors]}


def _rounded(vector: NDArray[np.float32]) -> list[float]:
    """Return numbers with the significant digits of a float32."""
    return [float(f"{number:.7g}") for number in vector.tolist()]


def _write_array(vectors: list[NDArray[np.float32]], out: Path) -> None:
    """Write all vectors as one array [N, D], or [N, S, D] where each token has its own."""
    import numpy as np

    from manyheads.runs.atomic import new_file

    if not vectors:
        raise ManyheadsError("there are no texts.", where=str(out), cure="An array needs at least one line of input.")
    shape = np.array([one.shape for one in vectors]).max(axis=0)
    array = np.zeros((len(vectors), *shape), dtype=np.float32)
    for place, one in zip(array, vectors, strict=True):
        place[tuple(map(slice, one.shape))] = one
    with new_file(out) as target:
        np.save(target, array)
