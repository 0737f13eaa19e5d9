"""Whereabouts: people move between places, and the question is where one of them is.

    Mary went to the kitchen. John moved to the garden. Mary travelled to the office.   Where is Mary?   → office

This is similar to bAbI's first task (Weston et al. 2015), with the position of the answer in the context, so it is
extractive question answering. Only the last sentence about the person counts; earlier ones are distractors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from manyheads.data.generated.options import check_range
from manyheads.data.generated.random_examples import Split, collect, pick, random_below, seeded_random, split_of
from manyheads.data.text.records import Example

PEOPLE = ("Mary", "John", "Sandra", "Daniel", "Bill", "Julie", "Fred", "Lisa")
PLACES = ("kitchen", "garden", "office", "bathroom", "hallway", "bedroom", "school", "park", "cinema", "library")
MOVES = ("went to", "moved to", "travelled to", "walked to", "went back to", "journeyed to")


@dataclass(frozen=True)
class Whereabouts:
    """Find the place of a person in a story of `min_moves` to `max_moves` sentences."""

    name: ClassVar[str] = "whereabouts"
    min_moves: int = 2
    max_moves: int = 6

    def __post_init__(self) -> None:
        check_range(self.name, least=("min_moves", self.min_moves), most=("max_moves", self.max_moves), low=1, high=100)

    def examples(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Example]:
        """Return `count` examples of the split; the same arguments give the same examples everywhere."""
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def _proposals(self, split: Split, seed: int) -> Iterator[Example | None]:
        """Yield random examples without end; None for an example of another split."""
        random = seeded_random(self.name, split, seed)
        while True:
            story, places = "", {}
            for _ in range(self.min_moves + random_below(random, self.max_moves - self.min_moves + 1)):
                person, place = pick(random, PEOPLE), pick(random, PLACES)
                story += f"{' ' if story else ''}{person} {pick(random, MOVES)} the "
                places[person] = (place, len(story))
                story += f"{place}."
            person = pick(random, sorted(places))
            place, start = places[person]
            yield Example(f"Where is {person}?", place, story, start) if split_of(story) == split else None
