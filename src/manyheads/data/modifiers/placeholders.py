"""Replaces what is not translated by copy symbols: placeholders, URLs, addresses and, for more training data, names.

Each occurrence gets its own symbol. If a text occurs twice, the first occurrence on one side is matched with the first
on the other, which makes no difference once the symbols are replaced by the text again.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from random import Random

from manyheads.config.symbols import COPIES, SYMBOL
from manyheads.data.text.records import Pair
from manyheads.documents.placeholders import Placeholder, placeholders

NAME = re.compile(r"(?<![^\s(\"'„“«])(?=[^\s]*[A-Z0-9])[A-Za-z][\w-]*[\w](?![^\s).,;:!?\"'”»])", re.ASCII)
MOST_NAMES = 2


def with_copy_symbols(pair: Pair, random: Random) -> Pair:
    """Return both sides with copy symbols for their placeholders, if both sides have the same placeholders."""
    return _with_symbols(pair, placeholders(pair.source), placeholders(pair.target), random)


def with_names_copied(pair: Pair, random: Random) -> Pair:
    """Return both sides with copy symbols for one or two words, such as names, that occur once on each side."""
    source, target = ({name.text: name for name in _names(side)} for side in pair)
    both = sorted(source.keys() & target.keys())
    chosen = random.sample(both, min(len(both), random.randint(1, MOST_NAMES)))
    return _with_symbols(pair, [source[name] for name in chosen], [target[name] for name in chosen], random)


def _names(text: str) -> list[Placeholder]:
    """Return the words with capitals or digits that occur once, except the first word, which is always capitalised."""
    words = [Placeholder(word.start(), word.end(), word[0]) for word in NAME.finditer(text) if word.start()]
    counts = Counter(word.text for word in words)
    return [word for word in words if counts[word.text] == 1 and text.count(word.text) == 1]


def _with_symbols(pair: Pair, source: Sequence[Placeholder], target: Sequence[Placeholder], random: Random) -> Pair:
    """Return both sides with a symbol for each span, if the spans have the same texts on both sides."""
    texts = [span.text for span in source]
    same = sorted(texts) == sorted(span.text for span in target)
    if not texts or not same or len(texts) > len(COPIES) or any(map(SYMBOL.search, pair)):
        return pair
    symbols = _random_symbols(len(texts), random)
    symbols_of: dict[str, deque[str]] = defaultdict(deque)
    for text, symbol in zip(texts, symbols, strict=True):
        symbols_of[text].append(symbol)
    target_symbols = [symbols_of[span.text].popleft() for span in target]
    return Pair(replaced(pair.source, source, symbols), replaced(pair.target, target, target_symbols))


def _random_symbols(count: int, random: Random) -> list[str]:
    """Return distinct symbols: in half of the cases the first ones in order, otherwise random ones."""
    return list(COPIES[:count]) if random.random() < 0.5 else random.sample(COPIES, count)


def replaced(text: str, spans: Sequence[Placeholder], replacements: Sequence[str]) -> str:
    """Return a text with each span replaced."""
    for span, replacement in sorted(zip(spans, replacements, strict=True), reverse=True):
        text = text[: span.start] + replacement + text[span.end :]
    return text
