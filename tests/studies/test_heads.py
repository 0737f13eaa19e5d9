"""The study of heads: gold files, forced attention, a small grid, and whether the recipe names the heads that align."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from manyheads import ManyheadsError, Translator
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.text.records import Pair
from manyheads.inspection.alignment import align
from manyheads.inspection.inspector import Inspector
from manyheads.metrics.alignment_error import GoldLinks
from manyheads.runs.folder import RunFolder
from manyheads.studies.bench import run_study
from manyheads.studies.forced import Forced, word_tokens
from manyheads.studies.gold_alignments import gold_corpora, read_links
from manyheads.studies.head_measures import Head, bleu, heads_of, loss, without
from manyheads.studies.heads import HeadItem, Heads

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "benchmarks" / "results" / "studies" / "heads.json"
GERMAN, ENGLISH = "ich habe das buch gestern gelesen .", "i read the book yesterday ."
FRENCH, CHINESE = "je suis fatigué .", "我 很 累 。"
PAIRS = [("Ich bin müde.", "I am tired."), ("Das Buch ist gut.", "The book is good."), ("Er kommt.", "He is coming.")]


def write(file: Path, lines: Sequence[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wt", encoding="utf-8") as opened:
        opened.writelines(f"{line}\n" for line in lines)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of public data that has two aligned sentences of each language, and a cut of three pairs."""
    folder = tmp_path / "data"
    gold = folder / "alignment"
    write(gold / "bicici_deen.test.de.gz", [f"\ufeff{GERMAN}", GERMAN])
    write(gold / "bicici_deen.test.en.gz", [ENGLISH, ENGLISH])
    write(gold / "bicici_deen.de-en.ref.wa.gz", ["1 0 0 S", "1 1 1 P", "1 3 3 S", "", "2 6 5 S"])
    for name, source, target in (("enfr", "i am tired .", FRENCH), ("zhen", CHINESE, "i am tired .")):
        write(gold / f"{name}.src-tgt.gz", [f"{source}   ||| {target}  "] * 2)
        write(gold / f"{name}.gold.gz", ["1-1 2p3 4-4", ""])
    for split in ("train", "valid", "test"):
        write(folder / "tatoeba-cut" / f"{split}.en-de.tsv.gz", [f"{english}\t{german}" for german, english in PAIRS])
    monkeypatch.setenv("MANYHEADS_DATA", str(folder))
    return folder


@pytest.fixture(scope="module")
def forced() -> Forced:
    return Forced(Translator("tatoeba", engine="torch", device="cpu"))


def test_gold_files_of_both_forms_are_read(data):
    german, french = (gold_corpora()[name].read() for name in ("de-en", "en-fr"))
    assert [pair.source for pair in german] == [GERMAN.split()] * 2
    assert [pair.links for pair in german] == [
        GoldLinks(frozenset({(0, 0), (3, 3)}), frozenset({(1, 1)})),
        GoldLinks(frozenset({(6, 5)}), frozenset()),
    ]
    assert french[0].target == FRENCH.split()
    assert [pair.links for pair in french] == [
        GoldLinks(frozenset({(0, 0), (3, 3)}), frozenset({(1, 2)})),
        GoldLinks(frozenset(), frozenset()),
    ]


@pytest.mark.parametrize("word", ["1", "0-1", "1-0", "1+2", "a-b"])
def test_what_is_not_a_link_is_named(word):
    with pytest.raises(ManyheadsError, match=r"gold:7: .* is not a link"):
        read_links(f"1-1 {word}", "gold:7")


@pytest.mark.parametrize(
    ("what", "subject", "message"),
    [
        ("alignment", "de-en", "this gold alignment is missing. It is from https"),
        ("without", "none", "not trained on are missing. Cut them off with: manyheads data cut"),
    ],
)
def test_missing_data_gets_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what, subject, message):
    monkeypatch.setenv("MANYHEADS_DATA", str(tmp_path))
    with pytest.raises(ManyheadsError, match=message):
        Heads().measure(HeadItem(what, subject), tmp_path)


def test_files_that_do_not_belong_together_are_refused(data: Path):
    write(data / "alignment" / "enfr.gold.gz", ["1-1"])
    with pytest.raises(ManyheadsError, match="enfr: these files have 2 and 1 sentences"):
        gold_corpora()["en-fr"].read()
    write(data / "alignment" / "bicici_deen.de-en.ref.wa.gz", ["3 0 0 S"])
    with pytest.raises(ManyheadsError, match=r"ref\.wa\.gz:1: '3 0 0 S' is not a link"):
        gold_corpora()["de-en"].read()


@pytest.mark.parametrize("step", ["output", "input"])
def test_forced_attention_is_what_the_inspector_aligns_by(forced: Forced, step):
    source, target = "Ich habe das Buch gelesen.", "I read the book."
    seen = Inspector("tatoeba", device="cpu").everything(source, target=target, to="en")
    (ours,) = forced.look([(source.split(), target.split())], to="en")
    weights = ours.aligned(step=["output", "input"].index(step))
    for layer, head in ((1, 4), (2, 2)):
        theirs = align(seen, [(layer, head)], step=step).word_weights()
        assert np.allclose(weights[layer - 1, head - 1], theirs[:, ours.tags :], atol=1e-5)


def test_batches_change_nothing(forced: Forced):
    pairs = [(german.split(), english.split()) for german, english in PAIRS]
    together = forced.look(pairs, to="en")
    for pair, one in zip(pairs, together, strict=True):
        (alone,) = forced.look([pair], to="en")
        for kind, weights in alone.weights.items():
            assert np.allclose(weights, one.weights[kind], atol=1e-5)


@pytest.mark.parametrize("text", [GERMAN, FRENCH, CHINESE])
def test_each_token_belongs_to_a_word(forced: Forced, text):
    tokenizer = forced.translator.tokenizers.source
    found = word_tokens(text.split(), tokenizer)
    assert found.ids == tokenizer.encode(text)
    spelled = [
        tokenizer.decode([token for token, owner in zip(found.ids, found.owners, strict=True) if owner == number])
        for number in range(found.words)
    ]
    assert spelled == text.split()
    assert (found.membership().sum(axis=0) == 1).all()


def test_heads_are_switched_off_in_scores_and_in_translations(forced: Forced):
    pairs = [Pair(*pair) for pair in PAIRS]
    whole = loss(forced, pairs, "en")
    scores = forced.translator.score(*zip(*PAIRS, strict=True), to="en")
    assert whole == pytest.approx(-sum(map(sum, scores)) / sum(map(len, scores)))
    with without(forced, heads_of(forced)):
        assert loss(forced, pairs, "en") > whole
        assert bleu(forced, pairs, "en") < 5.0
    with without(forced, [Head("cross", 2, 1), Head("cross", 2, 3), Head("encoder", 1, 1)]):
        parts = dict(forced.engine.model.named_modules())
        assert parts["decoder.layers.1.cross_attention"].switched_off == {0, 2}
        assert parts["encoder.layers.0.attention"].switched_off == {0}
    assert loss(forced, pairs, "en") == whole


class FewHeads(Heads):
    """The same study with one head that is switched off, and one sentence of the notes."""

    def items(self, *, quick: bool) -> Sequence[HeadItem]:
        kept = ("none", "cross 1:4", "least-important-first", "it-animal")
        whole = super().items(quick=quick)
        return [one for one in whole if one.what not in ("without", "fewer", "note") or one.subject in kept]


def test_the_small_grid_gives_a_report_that_can_be_read(data, tmp_path: Path):
    result = run_study(FewHeads(), quick=True, out=tmp_path / "out", tell=lambda _: None)
    alignment, alone, fewer, notes = result.conclusion.tables
    assert [row[0] for row in alignment.rows if "published" in str(row[0])]
    assert len(alone.rows) == 24 + 8 + 8
    assert [row[0] for row in alone.rows if row[4] is not None] == ["cross 1:4"]
    assert fewer.rows[-1][0] == 40
    assert [row[1] for row in notes.rows] == ["it → animal", "it → tired."]
    assert {file.name for file in (tmp_path / "out").iterdir()} >= {"result.json", "table.md", "figure.png"}
    records = {entry.item["what"]: entry.record for entry in result.entries}
    for matrix in records["habits"]["similar"].values():
        similar = np.array(matrix)
        assert np.allclose(similar, similar.T) and np.allclose(np.diag(similar), 1.0, atol=1e-3)


def chosen_name() -> str:
    """Return what the shipped model's recipe names, as the study calls it."""
    chosen = RunFolder.open("tatoeba").recipe_for(TranslationRecipe).decoding.alignment
    assert chosen.heads and len(chosen.heads) == 1
    return f"{chosen.layer}:{chosen.heads[0]} {chosen.step}"


@pytest.mark.skipif(
    not (Path(os.environ.get("MANYHEADS_DATA", "data")) / "alignment").exists(), reason="there are no gold alignments"
)
@pytest.mark.parametrize("direction", ["de-en", "en-fr", "zh-en"])
def test_the_recipe_names_the_heads_that_align_best(tmp_path: Path, direction):
    record = Heads().measure(HeadItem("alignment", direction, 20), tmp_path)
    rates = {name: one["rate"] for name, one in record.items()}
    assert min(rates, key=lambda name: rates[name]) == chosen_name()
    best = record[chosen_name()]
    assert best["gain"] == pytest.approx(rates["2:0 output"] - best["rate"])
    assert best["gain_low"] > 0.0


def test_the_recorded_study_found_them_ten_points_better_in_every_direction():
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    entries = [one for one in recorded["entries"] if one["item"]["what"] == "alignment"]
    assert len(entries) == 6
    for entry in entries:
        rates = {name: one["rate"] for name, one in entry["record"].items()}
        assert min(rates, key=lambda name: rates[name]) == chosen_name()
        assert rates["2:0 output"] - rates[chosen_name()] >= 10.0
    page = (ROOT / "docs" / "inspection.md").read_text(encoding="utf-8")
    numbers = recorded["conclusion"]["numbers"]
    assert f"{numbers['best']:.1f} on\naverage" in page and f"output step has {numbers['usual']:.1f}" in page
