"""Adds term hints: a source word is followed by its translation in the target, and the model learns to use it.

    Press the <term>key<means>Taste</term>.        Drücken Sie die Taste.

Sometimes the hint and the target have an unrelated word, so that the model learns to follow a hint even if it would
translate otherwise.
"""

from __future__ import annotations

from random import Random

from manyheads.config.symbols import MEANS, TERM, TERM_END
from manyheads.data.lexicons.lexicon import Lexicon
from manyheads.data.modifiers.interface import free_links
from manyheads.data.text.records import Pair

UNRELATED = 0.2  # share of hints with an unrelated word


def with_term_hint(pair: Pair, random: Random, lexicon: Lexicon) -> Pair:
    """Return the pair with a hint for one word of its source."""
    links = free_links(pair, lexicon)
    if not links:
        return pair
    (begin, end), (target_begin, target_end) = random.choice(links)
    term = pair.target[target_begin:target_end]
    if random.random() < UNRELATED:
        term = _capitalised_like(term, _random_translation(lexicon, random))
    source = f"{pair.source[:begin]}{TERM}{pair.source[begin:end]}{MEANS}{term}{TERM_END}{pair.source[end:]}"
    return Pair(source, pair.target[:target_begin] + term + pair.target[target_end:])


def _random_translation(lexicon: Lexicon, random: Random) -> str:
    """Return a random target word."""
    words = lexicon.sources
    return min(lexicon.translations[words[random.randrange(len(words))]])


def _capitalised_like(example: str, word: str) -> str:
    """Return a word, capitalised if the example is."""
    return word.capitalize() if example[:1].isupper() else word
