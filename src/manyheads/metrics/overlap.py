"""BLEU and chrF by sacreBLEU, with the signature that makes a figure comparable, and paired-bootstrap significance."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from manyheads.errors import ManyheadsError
from manyheads.metrics.significance import SAMPLES, SEED


def overlap_score(
    metric: str, outputs: Sequence[str], references: Sequence[str], *, lowercase: bool, tokenizer: str
) -> tuple[float, str]:
    """Return corpus BLEU or chrF, and its signature."""
    scorer = _scorer(metric, lowercase=lowercase, tokenizer=tokenizer)
    score = scorer.corpus_score(list(outputs), [list(references)])
    return float(score.score), str(scorer.get_signature())


def _scorer(metric: str, *, lowercase: bool, tokenizer: str) -> BLEU | CHRF:
    """Return sacreBLEU's scorer; `force` because text that is tokenised already is wanted with tokenizer none."""
    if metric == "chrf":
        return CHRF(lowercase=lowercase)
    try:
        return BLEU(lowercase=lowercase, tokenize=tokenizer, force=True)
    except RuntimeError:  # a tokenizer's packages are missing
        raise ManyheadsError(
            f"the BLEU tokenizer {tokenizer} is not installed.",
            cure=f"pip install 'sacrebleu[{tokenizer.removesuffix('-mecab')}]', or choose another: char",
        ) from None


class Resampled(NamedTuple):
    """A system's score, the bounds of its interval of 95 %, and the p-value of its difference to the first system."""

    value: float
    low: float
    high: float
    p_value: float


def paired_bootstrap(
    metric: str, systems: Sequence[Sequence[str]], references: Sequence[str], *, lowercase: bool, tokenizer: str
) -> list[Resampled]:
    """Compare the outputs of systems with those of the first of them by BLEU or chrF."""
    os.environ.setdefault("SACREBLEU_SEED", str(SEED))  # where sacreBLEU looks for it
    test = PairedTest(
        [(str(number), list(outputs)) for number, outputs in enumerate(systems)],
        {metric: _scorer(metric, lowercase=lowercase, tokenizer=tokenizer)},
        references=[list(references)],
        test_type="bs",
        n_samples=SAMPLES,
    )
    results: dict[str, Any] = test()[1]
    (rows,) = [rows for name, rows in results.items() if name != "System"]
    # Of no difference at all, sacreBLEU would say that it is significant.
    same = [list(outputs) == list(systems[0]) for outputs in systems]
    return [
        Resampled(*map(float, (row.score, row.mean - row.ci, row.mean + row.ci, 1.0 if equal else row.p_value)))
        for row, equal in zip(rows, same, strict=True)
    ]
