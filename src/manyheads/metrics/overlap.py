"""BLEU and chrF by sacreBLEU, with the signature that makes a figure comparable, and paired-bootstrap significance."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from manyheads.errors import ManyheadsError

BOOTSTRAP_SAMPLES = 1000
BOOTSTRAP_SEED = "12345"  # sacreBLEU reads it from the environment; fixed, so that a p-value can be reproduced


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


@dataclass(frozen=True)
class Comparison:
    """One system against a baseline on the same sentences."""

    metric: str
    baseline: float
    system: float
    p_value: float

    @property
    def significant(self) -> bool:
        """Whether chance is an unlikely explanation (p < 0.05)."""
        return self.p_value < 0.05


def compare(
    outputs: Mapping[str, Sequence[str]], references: Sequence[str], *, lowercase: bool, tokenizer: str
) -> list[Comparison]:
    """Compare two systems by paired bootstrap; the first of the two is the baseline."""
    (baseline, baseline_outputs), (system, system_outputs) = outputs.items()
    scorers = {name: _scorer(name, lowercase=lowercase, tokenizer=tokenizer) for name in ("bleu", "chrf")}
    os.environ.setdefault("SACREBLEU_SEED", BOOTSTRAP_SEED)
    test = PairedTest(
        [(baseline, list(baseline_outputs)), (system, list(system_outputs))],
        scorers,
        references=[list(references)],
        test_type="bs",
        n_samples=BOOTSTRAP_SAMPLES,
    )
    results: dict[str, Any] = test()[1]
    rows = {name: next(results[key] for key in results if key.lower().startswith(name)) for name in scorers}
    same = list(baseline_outputs) == list(system_outputs)  # sacreBLEU would call no difference at all significant
    return [Comparison(name, row[0].score, row[1].score, 1.0 if same else row[1].p_value) for name, row in rows.items()]
