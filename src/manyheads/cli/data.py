"""`manyheads data`: public corpora by name (`list`, `get`), faults in your own (`check`), held-out parts (`cut`).

`cache` shows and clears the token ids that trainings keep.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from manyheads.cli import completion
from manyheads.cli.cache import cache
from manyheads.cli.lexicon import lexicon
from manyheads.cli.options import AsJson, PairsFormat, SourceColumn, TargetColumn

if TYPE_CHECKING:
    from manyheads.config.corpora import CorpusSettings
    from manyheads.data.cleaning.cutting import CorpusCut
    from manyheads.data.public.download import FileProgress
    from manyheads.data.text.records import Pair

app = typer.Typer(
    name="data",
    help="Public corpora by name (list, get); faults in your own (check); held-out parts (cut).",
    no_args_is_help=True,
)

app.command("lexicon")(lexicon)
app.command("cache")(cache)

WIDE = 200  # columns


@app.command("list")
def list_corpora(as_json: AsJson = False) -> None:
    """List the public corpora of the catalogue, with their size and licence."""
    from manyheads.data.public.catalogue import CATALOGUE

    if as_json:
        import json
        from dataclasses import asdict

        typer.echo(json.dumps([asdict(corpus) for corpus in CATALOGUE], ensure_ascii=False, indent=2))
        return
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE)
    table.add_column("name", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    table.add_column("MB", justify="right", no_wrap=True)
    table.add_column("licence as stated there", overflow="fold")
    table.add_column("weights may be shipped")
    for corpus in CATALOGUE:
        size, shippable = f"{corpus.content_bytes / 1e6:.1f}", "yes" if corpus.shippable else "no"
        table.add_row(corpus.name, corpus.description, size, corpus.licence, shippable)
    console = Console()
    if not console.is_terminal:  # rich takes 80 columns there, which cut words apart
        console = Console(width=max(console.width, WIDE))
    console.print(table)


@app.command("get")
def get_corpus(
    name: Annotated[
        str,
        typer.Argument(
            help="A name that 'manyheads data list' shows.", show_default=False, autocompletion=completion.corpora
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option("--to", help="The data folder.", show_default="$MANYHEADS_DATA or ./data"),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Copy from a folder that has the files, instead of downloading them."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Download a corpus into the data folder, and verify every file; correct files are not downloaded again."""
    from manyheads.data.public.catalogue import find
    from manyheads.data.public.download import get

    corpus = find(name)
    with progress_bar() as progress:
        paths = get(name, to, source=source, progress=progress)
    if as_json:
        import json

        typer.echo(json.dumps({"name": name, "files": [str(path) for path in paths]}, ensure_ascii=False))
        return
    for path in paths:
        typer.echo(str(path))
    note = f" {corpus.note}" if corpus.note else ""
    # To standard error, so that a script can read the paths alone.
    typer.echo(f"{len(paths)} file(s), checksums right. Licence: {corpus.licence}.{note}", err=True)
    typer.echo(f"Attribution: {corpus.attribution}.", err=True)


@app.command("check")
def check_corpus(
    source: Annotated[str | None, typer.Option(help="Source text, one sentence per line (also .gz).")] = None,
    target: Annotated[str | None, typer.Option(help="Target text, parallel to the source.")] = None,
    pairs: Annotated[
        str | None, typer.Option(help="A TSV, CSV or JSONL file with both sides, or a memory instead.")
    ] = None,
    pairs_format: PairsFormat = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    source_language: Annotated[
        str | None,
        typer.Option(help="Language code of the source; without it, its script and language are not checked."),
    ] = None,
    target_language: Annotated[str | None, typer.Option(help="Language code of the target, likewise.")] = None,
    max_characters: Annotated[int, typer.Option(help="Longest side that is accepted.")] = 1000,
    max_ratio: Annotated[
        float,
        typer.Option(help="Factor by which the ratio of lengths may differ from the usual one; less for long texts."),
    ] = 4.0,
    write_clean: Annotated[
        str | None, typer.Option(metavar="PREFIX", help="Write the good pairs to PREFIX.source and PREFIX.target.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Let --write-clean replace files without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look for faulty pairs: not translated, in a wrong language, badly encoded, with other numbers and so on."""
    from manyheads.data.cleaning.checking import Limits, Report, check
    from manyheads.data.text.corpora import open_corpus

    given = {"source": source, "target": target, "pairs": pairs}
    columns = {"format": pairs_format, "source_column": source_column, "target_column": target_column}
    settings, languages = _corpus_to_check({**given, **columns}, (source_language, target_language))
    corpus = open_corpus(settings, split="train", lenient=True)
    outputs = _clean_files(write_clean, [path for path in given.values() if path], force=force) if write_clean else []
    report = Report()
    good = check(
        corpus.pairs(),
        Limits(max_characters, max_ratio),
        report,
        source_language=languages[0],
        target_language=languages[1],
    )
    _write_sides(good, outputs)
    if as_json:
        import json
        from dataclasses import asdict

        typer.echo(json.dumps(asdict(report)))
        return
    typer.echo(f"{report.pairs:,} pairs, {report.faulty:,} with a fault")
    for kind, lines in report.lines.items():
        if lines:
            shown = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
            typer.echo(f"  {kind.replace('_', ' '):<16}{len(lines):>9,}  lines {shown}")


def _corpus_to_check(
    given: Mapping[str, str | None], languages: tuple[str | None, str | None]
) -> tuple[CorpusSettings, tuple[str | None, str | None]]:
    """Return the corpus that the options describe and its languages, which are found in a memory."""
    from manyheads.config.corpora import CorpusSettings
    from manyheads.config.messages import build
    from manyheads.data.formats.detection import with_format
    from manyheads.data.formats.memories import are_memories

    of_memories = are_memories(given["pairs"], given["format"] or "auto")
    sides = zip(("source_column", "target_column"), languages, strict=True)
    known = {column: code for column, code in sides if of_memories}
    named = {**known, **{name: value for name, value in given.items() if value is not None}}
    settings = build(CorpusSettings, with_format(named), origin="the corpus")
    return settings, (str(settings.source_column), str(settings.target_column)) if of_memories else languages


def _clean_files(prefix: str, inputs: Iterable[str], *, force: bool) -> list[Path]:
    """Return the files for the two sides; never one of the inputs, and an existing file only if the user agrees."""
    from manyheads.data.formats.memories import are_memories, memory_files
    from manyheads.data.text.files import text_files
    from manyheads.errors import ManyheadsError

    files = (memory_files(path) if are_memories(path) else text_files(path, role="corpus") for path in inputs)
    read = {file.resolve() for some in files for file in some}
    outputs = [Path(f"{prefix}.{side}") for side in ("source", "target")]
    for path in outputs:
        if path.resolve() in read:
            raise ManyheadsError(
                "the good pairs would replace what they are read from.",
                where=str(path),
                cure="Choose another prefix with --write-clean.",
            )
        if path.exists() and not force and not _consents(path):
            raise ManyheadsError(
                "there is a file here already.",
                where=str(path),
                cure="Choose another prefix with --write-clean, or replace it with --force.",
            )
    return outputs


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is a terminal."""
    return stream.isatty()


def _consents(path: Path) -> bool:
    """Ask whether a file may be replaced; without a terminal, the answer is no."""
    return is_terminal(sys.stdin) and typer.confirm(f"Replace {path}?", err=True)


def _write_sides(pairs: Iterable[Pair], files: Sequence[Path]) -> None:
    """Write each side of the pairs to its file, line by line; without files, only read them."""
    from manyheads.runs.atomic import new_file

    with ExitStack() as stack:
        sides = [stack.enter_context(new_file(path)) for path in files]
        for pair in pairs:
            for side, text in zip(sides, pair, strict=False):
                side.write(f"{text}\n".encode())


@app.command("cut")
def cut_corpora(
    cut: Annotated[Path, typer.Argument(help="A file that names the corpora, such as recipes/cuts/tatoeba.yaml.")],
    out: Annotated[
        Path, typer.Option(help="A new folder for train, valid and test, a file for each pair of languages.")
    ],
    as_json: AsJson = False,
) -> None:
    """Hold out test and validation data by sentence, on both sides and over all languages of several corpora."""
    import json

    from manyheads.config.reading import load_cut
    from manyheads.data.cleaning.cutting import cut_corpora
    from manyheads.data.text.records import write_columns
    from manyheads.runs.atomic import fresh_folder

    settings = load_cut(cut)
    with fresh_folder(out) as draft, _status() as status:
        cuts = cut_corpora(settings, progress=status)
        for corpus in cuts:
            for part, pairs in vars(corpus.parts).items():
                if pairs or part == "train":
                    write_columns(draft / f"{part}.{corpus.label}.tsv.gz", pairs)
        report = json.dumps([corpus.report() for corpus in cuts], indent=2)
        (draft / "report.json").write_text(report + "\n", encoding="utf-8")
    if as_json:
        typer.echo(report)
        return
    for corpus in cuts:
        sizes = ", ".join(f"{len(pairs):,} {part}" for part, pairs in vars(corpus.parts).items() if pairs)
        typer.echo(f"{corpus.label}: {sizes}")
    if settings.clean:
        _show_dropped(cuts)


def _show_dropped(cuts: Sequence[CorpusCut]) -> None:
    """Print how many pairs of each corpus are in no part, and why."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    from manyheads.data.cleaning.cutting import REASONS

    dropped = {corpus.label: corpus.report()["dropped"] for corpus in cuts}
    reasons = [reason for reason in REASONS if any(reason in counts for counts in dropped.values())]
    table = Table(box=SIMPLE, title="pairs in no part, by reason", title_justify="left")
    for column in ("", "read", *reasons):
        table.add_column(column.replace("_", "\n"), justify="right" if column else "left", no_wrap=True)
    for corpus in cuts:
        counts = (f"{dropped[corpus.label].get(reason, 0):,}" for reason in reasons)
        table.add_row(corpus.label, f"{corpus.read:,}", *counts)
    Console(width=WIDE).print(table)  # numbers must not be cut off, even where lines are folded


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Show on a terminal which file is read; do nothing otherwise."""
    if not is_terminal(sys.stderr):
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as shown:
        yield lambda what: shown.update(f"reading {what}")


@contextmanager
def progress_bar() -> Iterator[FileProgress | None]:
    """Show each file's progress, speed and remaining time on a terminal; do nothing otherwise."""
    if not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    tasks = {}

    def show(path: str, done: int, total: int | None) -> None:
        """Move the bar of one file."""
        if path not in tasks:
            tasks[path] = bar.add_task(path, total=total)
        bar.update(tasks[path], completed=done, total=total)

    with bar:
        yield show
