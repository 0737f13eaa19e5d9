"""`manyheads data lexicon`: the words of a parallel corpus that translate each other."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli.outputs import Overwrite, output_file
from manyheads.errors import ManyheadsError

PAIRS = 150_000  # of each corpus: enough for every word that is not rare, and it fits into memory


def lexicon(
    pairs: Annotated[list[str], typer.Argument(help="TSV or JSONL files with both sides.", show_default=False)],
    source_language: Annotated[str, typer.Option(help="Language code of the first column, such as en.")],
    target_language: Annotated[str, typer.Option(help="Language code of the second column.")],
    out: Annotated[Path, typer.Option(help="The file to write: two columns, the codes in the first line.")],
    most: Annotated[int, typer.Option(help="Pairs read of each file.")] = PAIRS,
    overwrite: Overwrite = False,
) -> None:
    """Learn which words translate each other, for `data.modify.tags` and `.terms` in a recipe."""
    from manyheads.config.corpora import CorpusSettings
    from manyheads.data.lexicons.word_translations import learn_lexicon
    from manyheads.data.text.corpora import open_corpus
    from manyheads.runs.atomic import write_file

    output_file(out, inputs=pairs, overwrite=overwrite)
    corpora = [open_corpus(CorpusSettings(pairs=file), split="train") for file in pairs]
    read = [pair for corpus in corpora for pair in itertools.islice(corpus.pairs(), most)]
    entries = learn_lexicon(read)
    if not entries:
        raise ManyheadsError("no words translate each other in these pairs.", where=", ".join(pairs)[:200])
    rows = [(source_language, target_language), *entries]
    write_file(out, "".join(f"{source}\t{target}\n" for source, target in rows))
    typer.echo(f"{len(entries):,} entries from {len(read):,} pairs, in {out}.", err=True)
