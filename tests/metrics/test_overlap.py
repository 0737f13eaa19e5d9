"""BLEU and chrF are sacreBLEU's, with its signature; only clear differences are significant."""

import random

import pytest
import sacrebleu

from manyheads.metrics.overlap import BootstrapResult, overlap_score, paired_bootstrap
from manyheads.metrics.scores import OverlapOptions, measure

REFERENCES = [
    "The cat sat on the mat, didn't it?",
    "Two dogs are running through the snow.",
    "A man in a blue shirt is score on a ladder.",
    "It cost $1,000.50 in 1999.",
]
OUTPUTS = [
    "the cat sits on the mat, did it not?",
    "Two dogs run through the snow.",
    "A man in a Blue shirt stands on a ladder.",
    "It cost $1,000.50 in 1998.",
]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenizer", ["13a", "none", "char", "intl"])
def test_bleu_is_sacrebleus(lowercase, tokenizer):
    value, signature = overlap_score("bleu", OUTPUTS, REFERENCES, lowercase=lowercase, tokenizer=tokenizer)
    expected = sacrebleu.corpus_bleu(OUTPUTS, [REFERENCES], lowercase=lowercase, tokenize=tokenizer)
    assert value == expected.score
    assert 0.0 < value < 100.0
    assert f"tok:{tokenizer}" in signature
    assert ("case:lc" if lowercase else "case:mixed") in signature
    assert f"version:{sacrebleu.__version__}" in signature


@pytest.mark.parametrize("lowercase", [False, True])
def test_chrf_is_sacrebleus(lowercase):
    value, signature = overlap_score("chrf", OUTPUTS, REFERENCES, lowercase=lowercase, tokenizer="13a")
    scorer = sacrebleu.metrics.CHRF(lowercase=lowercase)
    assert value == scorer.corpus_score(OUTPUTS, [REFERENCES]).score
    assert 0.0 < value < 100.0
    assert f"version:{sacrebleu.__version__}" in signature


@pytest.mark.parametrize("lowercase", [False, True])
def test_chrf_with_words_and_ter_are_sacrebleus(lowercase):
    chrf, signature = overlap_score("chrf++", OUTPUTS, REFERENCES, lowercase=lowercase, tokenizer="13a")
    scorer = sacrebleu.metrics.CHRF(lowercase=lowercase, word_order=2)
    assert chrf == scorer.corpus_score(OUTPUTS, [REFERENCES]).score
    assert "nw:2" in signature
    ter, signature = overlap_score("ter", OUTPUTS, REFERENCES, lowercase=lowercase, tokenizer="13a")
    scorer = sacrebleu.metrics.TER(case_sensitive=not lowercase)
    assert ter == scorer.corpus_score(OUTPUTS, [REFERENCES]).score
    assert ("case:lc" if lowercase else "case:mixed") in signature
    assert not measure("ter", OUTPUTS, [[one] for one in REFERENCES], OverlapOptions(lowercase)).higher_is_better


def test_characters_are_words_of_ter_in_a_script_without_spaces():
    values = [overlap_score("ter", ["我爱你"], ["我爱他"], lowercase=False, tokenizer=one)[0] for one in ("13a", "zh")]
    assert values[0] == 100.0
    assert values[1] == pytest.approx(100 / 3)


def test_case_and_tokenizer_matter_here():
    """Otherwise the comparisons above could not tell one setting from another."""
    settings = [(low, tok) for low in (False, True) for tok in ("13a", "none", "char")]
    scores = {overlap_score("bleu", OUTPUTS, REFERENCES, lowercase=low, tokenizer=tok)[0] for low, tok in settings}
    assert len(scores) == len(settings)


def test_measuring_takes_the_first_reference_and_keeps_the_signature():
    options = OverlapOptions(lowercase=True, bleu_tokenizer="none")
    score = measure("bleu", OUTPUTS, [[one, "nonsense"] for one in REFERENCES], options)
    value, signature = overlap_score("bleu", OUTPUTS, REFERENCES, lowercase=True, tokenizer="none")
    assert (score.name, score.value, score.signature) == ("bleu", value, signature)
    assert score.higher_is_better


def corpus(sentences: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choice("abcdefghijklmnop") * 3 for _ in range(9)) for _ in range(sentences)]


def worsened(sentences: list[str], share: float, seed: int) -> list[str]:
    """Return sentences in which about this share of the words is wrong."""
    chance = random.Random(seed)
    return [" ".join("zzz" if chance.random() < share else word for word in one.split()) for one in sentences]


def rows(metric: str, systems: list[list[str]], references: list[str]) -> list[BootstrapResult]:
    return paired_bootstrap(metric, systems, references, lowercase=False, tokenizer="13a")


METRICS = pytest.mark.parametrize("metric", ["bleu", "chrf"])


@METRICS
def test_a_system_is_not_significantly_different_from_itself(metric):
    references = corpus(60, seed=1)
    outputs = worsened(references, 0.3, seed=2)
    first, second = rows(metric, [outputs, list(outputs)], references)
    assert first.value == second.value
    assert second.p_value == 1.0


@METRICS
def test_a_clearly_better_system_is_significantly_better(metric):
    references = corpus(60, seed=1)
    bad, good = worsened(references, 0.4, seed=2), worsened(references, 0.1, seed=3)
    first, second, third = rows(metric, [bad, good, bad], references)
    assert second.p_value < 0.05
    assert third.p_value == 1.0
    assert first.value < first.high < second.low < second.value < second.high
    for found, outputs in ((first, bad), (second, good)):
        assert found.value == overlap_score(metric, outputs, references, lowercase=False, tokenizer="13a")[0]


@METRICS
def test_the_same_comparison_gives_the_same_p_value(metric):
    references = corpus(30, seed=1)
    systems = [worsened(references, 0.30, seed=2), worsened(references, 0.27, seed=3)]
    assert rows(metric, systems, references) == rows(metric, systems, references)
    assert 0.0 < rows(metric, systems, references)[1].p_value < 1.0
