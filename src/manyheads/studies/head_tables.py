"""What the measurements of heads say: tables, panels and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from manyheads.studies.conclusion import Cell, Conclusion, Curve, HeatMap, Panel, Table
from manyheads.studies.gold_alignments import gold_corpora
from manyheads.studies.study import Record

OFTEN = 0.5  # of the tokens look most at one place
HABITS = {"-1": "token before", "0": "token itself", "1": "token after", "rare": "rarest token", "end": "end of source"}
STEP_NAMES = {"output": "written", "input": "read"}
NO_HEAD = "none"
PUBLISHED = (
    "published: Michel et al. 2019 switched off 20 % of the heads of a WMT model without notable loss; "
    "Voita et al. 2019 pruned 38 of 48 encoder heads, while training on, for 0.15 BLEU"
)

Records = Mapping[str, Mapping[str, Record]]
"""Records by what was measured, and by its subject."""


@dataclass(frozen=True)
class Choice:
    """A layer, a head (0 is the mean of the layer) and a step, and its error rates by direction."""

    name: str
    rates: Mapping[str, float]

    @property
    def mean(self) -> float:
        """The mean over the directions."""
        return float(np.mean([*self.rates.values()]))

    @property
    def label(self) -> str:
        """The choice in words."""
        place, step = self.name.split()
        layer, head = place.split(":")
        return f"layer {layer}, {'all heads' if head == '0' else f'head {head}'}, {STEP_NAMES[step]}"


def conclusion_of(records: Records) -> Conclusion:
    """Return what follows from all records."""
    choices = _choices(records["alignment"])
    notes = [_note_panel(record) for record in records["note"].values()]
    sentences, numbers = _sentences(choices, records)
    return Conclusion(
        sentences,
        (
            _alignment_table(choices, records["both-directions"]),
            _worth_table(records["without"], records["habits"]),
            _fewer_table(records["fewer"]),
            _note_table(records["note"]),
        ),
        (_alignment_panel(choices), _fewer_panel(records["fewer"]), _similarity_panel(records["habits"]), *notes),
        numbers,
    )


def _sentences(choices: Sequence[Choice], records: Records) -> tuple[tuple[str, str], dict[str, float]]:
    """Return what came out, how certain it is, and the numbers in these sentences."""
    best = min(choices, key=lambda choice: choice.mean)
    usual = [one for one in choices if one.name.endswith(":0 output")][-1]
    gains = {direction: record[best.name] for direction, record in records["alignment"].items()}
    least = min(gains, key=lambda direction: gains[direction]["gain"])
    gain, low, high = (gains[least][name] for name in ("gain", "gain_low", "gain_high"))
    order = records["fewer"]["least-important-first"]
    free, heads = _heads_within(order, points=1.0), len(order["order"])
    sentences = (
        f"The attention that aligns best ({best.label}) has an error rate of {best.mean:.1f} as a mean over "
        f"{len(gains)} directions, that of the last layer where a word is written {usual.mean:.1f}, and {free} of "
        f"{heads} heads can be switched off together, the least important first, for at most one point of BLEU.",
        f"The difference is smallest in {least}: {gain:.1f} points (95 % interval over the sentences: {low:.1f} to "
        f"{high:.1f}).",
    )
    return sentences, {"best": best.mean, "usual": usual.mean, "least_gain": gain, "heads_within_a_point": free}


def _choices(alignment: Mapping[str, Record]) -> list[Choice]:
    """Return every choice of layer, head and step."""
    names = next(iter(alignment.values()))
    return [Choice(name, {direction: one[name]["rate"] for direction, one in alignment.items()}) for name in names]


def _alignment_table(choices: Sequence[Choice], both: Mapping[str, Record]) -> Table:
    """Return the error rates of every choice, those of links that both directions find, and published ones."""
    directions = [*choices[0].rates]
    rows: list[tuple[Cell, ...]] = [(one.label, *one.rates.values(), one.mean) for one in choices]
    mutual = {name: record["rate"] for name, record in both.items()}
    rows.append(("links of both directions, heads of the recipe", *(mutual.get(one) for one in directions), None))
    corpora = gold_corpora()
    for system in dict.fromkeys(name for corpus in corpora.values() for name, _ in corpus.published):
        rates = {name: dict(corpus.published).get(system) for name, corpus in corpora.items()}
        rows.append((f"{system} (published)", *(rates.get(one) for one in directions), None))
    return Table("Alignment error rate", ("attention", *directions, "mean"), tuple(rows))


def _alignment_panel(choices: Sequence[Choice]) -> Panel:
    """Return the error rate of every head at both steps."""
    curves = []
    for step, name in STEP_NAMES.items():
        means = [one.mean for one in choices if one.name.endswith(f" {step}") and ":0 " not in one.name]
        curves.append(Curve(f"where a word is {name}", tuple(float(x + 1) for x in range(len(means))), tuple(means)))
    return Panel("Which head aligns", "head, through all layers", "alignment error rate", tuple(curves))


def _worth_table(without: Mapping[str, Record], habits: Mapping[str, Record]) -> Table:
    """Return what each head looks at, which head is most like it, and what is lost without it."""
    (habit,) = habits.values()
    whole = without[NO_HEAD]
    alike = _most_alike(habit)
    rows: list[tuple[Cell, ...]] = []
    for head, shares in habit["shares"].items():
        place = max(shares, key=lambda name: shares[name])
        often = f"{HABITS[place]} ({shares[place]:.0%})" if shares[place] >= OFTEN else None
        lost = without.get(head)
        losses = (None, None) if lost is None else (lost["loss"] - whole["loss"], lost["bleu"] - whole["bleu"])
        rows.append((head, often, *alike[head], *losses))
    columns = ("head", "half of the tokens look at", "most alike", "correlation", "loss without it", "BLEU without it")
    title = f"Heads alone, beside a loss of {whole['loss']:.3f} and {whole['bleu']:.1f} BLEU with all of them"
    return Table(title, columns, tuple(rows))


def _most_alike(habit: Record) -> dict[str, tuple[str, float]]:
    """Return the most similar head of the same kind for each head, and the correlation of their weights."""
    found: dict[str, tuple[str, float]] = {}
    for kind, matrix in habit["similar"].items():
        heads = [head for head in habit["shares"] if head.split()[0] == kind]
        others = np.array(matrix) - 2.0 * np.eye(len(heads))
        found |= {head: (heads[int(row.argmax())], float(row.max())) for head, row in zip(heads, others, strict=True)}
    return found


def _similarity_panel(habits: Mapping[str, Record]) -> HeatMap:
    """Return how similar the heads of the encoder are."""
    (habit,) = habits.values()
    names = tuple(head.removeprefix("encoder ") for head in habit["shares"] if head.startswith("encoder"))
    values = tuple(map(tuple, habit["similar"]["encoder"]))
    return HeatMap("Heads of the encoder: correlation", "layer:head", "layer:head", values, names, names)


def _fewer_table(fewer: Mapping[str, Record]) -> Table:
    """Return BLEU against the number of heads that are switched off."""
    orders = list(fewer)
    rows = tuple(
        (off, *(record["bleu"][place] for record in fewer.values()))
        for place, off in enumerate(fewer[orders[0]]["off"])
    )
    return Table(
        f"BLEU without heads ({PUBLISHED})", ("heads switched off", *(name.replace("-", " ") for name in orders)), rows
    )


def _fewer_panel(fewer: Mapping[str, Record]) -> Panel:
    """Return the same as lines."""
    curves = [
        Curve(name.replace("-", " "), tuple(map(float, record["off"])), tuple(record["bleu"]))
        for name, record in fewer.items()
    ]
    return Panel("How many heads can go", "heads switched off", "BLEU", tuple(curves))


def _heads_within(record: Record, *, points: float) -> int:
    """Return how many heads can go, in this order, before BLEU is lower by more than some points."""
    whole, most = record["bleu"][0], 0
    for off, score in zip(record["off"], record["bleu"], strict=True):
        if score < whole - points:
            break
        most = off
    return most


def _note_table(notes: Mapping[str, Record]) -> Table:
    """Return which head of the encoder looks most from a word at others, for each sentence of the notes."""
    rows: list[tuple[Cell, ...]] = []
    for record in notes.values():
        words, looks = record["words"], record["looks"]
        for other in record["others"]:
            head = max(looks, key=lambda name: looks[name][other])
            mean = float(np.mean([one[other] for one in looks.values()]))
            sentence = " ".join(words)
            rows.append((sentence, f"{words[record['word']]} → {words[other]}", head, looks[head][other], mean))
    columns = ("sentence", "looks", "head that does most", "its weight", "mean of all heads")
    return Table("Sentences of the notes", columns, tuple(rows))


def _note_panel(record: Record) -> HeatMap:
    """Return how much each head of the encoder looks from the word at every other."""
    words, looks = record["words"], record["looks"]
    return HeatMap(
        f'What "{words[record["word"]]}" looks at',
        record["translation"],
        "head of the encoder",
        tuple(map(tuple, looks.values())),
        tuple(name.removeprefix("encoder ") for name in looks),
        tuple(words),
    )
