"""Tag symbols around words that translate each other, as bold type or a link stands around them in a document."""

from __future__ import annotations

from random import Random

from manyheads.config.symbols import CLOSINGS, OPENINGS
from manyheads.data.lexicons.lexicon import Lexicon, Link
from manyheads.data.modifiers.interface import free_links
from manyheads.data.text.records import Pair

LONGEST = 3  # words inside a tag
MOST = 2  # tags in a pair


def with_tags(pair: Pair, random: Random, lexicon: Lexicon) -> Pair:
    """Return a pair with a pair of tag symbols, or two of them, around words of which each side's are known."""
    spans = _spans(free_links(pair, lexicon), pair, random)
    chosen = random.sample(spans, min(len(spans), random.randint(1, MOST)))
    numbers = random.sample(range(len(OPENINGS)), len(chosen))
    source, target = pair
    for place, number in sorted(zip((one.source for one in chosen), numbers, strict=True), reverse=True):
        source = _enclosed(source, place, number)
    for place, number in sorted(zip((one.target for one in chosen), numbers, strict=True), reverse=True):
        target = _enclosed(target, place, number)
    return Pair(source, target)


def _spans(links: list[Link], pair: Pair, random: Random) -> list[Link]:
    """Join neighbouring links to spans of up to a drawn number of words, side by side in both texts."""
    spans: list[Link] = []
    words = 0
    longest = random.randint(1, LONGEST)
    for link in links:
        before = spans[-1] if spans else None
        if before and words < longest and _adjacent(before, link, pair):
            target = min(before.target[0], link.target[0]), max(before.target[1], link.target[1])
            spans[-1] = Link((before.source[0], link.source[1]), target)
            words += 1
        else:
            spans.append(link)
            words = 1
    return spans


def _adjacent(one: Link, other: Link, pair: Pair) -> bool:
    """Whether nothing but white space stands between two links, on both sides."""
    first, second = sorted((one.target, other.target))
    between = pair.source[one.source[1] : other.source[0]], pair.target[first[1] : second[0]]
    return not any(text.strip() for text in between)


def _enclosed(text: str, place: tuple[int, int], number: int) -> str:
    """Return a text with the symbols of a tag around a place."""
    begin, end = place
    return f"{text[:begin]}{OPENINGS[number]}{text[begin:end]}{CLOSINGS[number]}{text[end:]}"
