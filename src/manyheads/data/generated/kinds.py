"""Kinds: `We looked at the heron all day.` is about an animal.

Nouns of eight kinds stand in the same sentences, and the split belongs to the noun: no noun of the test was ever seen
in training. What a heron is cannot be learned from the examples, so a model that was trained on nothing else can only
guess, and one that has read a lot before can know. With `pairs`, two sentences are given and the question is whether
their nouns are of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from manyheads.data.generated.drawing import Split, collect, pick, source_of_chance, split_of
from manyheads.data.generated.options import option_error
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

TRAIN = 0.6  # share of the nouns that are trained on: many must be left to be new

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
    """Say of what kind the noun in a sentence is, or whether two are of the same."""

    name: ClassVar[str] = "kinds"
    pairs: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.pairs, bool):
            raise option_error(self.name, "pairs", f"{self.pairs!r} will not do.", "Give true or false.")

    def examples(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Example]:
        """Return `count` examples of the split; the same arguments give the same examples everywhere."""
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def _proposals(self, split: Split, seed: int) -> Iterator[Example]:
        random = source_of_chance(self.name, split, seed)
        known = {
            kind: [noun for noun in nouns.split() if split_of(noun, train=TRAIN) == split]
            for kind, nouns in NOUNS.items()
        }
        kinds = [kind for kind, nouns in known.items() if nouns]
        while True:
            yield self._pair(random, known, kinds) if self.pairs else self._single(random, known, kinds)

    def _single(self, random: Random, known: dict[str, list[str]], kinds: list[str]) -> Example:
        kind = pick(random, kinds)
        return Example(_sentence(random, known[kind]), kind)

    def _pair(self, random: Random, known: dict[str, list[str]], kinds: list[str]) -> Example:
        one = pick(random, kinds)
        other = one if random.random() < 0.5 else pick(random, [kind for kind in kinds if kind != one])
        texts = _sentence(random, known[one]), _sentence(random, known[other])
        return Example(texts[0], "same" if one == other else "different", texts[1])


def _sentence(random: Random, nouns: list[str]) -> str:
    return pick(random, SENTENCES).format(pick(random, nouns))
