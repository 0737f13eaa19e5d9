"""Copy symbols in the place of what is not translated: placeholders, URLs, addresses and, to learn it well, names.

Each occurrence gets a symbol of its own. Where one spelling occurs twice, the first of one side is taken for the first
of the other, which makes no difference once the spelling is put back.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from random import Random

from manyheads.config.symbols import COPIES, SYMBOL
from manyheads.data.text.placeholders import Placeholder, placeholders
from manyheads.data.text.records import Pair

NAME = re.compile(r"(?<![^\s(\"'„“«])(?=[^\s]*[A-Z0-9])[A-Za-z][\w-]*[\w](?![^\s).,;:!?\"'”»])", re.ASCII)
MOST_NAMES = 2


def with_copy_symbols(pair: Pair, random: Random) -> Pair:
    """Return both sides with copy symbols for their placeholders, if both sides have the same ones."""
    return _copied(pair, placeholders(pair.source), placeholders(pair.target), random)


def with_names_copied(pair: Pair, random: Random) -> Pair:
    """Return both sides with copy symbols for one or two words that each of them has once, such as names."""
    source, target = ({name.text: name for name in _names(side)} for side in pair)
    both = sorted(source.keys() & target.keys())
    chosen = random.sample(both, min(len(both), random.randint(1, MOST_NAMES)))
    return _copied(pair, [source[name] for name in chosen], [target[name] for name in chosen], random)


def _names(text: str) -> list[Placeholder]:
    """Return the words with capitals or digits that occur once, except for the first word, which has one anyway."""
    words = [Placeholder(word.start(), word.end(), word[0]) for word in NAME.finditer(text) if word.start()]
    counts = Counter(word.text for word in words)
    return [word for word in words if counts[word.text] == 1 and text.count(word.text) == 1]


def _copied(pair: Pair, source: Sequence[Placeholder], target: Sequence[Placeholder], random: Random) -> Pair:
    """Return both sides with a symbol for each span, if the spans of both have the same texts."""
    texts = [span.text for span in source]
    same = sorted(texts) == sorted(span.text for span in target)
    if not texts or not same or len(texts) > len(COPIES) or any(map(SYMBOL.search, pair)):
        return pair
    symbols = _drawn(len(texts), random)
    waiting: dict[str, deque[str]] = defaultdict(deque)
    for text, symbol in zip(texts, symbols, strict=True):
        waiting[text].append(symbol)
    other = [waiting[span.text].popleft() for span in target]
    return Pair(replaced(pair.source, source, symbols), replaced(pair.target, target, other))


def _drawn(count: int, random: Random) -> list[str]:
    """Return different symbols: in half of the cases the first ones in order, otherwise any."""
    return list(COPIES[:count]) if random.random() < 0.5 else random.sample(COPIES, count)


def replaced(text: str, spans: Sequence[Placeholder], replacements: Sequence[str]) -> str:
    """Return a text with each span replaced."""
    for span, replacement in sorted(zip(spans, replacements, strict=True), reverse=True):
        text = text[: span.start] + replacement + text[span.end :]
    return text
