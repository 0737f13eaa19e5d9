"""The document part of `manyheads translate`: a file with `--out`, or its counts with `--dry-run`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyheads.cli.outputs import output_file
from manyheads.cli.texts import existing
from manyheads.documents.formats import TEXT, format_by_ending, format_names
from manyheads.errors import ManyheadsError

if TYPE_CHECKING:
    from manyheads.decoding.document_translation import DocumentTranslation, Tell
    from manyheads.decoding.translator import Translator

Out = Annotated[Path | None, typer.Option(help="Translate FILE as a document, and write it here.", show_default=False)]
DocumentFormat = Annotated[
    str | None,
    typer.Option(help=f"Format of the document: {', '.join(format_names())}; csv:COLUMN[:OTHER]. Default: found out."),
]
OnlyEmpty = Annotated[
    bool,
    typer.Option(
        "--only-empty",
        help="Translate only what has no translation in the document; by default, also what is marked as unsure.",
    ),
]
Everything = Annotated[
    bool, typer.Option("--all", help="Translate all of the document again, and replace the translations it has.")
]
MarkUnsure = Annotated[
    bool, typer.Option("--mark-unsure", help="Mark the new translations in the document as to be checked.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Count what would be translated in the document, and stop.")]


@dataclass(frozen=True)
class DocumentOptions:
    """The options of a document."""

    out: Path | None
    format: str | None
    only_empty: bool
    everything: bool
    mark_unsure: bool
    dry_run: bool
    overwrite: bool

    @property
    def are_given(self) -> bool:
        """Whether one of them is given."""
        return self != DocumentOptions(None, None, False, False, False, False, False)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `DocumentTranslation`."""
        if self.only_empty and self.everything:
            raise ManyheadsError("a document is translated with --only-empty or with --all.", cure="Leave one out.")
        which = "empty" if self.only_empty else "all" if self.everything else "needed"
        return {"format": self.format, "which": which, "mark_unsure": self.mark_unsure}


def is_document(arguments: Sequence[str] | None) -> bool:
    """Return whether an argument is the name of an existing file of a format other than text."""
    named = (name for name in arguments or () if format_by_ending(name) not in (None, TEXT))
    return any((place := existing(name)) is not None and place.is_file() for name in named)


def document_file(arguments: Sequence[str] | None, options: DocumentOptions) -> Path:
    """Return the one document; raise an error if it is none, or if there is no place for the result."""
    if not arguments or len(arguments) > 1:
        raise ManyheadsError(
            f"{len(arguments or ())} documents are given, and one is translated at a time.", cure="Name one file."
        )
    path = existing(arguments[0])
    if path is None or path.is_dir():
        raise ManyheadsError("there is no such file.", where=arguments[0], cure="Check the name of the document.")
    if options.out is None and not options.dry_run:
        raise ManyheadsError(
            "this is a document, and there is no place for its translation.",
            where=arguments[0],
            cure="Name it with --out FILE, or add --text to translate the name itself.",
        )
    output_file(options.out, inputs=[path], overwrite=options.overwrite)
    options.arguments()
    return path


def translate_document(
    translator: Translator, path: Path, document: DocumentOptions, options: Mapping[str, Any], *, as_json: bool
) -> None:
    """Translate a document and say what became of it, or count its texts."""
    from manyheads.decoding.document_translation import DocumentTranslation

    translation = DocumentTranslation(translator, path, **document.arguments(), **options)
    if document.dry_run or document.out is None:
        print(_counted(translation, as_json=as_json))
    else:
        _write(translation, document.out, as_json=as_json)


def _write(translation: DocumentTranslation, out: Path, *, as_json: bool) -> None:
    """Write a translated document; warnings go to standard error."""
    with _bar() as tell:
        result = translation.write(out, tell=tell)
    for warning in result.warnings:
        print(f"{translation.path}, {warning}", file=sys.stderr)
    if as_json:
        values = {"out": str(out), "pivot": result.pivot, **asdict(result.counts), "warnings": result.warnings}
        print(json.dumps(values, ensure_ascii=False))
        return
    way = f" by way of '{result.pivot}'" if result.pivot else ""
    counts, language = result.counts, translation.languages.target
    into = f" into '{language}'" if language else ""
    print(f"{out}: {counts.to_translate:,} of {counts.texts:,} texts translated{into}{way}.")


def _counted(translation: DocumentTranslation, *, as_json: bool) -> str:
    """Return the counts of a document, as JSON or as lines."""
    counts, seconds = translation.selection.counts(), translation.estimated_seconds()
    if as_json:
        values = {"format": translation.format, **asdict(counts), "seconds": round(seconds, 1)}
        return json.dumps(values, ensure_ascii=False)
    unsure = f", {counts.unsure:,} of them marked as unsure" if counts.unsure else ""
    rows = {
        "format": translation.format,
        "texts": f"{counts.texts:,}",
        "left as they are": f"{counts.left:,}",
        "to translate": f"{counts.to_translate:,}{unsure}",
        "distinct": f"{counts.distinct:,}, {counts.words:,} words",
        "time": f"about {max(1, round(seconds)):,} s",
    }
    return "\n".join(f"{name:<18}{value}" for name, value in rows.items())


@contextmanager
def _bar() -> Iterator[Tell]:
    """Yield a function that shows progress on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("translating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("translating", total=None)
        yield lambda done, count: bar.update(task, completed=done, total=count)
