"""`manyheads data`: public corpora by name (`list`, `get`), faults in your own (`check`), held-out parts (`cut`)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyheads.cli.lexicon import lexicon

if TYPE_CHECKING:
    from manyheads.data.download import FileProgress
    from manyheads.data.pairs import Pair

app = typer.Typer(
    name="data",
    help="Public corpora by name (list, get); faults in your own (check); held-out parts (cut).",
    no_args_is_help=True,
)

app.command("lexicon")(lexicon)

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.command("list")
def list_corpora(as_json: AsJson = False) -> None:
    """Show the public corpora that the catalogue knows, with their size and licence."""
    from manyheads.data.catalogue import CATALOGUE

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
    for corpus in CATALOGUE:
        table.add_row(corpus.name, corpus.description, f"{corpus.content_bytes / 1e6:.1f}", corpus.licence)
    Console().print(table)


@app.command("get")
def get_corpus(
    name: Annotated[str, typer.Argument(help="A name that 'manyheads data list' shows.", show_default=False)],
    to: Annotated[
        Path | None,
        typer.Option("--to", help="The data folder.", show_default="$MANYHEADS_DATA or ./data"),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Copy from a folder that has the files, instead of the network."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Put a corpus into the data folder, every file verified; what is right already is not fetched again."""
    from manyheads.data.catalogue import find
    from manyheads.data.download import get

    corpus = find(name)
    with _progress_bar() as progress:
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


@app.command("check")
def check_corpus(
    source: Annotated[str | None, typer.Option(help="Source text, one sentence per line (also .gz).")] = None,
    target: Annotated[str | None, typer.Option(help="Target text, parallel to the source.")] = None,
    pairs: Annotated[str | None, typer.Option(help="A TSV or JSONL file with both sides instead.")] = None,
    max_characters: Annotated[int, typer.Option(help="Longest side that is not over-long.")] = 1000,
    max_ratio: Annotated[float, typer.Option(help="How far from the usual balance of lengths is allowed.")] = 4.0,
    write_clean: Annotated[
        str | None, typer.Option(metavar="PREFIX", help="Write the good pairs to PREFIX.source and PREFIX.target.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look for empty, over-long, unbalanced, duplicated, copied and badly encoded pairs, with their line numbers."""
    from dataclasses import asdict

    from manyheads.config.data import CorpusSettings
    from manyheads.config.messages import build
    from manyheads.data.checking import Limits, Report, check
    from manyheads.data.corpora import open_corpus

    settings = build(CorpusSettings, {"source": source, "target": target, "pairs": pairs}, origin="the corpus")
    report = Report()
    good = check(open_corpus(settings, split="train", lenient=True).pairs(), Limits(max_characters, max_ratio), report)
    if write_clean is None:
        for _ in good:
            pass
    else:
        _write_pairs(good, write_clean)
    if as_json:
        import json

        typer.echo(json.dumps(asdict(report)))
        return
    typer.echo(f"{report.pairs:,} pairs, {report.faulty:,} with a fault")
    for kind, lines in report.lines.items():
        if lines:
            shown = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
            typer.echo(f"  {kind.replace('_', ' '):<14}{len(lines):>9,}  lines {shown}")


@app.command("cut")
def cut_corpora(
    cut: Annotated[Path, typer.Argument(help="A file that names the corpora, such as recipes/cuts/tatoeba.yaml.")],
    out: Annotated[Path, typer.Option(help="A new folder for train, valid and test, a file for each two languages.")],
) -> None:
    """Hold out test and validation data by sentence, on both sides and over all languages of several corpora."""
    from manyheads.config.recipe import load_cut
    from manyheads.data.cutting import cut_corpora
    from manyheads.data.pairs import write_columns
    from manyheads.runs.atomic import fresh_folder

    with fresh_folder(out) as draft:
        for (source, target), parts in cut_corpora(load_cut(cut)).items():
            for name, pairs in vars(parts).items():
                write_columns(draft / f"{name}.{source}-{target}.tsv.gz", pairs)
            sizes = ", ".join(f"{len(pairs):,} {name}" for name, pairs in vars(parts).items())
            typer.echo(f"{source}-{target}: {sizes}")


def _write_pairs(pairs: Iterable[Pair], prefix: str) -> None:
    """Write pairs line by line to two files, which appear only when both are complete."""
    drafts = [Path(f"{prefix}.{side}.part") for side in ("source", "target")]
    with drafts[0].open("w", encoding="utf-8") as source, drafts[1].open("w", encoding="utf-8") as target:
        for pair in pairs:
            source.write(f"{pair.source}\n")
            target.write(f"{pair.target}\n")
    for draft in drafts:
        draft.replace(draft.with_suffix(""))


@contextmanager
def _progress_bar() -> Iterator[FileProgress | None]:
    """Show each file's progress, speed and time left on a terminal; elsewhere stay quiet."""
    if not sys.stderr.isatty():
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
