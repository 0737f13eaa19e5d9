"""BLEU, chrF, chrF++ and TER by sacreBLEU, with the signature that makes scores comparable; paired bootstrap tests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest

from manyheads.errors import ManyheadsError
from manyheads.metrics.significance import SAMPLES, SEED

CHRF_WORDS = 2  # the longest n-grams of words in chrF++
WITHOUT_SPACES = ("zh", "ja-mecab", "ko-mecab", "char")


def overlap_score(
    metric: str, outputs: Sequence[str], references: Sequence[str], *, lowercase: bool, tokenizer: str
) -> tuple[float, str]:
    """Return the score of all outputs together, and its signature."""
    scorer = _scorer(metric, lowercase=lowercase, tokenizer=tokenizer)
    score = scorer.corpus_score(list(outputs), [list(references)])
    return float(score.score), str(scorer.get_signature())


def sentence_chrf(
    outputs: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> list[float]:
    """Return the chrF of each output against its nearest reference."""
    scorer = CHRF(lowercase=lowercase)
    return [
        float(scorer.sentence_score(output, list(answers)).score)
        for output, answers in zip(outputs, references, strict=True)
    ]


def _scorer(metric: str, *, lowercase: bool, tokenizer: str) -> BLEU | CHRF | TER:
    """Return sacreBLEU's scorer; with `force`, it does not warn about tokenized text, which tokenizer none is for.

    The characters of a script without spaces are words of TER; BLEU's tokenizer tells whether it is one.
    """
    if metric in ("chrf", "chrf++"):
        return CHRF(lowercase=lowercase, word_order=CHRF_WORDS if metric == "chrf++" else 0)
    if metric == "ter":
        has_no_spaces = tokenizer in WITHOUT_SPACES
        return TER(case_sensitive=not lowercase, normalized=has_no_spaces, asian_support=has_no_spaces)
    try:
        return BLEU(lowercase=lowercase, tokenize=tokenizer, force=True)
    except RuntimeError:  # the packages of this tokenizer are missing
        raise ManyheadsError(
            f"the BLEU tokenizer {tokenizer} is not installed.",
            cure=f"pip install 'sacrebleu[{tokenizer.removesuffix('-mecab')}]', or choose another: char",
        ) from None


class BootstrapResult(NamedTuple):
    """A system's score, the bounds of its 95 % interval, and the p-value of its difference from the first system."""

    value: float
    low: float
    high: float
    p_value: float


def paired_bootstrap(
    metric: str, systems: Sequence[Sequence[str]], references: Sequence[str], *, lowercase: bool, tokenizer: str
) -> list[BootstrapResult]:
    """Compare the outputs of systems with those of the first one by a metric of sacreBLEU."""
    os.environ.setdefault("SACREBLEU_SEED", str(SEED))  # sacreBLEU reads its seed from the environment
    test = PairedTest(
        [(str(number), list(outputs)) for number, outputs in enumerate(systems)],
        {metric: _scorer(metric, lowercase=lowercase, tokenizer=tokenizer)},
        references=[list(references)],
        test_type="bs",
        n_samples=SAMPLES,
    )
    results: dict[str, Any] = test()[1]
    (rows,) = [rows for name, rows in results.items() if name != "System"]
    # For identical outputs, sacreBLEU would report a significant difference.
    same = [list(outputs) == list(systems[0]) for outputs in systems]
    return [
        BootstrapResult(*map(float, (row.score, row.mean - row.ci, row.mean + row.ci, 1.0 if equal else row.p_value)))
        for row, equal in zip(rows, same, strict=True)
    ]
