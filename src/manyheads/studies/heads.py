"""What do the heads of a translator do, and which of them can go?

Alignment: the error rate of each head against gold alignments, at the step that writes a word and at the one that reads
it (Chen et al. 2020). Worth: what is lost when a head is switched off, and how many can go (Michel et al. 2019, Voita
et al. 2019). Habits: which heads look at a neighbour, at the rarest word or at the end, and which are alike. And the
sentences of the notes: what "it", "bank", "with" and "chased" look at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from manyheads.config.corpora import CorpusSettings
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.files import resolve
from manyheads.data.text.records import Pair
from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.studies.conclusion import Conclusion
from manyheads.studies.forced import Forced
from manyheads.studies.gold_alignments import GoldCorpus, GoldPair, first_pairs, gold_corpora
from manyheads.studies.head_measures import (
    alignment_record,
    bleu,
    fewer_record,
    habits_record,
    heads_of,
    least_important_first,
    loss,
    mutual_rate,
    note_record,
    without,
)
from manyheads.studies.head_tables import conclusion_of
from manyheads.studies.study import Item, Measured, Record, Study

MODEL = "tatoeba"
CUT = "data:tatoeba-cut"  # of `manyheads data cut recipes/cuts/tatoeba.yaml`
FROM, TO = "de", "en"  # of the translations that are scored
OFF = (0, 1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 36)  # heads
SEED = 1
KNOWN = 50_000  # pairs whose sources tell how rare a word is
What = Literal["alignment", "both-directions", "without", "habits", "fewer", "note"]


@dataclass(frozen=True)
class Note:
    """A sentence of the notes, a word in it, and the words that it may look at."""

    sentence: str
    word: str
    others: tuple[str, ...]


NOTES = {
    "it-animal": Note("The animal didn't cross the street because it was too tired.", "it", ("animal", "tired.")),
    "it-street": Note("The animal didn't cross the street because it was too wide.", "it", ("street", "wide.")),
    "bank-river": Note("He sat on the bank of the river.", "bank", ("sat", "river.")),
    "bank-money": Note("He put the money into the bank.", "bank.", ("put", "money")),
    "telescope": Note("I saw the man with a telescope.", "with", ("saw", "man", "telescope.")),
    "dog": Note("The dog that barked at the cat chased the mouse.", "chased", ("dog", "cat", "mouse.")),
}


@dataclass(frozen=True)
class HeadItem(Item):
    """A measurement: `subject` is a direction, a head, an order of heads or a sentence, by what is measured."""

    what: What
    subject: str
    sentences: int | None = None
    model: str = MODEL

    @property
    def key(self) -> str:
        """The name of the item."""
        return f"{self.what}-{self.subject}".replace(" ", "-").replace(":", "-")


class Heads(Study[HeadItem]):
    """The study of heads."""

    name: ClassVar[str] = "heads"
    question: ClassVar[str] = "What do the heads of a translator do, and which of them can go?"
    seconds: ClassVar[float] = 600
    quick_seconds: ClassVar[float] = 45

    def items(self, *, quick: bool) -> Sequence[HeadItem]:
        """Return all measurements; the small grid has fewer sentences, and switches off heads of the decoder only."""
        gold, held_out = (20, 20) if quick else (None, 500)
        heads = [str(head) for head in heads_of(_forced(MODEL)) if not quick or head.kind == "cross"]
        return [
            *(HeadItem("alignment", direction, gold) for direction in _directions()),
            *(HeadItem("both-directions", pair, gold) for pair in gold_corpora()),
            HeadItem("habits", f"{FROM}-{TO}", held_out),
            *(HeadItem("without", head, held_out) for head in ("none", *heads)),
            *(HeadItem("fewer", order, held_out) for order in ("least-important-first", "at-random")),
            *(HeadItem("note", name) for name in NOTES),
        ]

    def measure(self, item: HeadItem, folder: Path) -> Record:
        """Return what was measured."""
        forced = _forced(item.model)
        match item.what:
            case "alignment":
                pairs = _directions()[item.subject](item.sentences)
                return alignment_record(forced, pairs, item.subject.split("-")[1])
            case "both-directions":
                corpus = gold_corpora()[item.subject]
                pairs = first_pairs(corpus, item.sentences)
                return {"rate": mutual_rate(forced, pairs, corpus.source_language, corpus.target_language)}
            case "habits":
                known = [pair.source for pair in _pairs("train", KNOWN)]
                return habits_record(forced, _pairs("test", item.sentences), known, TO)
            case "without":
                return _worth(forced, item)
            case "fewer":
                return _fewer(forced, item)
            case "note":
                note = NOTES[item.subject]
                return note_record(forced, note.sentence, note.word, note.others, "de")

    def conclude(self, measured: Sequence[Measured[HeadItem]]) -> Conclusion:
        """Return what follows."""
        records: dict[str, dict[str, Record]] = {}
        for one in measured:
            records.setdefault(one.item.what, {})[one.item.subject] = one.record
        return conclusion_of(records)


@cache
def _forced(model: str) -> Forced:
    """Return the translator, which is opened once."""
    return Forced(Translator(model, engine="torch", device="cpu"))


def _directions() -> dict[str, Callable[[int | None], list[GoldPair]]]:
    """Return what reads the first pairs of the gold alignments, by direction; each corpus is read both ways."""
    readers: dict[str, Callable[[int | None], list[GoldPair]]] = {}
    for corpus in gold_corpora().values():
        source, target = corpus.source_language, corpus.target_language
        readers[f"{source}-{target}"] = partial(first_pairs, corpus)
        readers[f"{target}-{source}"] = partial(_reversed_pairs, corpus)
    return readers


def _reversed_pairs(corpus: GoldCorpus, count: int | None) -> list[GoldPair]:
    """Return the first pairs of a corpus in the other direction."""
    return [pair.reversed() for pair in first_pairs(corpus, count)]


def _pairs(split: Literal["train", "valid", "test"], count: int | None) -> list[Pair]:
    """Return the first pairs of a part of the cut that the model was trained on, in the direction that is scored."""
    file = f"{CUT}/{split}.en-de.tsv.gz"
    if not resolve(file).exists():
        raise ManyheadsError(
            "the sentences that the model was not trained on are missing.",
            where=str(resolve(file)),
            cure=f"Cut them off with: manyheads data cut recipes/cuts/tatoeba.yaml --out {resolve(CUT)}",
        )
    settings = CorpusSettings(pairs=file, source_column=1, target_column=0)
    return list(islice(open_corpus(settings, split=split).pairs(), count))


def _worth(forced: Forced, item: HeadItem) -> Record:
    """Return the loss on validation data and BLEU on test data without a head, or with all."""
    off = [head for head in heads_of(forced) if str(head) == item.subject]
    with without(forced, off):
        return {
            "loss": loss(forced, _pairs("valid", item.sentences), TO),
            "bleu": bleu(forced, _pairs("test", item.sentences), TO),
        }


def _fewer(forced: Forced, item: HeadItem) -> Record:
    """Return BLEU on test data without more and more heads; their order is found on validation data."""
    if item.subject == "at-random":
        heads = heads_of(forced)
        order = [heads[number] for number in np.random.default_rng(SEED).permutation(len(heads))]
    else:
        order = least_important_first(forced, _pairs("valid", item.sentences), TO)
    counts = [count for count in OFF if count < len(order)] + [len(order)]
    return fewer_record(forced, order, counts, _pairs("test", item.sentences), TO)
