"""What is measured of the heads of a translator: how they align, what they look at, and what is lost without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyheads.attention.switching import switch_off
from manyheads.data.text.records import Pair
from manyheads.inspection.kinds import KINDS, Kind
from manyheads.inspection.views import Array
from manyheads.metrics.alignment_error import link_counts
from manyheads.metrics.scores import OverlapOptions, measure
from manyheads.studies.forced import Forced, Seen
from manyheads.studies.gold_alignments import GoldPair
from manyheads.studies.statistics import Estimate, Floats, bootstrapped

STEPS = ("output", "input")
OFFSETS = (-1, 0, 1)
ALL_HEADS = 0  # in place of the number of a head: the mean of its layer


@dataclass(frozen=True, order=True)
class Head:
    """A head, counted from 1, in a layer, counted from 1, of one kind of attention."""

    kind: Kind
    layer: int
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.layer}:{self.number}"


def heads_of(forced: Forced) -> list[Head]:
    """Return all heads of a translator."""
    parts = dict(forced.engine.model.named_modules())
    return [
        Head(kind, layer, number)
        for kind in KINDS
        for layer, name in enumerate(forced.names[kind], start=1)
        for number in range(1, parts[name].heads + 1)
    ]


# --- Alignment -------------------------------------------------------------------------------------------------------


def alignment_record(forced: Forced, pairs: Sequence[GoldPair], target: str) -> dict[str, dict[str, float]]:
    """Return the alignment error rate by layer, head and step, such as '1:4 input'; head 0 is the mean of the layer.

    With it come its interval, and how far it is below that of the last layer's mean at the step that writes a token,
    over the same sentences.
    """
    seen = forced.look([(pair.source, pair.target) for pair in pairs], to=target)
    counts: dict[str, Floats] = {}
    for step, name in enumerate(STEPS):
        aligned = [one.aligned(step=step) for one in seen]
        layers, heads = aligned[0].shape[:2]
        for layer in range(layers):
            for head in range(heads + 1):
                chosen = [one[layer].mean(axis=0) if head == ALL_HEADS else one[layer, head - 1] for one in aligned]
                counts[f"{layer + 1}:{head} {name}"] = sentence_counts(chosen, pairs)
    usual = counts[f"{layers}:{ALL_HEADS} output"]
    return {name: _with_interval(some, usual) for name, some in counts.items()}


def sentence_counts(aligned: Sequence[Array], pairs: Sequence[GoldPair]) -> Floats:
    """Return |A ∩ S| + |A ∩ P| and |A| + |S| of each pair [N, 2]; each target word has one link."""
    links = [{(int(source), target) for target, source in enumerate(one.argmax(axis=1))} for one in aligned]
    return np.array([link_counts(one, pair.links) for one, pair in zip(links, pairs, strict=True)], dtype=np.float64)


def mutual_rate(forced: Forced, pairs: Sequence[GoldPair], source: str, target: str) -> float:
    """Return the error rate of the links that both directions find for each other, by the product of their weights.

    The weights are those of the heads that the model's recipe names.
    """
    there = forced.look([(pair.source, pair.target) for pair in pairs], to=target)
    back = forced.look([(pair.target, pair.source) for pair in pairs], to=source)
    counts = []
    for one, other, pair in zip(there, back, pairs, strict=True):
        product = own_weights(forced, one) * own_weights(forced, other).T
        best, best_back = product.argmax(axis=1), product.argmax(axis=0)
        links = {(int(place), number) for number, place in enumerate(best) if best_back[place] == number}
        counts.append(link_counts(links, pair.links))
    return error_rate(np.array(counts, dtype=np.float64))


def own_weights(forced: Forced, seen: Seen) -> Array:
    """Return the weights [target words, source words] of the heads that the model's recipe names."""
    layers, heads = seen.weights["cross"].shape[:2]
    own = forced.engine.alignment.resolved(layers=layers, heads=heads)
    weights: Array = seen.aligned(step=STEPS.index(own.step))[own.layer, list(own.heads)].mean(axis=0)
    return weights


def error_rate(counts: Floats) -> float:
    """Return the alignment error rate, in percent, of counts by sentence [N, 2]."""
    right, total = counts.sum(axis=0)
    return float(100.0 * (1.0 - right / total)) if total else 0.0


def _with_interval(counts: Floats, usual: Floats) -> dict[str, float]:
    """Return an error rate and how far it is below another one, each with its interval over the sentences."""
    rate = bootstrapped(error_rate, counts)
    gain = bootstrapped(lambda rows: error_rate(rows[:, 2:]) - error_rate(rows[:, :2]), np.hstack((counts, usual)))
    return {**_as_numbers("rate", rate), **_as_numbers("gain", gain)}


def _as_numbers(name: str, estimate: Estimate) -> dict[str, float]:
    """Return an estimate as numbers of a record."""
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


# --- Habits ----------------------------------------------------------------------------------------------------------


def habits_record(forced: Forced, pairs: Sequence[Pair], known: Sequence[str], target: str) -> dict[str, object]:
    """Return what each head looks at most, as shares of all tokens that look, and how similar the heads are.

    Shares are of the token before, the token itself and the token after (self-attention), of the end of the source, and
    of the rarest token of the source, by its frequency in the texts that are known.
    """
    seen = forced.look([(pair.source.split(), pair.target.split()) for pair in pairs], to=target)
    tokenizer = forced.translator.tokenizers.source
    frequency = Counter(token for row in tokenizer.encode_all(known) for token in row)
    return {
        "shares": {str(head): _shares(head, seen, frequency) for head in heads_of(forced)},
        "similar": {kind: _similarity([one.weights[kind] for one in seen]).tolist() for kind in KINDS},
    }


def _shares(head: Head, seen: Sequence[Seen], frequency: Mapping[int, int]) -> dict[str, float]:
    """Return how often a head looks most at each of a few places."""
    found: Counter[str] = Counter()
    for one in seen:
        looked_at = one.weights[head.kind][head.layer - 1, head.number - 1].argmax(axis=-1)
        found["all"] += len(looked_at)
        if head.kind != "cross":
            distance = looked_at - np.arange(len(looked_at))
            found.update({str(offset): int((distance == offset).sum()) for offset in OFFSETS})
        if head.kind != "decoder":
            rare = one.tags + int(np.argmin([frequency.get(token, 0) for token in one.source.ids]))
            found.update({"rare": int((looked_at == rare).sum())})
            found.update({"end": int((looked_at == one.tags + len(one.source.ids)).sum())})
    return {name: count / found["all"] for name, count in found.items() if name != "all"}


def _similarity(weights: Sequence[Array]) -> NDArray[np.float64]:
    """Return the correlation of the weights of any two heads [L·H, L·H], as a mean over sentences."""
    total = np.zeros((weights[0].shape[0] * weights[0].shape[1],) * 2)
    for one in weights:
        layers, heads, queries, keys = one.shape
        # What no head may look at would make all of them alike.
        possible = one.max(axis=(0, 1)) > 0.0
        total += np.corrcoef(one.reshape(layers * heads, queries, keys)[:, possible])
    similarity: NDArray[np.float64] = np.round(total / len(weights), 4)
    return similarity


def note_record(forced: Forced, sentence: str, word: str, others: Sequence[str], target: str) -> dict[str, object]:
    """Return how much each head of the encoder looks from one word of a sentence at others, and its translation."""
    translation = forced.translator.translate(sentence, to=target)
    words = sentence.split()
    (seen,) = forced.look([(words, translation.split())], to=target)
    membership, tags = seen.source.membership(), seen.tags
    inside = slice(tags, tags + len(seen.source.ids))
    rows = membership @ seen.weights["encoder"][:, :, inside, inside] / membership.sum(axis=1)[:, None]
    looks = (rows @ membership.T)[:, :, words.index(word)]  # [L, H, words]
    return {
        "translation": translation,
        "words": words,
        "looks": {
            str(head): looks[head.layer - 1, head.number - 1].tolist()
            for head in heads_of(forced)
            if head.kind == "encoder"
        },
        "others": [words.index(other) for other in others],
        "word": words.index(word),
    }


# --- Worth -----------------------------------------------------------------------------------------------------------


@contextmanager
def without(forced: Forced, heads: Sequence[Head]) -> Iterator[None]:
    """Switch heads off during the block."""
    chosen: dict[str, list[int]] = {}
    for head in heads:
        chosen.setdefault(forced.names[head.kind][head.layer - 1], []).append(head.number)
    with switch_off(forced.engine.model, chosen):
        yield


def loss(forced: Forced, pairs: Sequence[Pair], target: str) -> float:
    """Return the cross-entropy of given translations, per token."""
    scores = forced.translator.score([pair.source for pair in pairs], [pair.target for pair in pairs], to=target)
    return -sum(map(sum, scores)) / sum(map(len, scores))


def bleu(forced: Forced, pairs: Sequence[Pair], target: str) -> float:
    """Return BLEU of greedy translations."""
    outputs = forced.translator.translate([pair.source for pair in pairs], to=target, beam=1)
    return measure("bleu", outputs, [[pair.target] for pair in pairs], OverlapOptions()).value


def least_important_first(forced: Forced, pairs: Sequence[Pair], target: str) -> list[Head]:
    """Return all heads by what the loss gains when they are switched off one at a time."""
    worth = {}
    for head in heads_of(forced):
        with without(forced, [head]):
            worth[head] = loss(forced, pairs, target)
    return sorted(worth, key=lambda head: worth[head])


def fewer_record(
    forced: Forced, order: Sequence[Head], counts: Sequence[int], pairs: Sequence[Pair], target: str
) -> dict[str, object]:
    """Return BLEU without the first heads of an order, for several numbers of them."""
    scores = []
    for count in counts:
        with without(forced, order[:count]):
            scores.append(bleu(forced, pairs, target))
    return {"order": [str(head) for head in order], "off": [*counts], "bleu": scores}
