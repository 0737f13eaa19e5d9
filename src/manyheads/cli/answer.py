"""`manyheads answer`: the words of a context that answer a question, or the answer to a question about facts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyheads.cli import completion
from manyheads.cli.options import AsJson, Device
from manyheads.cli.texts import AsText, PairTexts, Source, lines_of, pairs_of, sources_of

if TYPE_CHECKING:
    from manyheads.encoding.encoder import Answer
    from manyheads.encoding.fact_reader import FactAnswer


def answer(
    text: PairTexts = None,
    as_text: AsText = False,
    model: Annotated[
        Path,
        typer.Option(help="A run with task: question_answering or memory_questions.", autocompletion=completion.models),
    ] = ...,  # type: ignore[assignment]
    batch: Annotated[int, typer.Option(min=1, help="Questions computed at once.")] = 32,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Print the answer to each question, one per line, in order.

    A run with a memory reads facts and questions in place of pairs: sentences, or lines as bAbI has them.
    """
    import json
    from dataclasses import asdict

    sources = sources_of(text, as_text=as_text)
    answers = _from_facts if _has_memory(model) else _from_contexts
    for result in answers(model, sources, batch=batch, device=device):
        typer.echo(json.dumps(asdict(result), ensure_ascii=False) if as_json else result.text)


def _has_memory(model: Path) -> bool:
    """Whether a run answers questions about facts; a folder of another library does not."""
    from manyheads.config.tasks.memory_questions import MemoryQuestionsConfig
    from manyheads.exchange.bert import is_hugging_face
    from manyheads.runs.folder import RunFolder

    return not is_hugging_face(model) and isinstance(RunFolder.open(model).config(), MemoryQuestionsConfig)


def _from_contexts(model: Path, sources: list[Source], *, batch: int, device: str) -> Iterable[Answer]:
    """Return the answers to pairs of a question and a context."""
    from manyheads.encoding.encoder import Encoder

    return Encoder.from_folder(model, device=device).answer(pairs_of(sources), batch=batch)


def _from_facts(model: Path, sources: list[Source], *, batch: int, device: str) -> Iterable[FactAnswer]:
    """Yield the answers to the questions about the facts of each source."""
    from manyheads.encoding.fact_reader import FactReader

    reader = FactReader.from_folder(model, device=device)
    for source in sources:
        yield from reader.answer(reader.read(lines_of([source]), where=source.name), batch=batch)
