"""Kinds of nouns: the label of `We looked at the heron all day.` is `animal`.

Nouns of eight kinds occur in the same sentences, and the split is by noun: no noun of the test split occurs in the
training split. What a heron is cannot be learned from the examples. So a model trained on nothing else can only guess,
while a pretrained model may have learned it. With `pairs`, an example has two sentences, and the label is whether their
nouns are of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from manyheads.data.generated.options import option_error
from manyheads.data.generated.random_examples import Split, collect, pick, seeded_random, split_of
from manyheads.data.text.records import Example

NOUNS = {
    "animal": (
        "dog cat horse cow sheep goat pig rabbit lion tiger elephant bear wolf fox deer mouse rat squirrel "
        "eagle sparrow owl duck swan heron salmon shark whale dolphin frog snake lizard turtle spider beetle "
        "ant bee"
    ),
    "food": (
        "bread cheese butter rice pasta soup salad steak sausage pancake cookie cake pie chocolate honey "
        "yogurt omelette sandwich burger pizza noodles stew curry pudding jam cereal bacon ham muffin biscuit "
        "dumpling toast"
    ),
    "clothing": (
        "shirt trousers skirt dress coat jacket sweater scarf hat cap glove sock shoe boot sandal belt tie "
        "vest blouse jeans shorts pyjamas cardigan hoodie raincoat gown apron mitten slipper sneaker bonnet "
        "waistcoat"
    ),
    "vehicle": (
        "car bus truck van bicycle motorcycle train tram ferry ship boat yacht canoe airplane helicopter "
        "glider taxi ambulance tractor scooter submarine limousine minivan locomotive trolley jeep lorry "
        "sedan kayak rocket"
    ),
    "plant": (
        "oak pine birch maple willow elm tulip rose daisy lily orchid sunflower fern moss ivy cactus bamboo "
        "clover lavender poppy violet dandelion nettle thistle shrub hedge palm cedar spruce magnolia jasmine "
        "juniper"
    ),
    "instrument": (
        "piano guitar violin cello flute trumpet trombone drum harp clarinet saxophone oboe accordion banjo "
        "harmonica mandolin tuba bassoon ukulele organ xylophone viola lute fiddle bagpipe tambourine cymbal "
        "bugle"
    ),
    "furniture": (
        "table chair sofa bed desk shelf wardrobe cupboard bench stool couch armchair dresser bookcase "
        "cabinet mattress cradle sideboard nightstand ottoman recliner bunk hammock futon footstool workbench "
        "drawer"
    ),
    "profession": (
        "doctor nurse teacher lawyer baker butcher carpenter plumber farmer pilot soldier judge dentist "
        "tailor painter engineer waiter barber journalist librarian architect surgeon electrician accountant "
        "gardener firefighter cashier chemist blacksmith mechanic secretary"
    ),
}

TRAIN = 0.6  # share of the nouns in the training split; the others must be numerous enough to test on

SENTENCES = (
    "We talked about the {} for a long time.",
    "There was a picture of a {} on the wall.",
    "Yesterday I saw a {} near the river.",
    "My sister dreamed of a {} last night.",
    "Nobody had noticed the {} before.",
    "She wrote a short story about a {}.",
    "The word on the card was {}.",
    "He pointed at the {} and smiled.",
    "In the end they forgot the {}.",
    "Have you ever thought about a {}?",
)


@dataclass(frozen=True)
class Kinds:
    """Classify the noun in a sentence by its kind, or two sentences by whether their nouns are of the same kind."""

    name: ClassVar[str] = "kinds"
    pairs: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.pairs, bool):
            raise option_error(self.name, "pairs", f"{self.pairs!r} is not valid.", "Give true or false.")

    def examples(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Example]:
        """Return `count` examples of the split; the same arguments give the same examples everywhere."""
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def _proposals(self, split: Split, seed: int) -> Iterator[Example]:
        """Yield random examples without end."""
        random = seeded_random(self.name, split, seed)
        known = {
            kind: [noun for noun in nouns.split() if split_of(noun, train=TRAIN) == split]
            for kind, nouns in NOUNS.items()
        }
        kinds = [kind for kind, nouns in known.items() if nouns]
        while True:
            yield self._pair(random, known, kinds) if self.pairs else self._single(random, known, kinds)

    def _single(self, random: Random, known: dict[str, list[str]], kinds: list[str]) -> Example:
        """Return a sentence, labelled with the kind of its noun."""
        kind = pick(random, kinds)
        return Example(_sentence(random, known[kind]), kind)

    def _pair(self, random: Random, known: dict[str, list[str]], kinds: list[str]) -> Example:
        """Return two sentences, labelled with whether their nouns are of the same kind."""
        first = pick(random, kinds)
        second = first if random.random() < 0.5 else pick(random, [kind for kind in kinds if kind != first])
        texts = _sentence(random, known[first]), _sentence(random, known[second])
        return Example(texts[0], "same" if first == second else "different", texts[1])


def _sentence(random: Random, nouns: list[str]) -> str:
    """Return a random sentence with one of the nouns."""
    return pick(random, SENTENCES).format(pick(random, nouns))
