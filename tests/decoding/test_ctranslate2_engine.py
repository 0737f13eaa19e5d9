"""The fast engine says what the torch engine says, under every option both have, and starts without torch."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers import without_checksums
from manyheads import ManyheadsError, Translator
from manyheads.config.corpora import CorpusSettings
from manyheads.data.text.corpora import open_corpus
from manyheads.decoding.engines.choice import AutoEngine
from manyheads.decoding.engines.ctranslate2 import INITIAL_POSITIONS
from manyheads.errors import Notice
from run_folders import make_run, pairs

pytest.importorskip("ctranslate2")


def both(run: Path, **options: Any) -> tuple[Translator, Translator]:
    return Translator(run, engine="torch"), Translator(run, engine="ctranslate2", **options)


def sentences(count: int, *, task: str = "reverse") -> list[str]:
    options = {"max_length": 6, "symbols": 8}
    return [
        one.source for one in open_corpus(CorpusSettings(task=task, count=count, options=options), split="test").pairs()
    ]


@pytest.mark.parametrize(("beam", "form"), [(1, "paper"), (4, "paper"), (4, "power")])
def test_a_trained_model_says_the_same(reverse_run: Path, beam: int, form: str):
    torch, fast = both(reverse_run)
    texts = sentences(500)
    ours, theirs = (one.translations(texts, beam=beam, penalty_form=form) for one in (torch, fast))
    same = [a.text == b.text for a, b in zip(ours, theirs, strict=True)]
    assert sum(same) >= 498
    for a, b in zip(ours, theirs, strict=True):
        if a.text == b.text:
            assert b.candidates[0].score == pytest.approx(a.candidates[0].score, abs=1e-3)
            assert b.candidates[0].log_probability == pytest.approx(a.candidates[0].log_probability, abs=1e-3)


def test_eight_bits_say_nearly_the_same(reverse_run: Path):
    torch, fast = both(reverse_run, precision="int8")
    texts = sentences(500)
    same = [a == b for a, b in zip(torch.translate(texts), fast.translate(texts), strict=True)]
    assert sum(same) >= 490


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_how_many_are_translated_at_once_changes_nothing(reverse_run: Path, precision: str):
    fast, texts = Translator(reverse_run, engine="ctranslate2", precision=precision), sentences(300)
    suitable, chosen = fast.translate(texts), fast.translate(texts, batch_sentences=7)
    assert sum(a == b for a, b in zip(suitable, chosen, strict=True)) >= 299  # sums in another order


OPTIONS: dict[str, dict[str, Any]] = {
    "greedy": {"beam": 1},
    "no n-gram twice": {"beam": 1, "no_repeat_ngram": 2},
    "a prefix": {"beam": 1, "prefix": "12 May"},
    "little room": {"beam": 1, "extra_length": 0},
}
SHAPES: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "pre-norm": {"norm": "pre", "tie": "none", "output_bias": True},
    "learned positions": {"positions": {"kind": "learned", "maximum": 120}},
    "relative positions": {"positions": {"kind": "relative", "clip": 4}},
    "rotary positions": {"positions": {"kind": "rotary"}},
    "starts with padding": {"tokenizer": {"start": "pad"}},
    "two vocabularies": {"tie": "target", "tokenizer": {"shared": False, "target": {"kind": "characters"}}},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_option_does_the_same(shape: dict[str, Any], options: dict[str, Any], tmp_path: Path):
    # Random weights are the hard case: outputs run into their limits, and nothing is certain.
    run = make_run(tmp_path / "run", **shape)
    torch, fast = both(run.path)
    texts = [one.source for one in pairs(40)]
    ours, theirs = (one.translations(texts, **{"extra_length": 12, **options}) for one in (torch, fast))
    same = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.candidates[0].tokens == b.candidates[0].tokens]
    assert len(same) >= 38  # two nearly equal tokens may change places
    for a, b in same:
        assert a.warning == b.warning
        assert b.candidates[0].score == pytest.approx(a.candidates[0].score, abs=1e-3)


@pytest.mark.parametrize("extra", [0, 3, 20])
def test_no_output_outgrows_its_own_limit(tmp_path: Path, extra: int):
    run = make_run(tmp_path / "run")
    fast = Translator(run.path, engine="ctranslate2")
    texts = ["1", "Sunday, 15 November 2026", "2026-11-15 2026-11-15"]
    for beam in (1, 3):
        for one in fast.translations(texts, beam=beam, n_best=beam, extra_length=extra):
            limit = len(fast.tokenizers.source.encode(one.source)) + extra
            assert all(len(candidate.tokens) <= limit for candidate in one.candidates)


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("positions", ["sinusoidal", "relative", "rotary"])
def test_a_long_text_is_neither_cut_nor_refused(tmp_path: Path, positions: str, beam: int):
    run = make_run(tmp_path / "run", positions={"kind": positions})
    torch, fast = both(run.path)
    text = " ".join(["12 May 2020"] * (INITIAL_POSITIONS // 4))  # nine tokens each
    length = len(fast.tokenizers.source.encode(text))
    assert length > 2 * INITIAL_POSITIONS
    target = " ".join(["2020"] * 20)
    ours, theirs = (one.score([text, "1"], [target, text]) for one in (torch, fast))
    for a, b in zip(ours, theirs, strict=True):
        assert b == pytest.approx(a, abs=2e-3)
    (found,) = fast.translations([text[:400]], beam=beam)
    assert found.candidates


def test_a_text_beyond_learned_positions_is_refused_in_the_same_words(tmp_path: Path):
    run = make_run(tmp_path / "run", positions={"kind": "learned", "maximum": 12})
    said = []
    for translator in both(run.path):
        with pytest.raises(ManyheadsError, match="longer than the 12 positions") as error:
            translator.translate("1 2 3 4 5 6 7 8 9 10 11 12 13 14")
        said.append(str(error.value))
        with pytest.raises(ManyheadsError, match="longer than the 12 positions"):
            translator.score(["1"], ["1 2 3 4 5 6 7 8 9 10 11 12 13 14"])
    assert said[0] == said[1]


def test_scores_of_given_pairs_are_the_same(tmp_path: Path):
    run = make_run(tmp_path / "run")
    sources, targets = (list(side) for side in zip(*pairs(30), strict=True))
    torch, fast = (one.score([*sources, ""], [*targets, ""]) for one in both(run.path))
    for a, b in zip(torch, fast, strict=True):
        assert b == pytest.approx(a, abs=1e-4)


def test_start_and_padding_are_never_written(tmp_path: Path):
    run = make_run(tmp_path / "run", output_bias=True)
    from manyheads.runs.weights import read_weights, weights_bytes

    arrays = {name: array.copy() for name, array in read_weights(run.weights_file).items()}
    arrays["bias"][[0, 2]] = 30.0  # a model that longs to write them
    run.weights_file.write_bytes(weights_bytes(arrays))
    torch, fast = both(run.path)
    for a, b in zip(*(one.translations(["1 May", "2"], beam=1) for one in (torch, fast)), strict=True):
        assert not {0, 2} & set(b.candidates[0].tokens)
        assert b.candidates[0].tokens == a.candidates[0].tokens
        assert b.candidates[0].log_probability == pytest.approx(a.candidates[0].log_probability, abs=1e-2)


# --- Which engine ----------------------------------------------------------------------------------------------------


def notices(recorded: pytest.WarningsRecorder) -> list[str]:
    """Return the notices among recorded warnings."""
    return [str(one.message) for one in recorded if issubclass(one.category, Notice)]


def test_auto_uses_ctranslate2_and_warns_why_it_falls_back(copy_run: Path, recwarn: pytest.WarningsRecorder):
    translator = Translator(copy_run)
    assert isinstance(translator.engine, AutoEngine)
    assert translator.translate("a b") == "a b"
    assert "torch_engine" not in vars(translator.engine)  # a cached property: absent until PyTorch is used
    assert not notices(recwarn)
    for _ in range(2):
        translator.translate("a b", sample=True)
    (notice,) = notices(recwarn)
    assert notice.startswith("Translating with PyTorch: only PyTorch draws samples")
    with pytest.raises(ManyheadsError, match="CTranslate2 cannot be used: only PyTorch draws"):
        Translator(copy_run, engine="ctranslate2").translate("a b", sample=True)


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("kind", ["learned", "relative", "rotary"])
def test_auto_uses_ctranslate2_for_other_positions_too(
    kind: str, precision: str, tmp_path: Path, recwarn: pytest.WarningsRecorder
):
    run = make_run(tmp_path / "run", positions={"kind": kind})
    translator = Translator(run.path, precision=precision)
    translator.translate("12 May")
    assert "torch_engine" not in vars(translator.engine)  # a cached property: absent until PyTorch is used
    assert not notices(recwarn)


def test_a_beam_wider_than_the_vocabulary_is_for_torch(copy_run: Path):
    with pytest.warns(Notice, match="a beam of 8 is too wide for a vocabulary of 12"):
        assert Translator(copy_run).translate("a b", beam=8) == "a b"


def test_without_ctranslate2_torch_translates(copy_run: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("manyheads.decoding.engines.choice.find_spec", lambda _: None)
    with pytest.warns(Notice, match="ctranslate2 is not installed"):
        assert Translator(copy_run).translate("a b") == "a b"
    with pytest.raises(ManyheadsError, match="ctranslate2 is not installed"):
        Translator(copy_run, engine="ctranslate2")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--engine", "ctranslate"], "Did you mean 'ctranslate2'?"),
        (["--precision", "int4"], "Did you mean 'int8'?"),
        (["--engine", "torch", "--precision", "int16"], "the torch engine has no int16"),
        (["--engine", "ctranslate2", "--device", "cuda"], "it is for processors"),
    ],
)
def test_unsupported_options_are_explained(command: Callable[..., Any], copy_run: Path, words: list[str], message: str):
    command("translate", "--model", copy_run, *words, "a b").refuses(message)


def test_torch_translates_with_8_bits_too(copy_run: Path):
    text = "a b c d"
    assert Translator(copy_run, engine="torch", precision="int8").translate(text) == Translator(copy_run).translate(
        text
    )


def test_a_damaged_model_is_told_at_once(copy_run: Path, tmp_path: Path):
    run = without_checksums(shutil.copytree(copy_run, tmp_path / "run"))
    (run / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ManyheadsError, match="the weights are damaged"):
        Translator(run)


def test_evaluate_takes_an_engine(command: Callable[..., Any], copy_run: Path):
    outputs = [command("evaluate", copy_run, "--count", 50, "--engine", one) for one in ("torch", "ctranslate2")]
    assert all(one.code == 0 for one in outputs)
    assert outputs[0].out == outputs[1].out


STARTS_WITHOUT_TORCH = """
import sys
sys.argv = ["manyheads", *sys.argv[1:]]
from manyheads.cli import main
try:
    main()
finally:
    print("torch" in sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("words", [[], ["--engine", "ctranslate2"], ["--n-best", "2", "--prefix", "a"]])
def test_translate_starts_without_torch(copy_run: Path, words: list[str]):
    arguments = ["translate", "--model", str(copy_run), *words, "a b c"]
    done = subprocess.run([sys.executable, "-c", STARTS_WITHOUT_TORCH, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "False\n"
    assert "a b c" in done.stdout
