"""`manyheads shortlist`: the target tokens allowed for each source token, for `translate --shortlist`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli import completion


def shortlist(
    run: Annotated[
        Path,
        typer.Argument(
            help="The run folder; the shortlist is written into it.",
            show_default=False,
            autocompletion=completion.models,
        ),
    ],
    each: Annotated[int, typer.Option(min=1, help="Number of target tokens for each source token.")] = 50,
    frequent: Annotated[
        int, typer.Option(min=1, help="Number of most frequent target tokens, which are always allowed.")
    ] = 100,
) -> None:
    """Learn a vocabulary shortlist from the run's training data, by IBM Model 1."""
    from itertools import islice

    from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
    from manyheads.data.text.corpora import open_corpus
    from manyheads.decoding.engines.shortlist import PAIRS, Shortlist
    from manyheads.runs.folder import RunFolder

    opened = RunFolder.open(run)
    config, tokenizers = opened.config_for(TranslationConfig), opened.tokenizers()
    corpora = (open_corpus(one, split="train").pairs() for one in opened.recipe_for(TranslationRecipe).data.corpora)
    pairs = islice((pair for corpus in corpora for pair in corpus), PAIRS)
    ids = ((tokenizers.source.encode(pair.source), tokenizers.target.encode(pair.target)) for pair in pairs)
    found = Shortlist.learn(
        ((source, target) for source, target in ids if source and target),
        vocabularies=(config.source_vocabulary, config.target_vocabulary),
        each=each,
        frequent=frequent,
    )
    found.write(opened.shortlist_file)
    typer.echo(str(opened.shortlist_file))
