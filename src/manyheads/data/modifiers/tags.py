"""Puts tag symbols around words that translate each other, like the tags of bold text or a link in a document."""

from __future__ import annotations

from random import Random

from manyheads.config.symbols import CLOSINGS, OPENINGS
from manyheads.data.lexicons.lexicon import Lexicon, Link
from manyheads.data.modifiers.interface import free_links
from manyheads.data.text.records import Pair

LONGEST = 3  # words in a tag
MOST = 2  # tags per pair


def with_tags(pair: Pair, random: Random, lexicon: Lexicon) -> Pair:
    """Return a pair with one or two pairs of tag symbols on each side, around words that translate each other."""
    spans = _spans(free_links(pair, lexicon), pair, random)
    chosen = random.sample(spans, min(len(spans), random.randint(1, MOST)))
    numbers = random.sample(range(len(OPENINGS)), len(chosen))
    source, target = pair
    for span, number in sorted(zip((link.source for link in chosen), numbers, strict=True), reverse=True):
        source = _enclosed(source, span, number)
    for span, number in sorted(zip((link.target for link in chosen), numbers, strict=True), reverse=True):
        target = _enclosed(target, span, number)
    return Pair(source, target)


def _spans(links: list[Link], pair: Pair, random: Random) -> list[Link]:
    """Join links that are adjacent in both texts into spans of up to a random number of words."""
    spans: list[Link] = []
    words = 0
    longest = random.randint(1, LONGEST)
    for link in links:
        previous = spans[-1] if spans else None
        if previous and words < longest and _adjacent(previous, link, pair):
            target = min(previous.target[0], link.target[0]), max(previous.target[1], link.target[1])
            spans[-1] = Link((previous.source[0], link.source[1]), target)
            words += 1
        else:
            spans.append(link)
            words = 1
    return spans


def _adjacent(first: Link, second: Link, pair: Pair) -> bool:
    """Return whether there is nothing but white space between two links, on both sides."""
    left, right = sorted((first.target, second.target))
    between = pair.source[first.source[1] : second.source[0]], pair.target[left[1] : right[0]]
    return not any(text.strip() for text in between)


def _enclosed(text: str, span: tuple[int, int], number: int) -> str:
    """Return a text with the symbols of a tag around a span."""
    begin, end = span
    return f"{text[:begin]}{OPENINGS[number]}{text[begin:end]}{CLOSINGS[number]}{text[end:]}"
