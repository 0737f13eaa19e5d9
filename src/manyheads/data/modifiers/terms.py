"""Term hints: a source word is followed by the word that the target has for it, and the model learns to obey.

    Press the <term>key<means>Taste</term>.        Drücken Sie die Taste.

Sometimes the word is another one on both sides, so that obeying pays even against what the model would say itself.
"""

from __future__ import annotations

from random import Random

from manyheads.config.symbols import MEANS, TERM, TERM_END
from manyheads.data.lexicons.lexicon import Lexicon
from manyheads.data.modifiers.interface import free_links
from manyheads.data.text.records import Pair

FOREIGN = 0.2  # share of hints with another word than the corpus has


def with_term_hint(pair: Pair, random: Random, lexicon: Lexicon) -> Pair:
    """Return a pair whose source has a hint about one of its words."""
    links = free_links(pair, lexicon)
    if not links:
        return pair
    (begin, end), (target_begin, target_end) = random.choice(links)
    term = pair.target[target_begin:target_end]
    if random.random() < FOREIGN:
        term = _like(term, _any_translation(lexicon, random))
    source = f"{pair.source[:begin]}{TERM}{pair.source[begin:end]}{MEANS}{term}{TERM_END}{pair.source[end:]}"
    return Pair(source, pair.target[:target_begin] + term + pair.target[target_end:])


def _any_translation(lexicon: Lexicon, random: Random) -> str:
    """Return some target word."""
    words = lexicon.sources
    return min(lexicon.translations[words[random.randrange(len(words))]])


def _like(model: str, word: str) -> str:
    """Return a word with a capital if another has one."""
    return word.capitalize() if model[:1].isupper() else word
