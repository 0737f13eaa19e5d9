"""Words that are too long to be translated, and are left as they are: a model would take long for useless output.

What is a word depends on the script. Chinese, Japanese, Thai and some others write no spaces between words, so a
paragraph may have none. It is translated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from manyheads.decoding.text.sentences import stripped
from manyheads.documents.split_text import Span, SplitText

_WITHOUT_SPACES = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Burmese
    "\u1780-\u17ff\u19e0-\u19ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf\uaa80-\uaadf"  # Tai scripts
    "\u1b00-\u1b7f\ua980-\ua9df\uaa00-\uaa5f"  # Balinese, Javanese, Cham
    "\u2e80-\u312f\u31a0-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"  # Chinese, Japanese, Yi, and their punctuation
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[^\s{_WITHOUT_SPACES}]++")
SHOWN = 20  # characters of a long word in a note


@dataclass(frozen=True)
class LongWords:
    """The words of more than `limit` characters; 0 is no limit."""

    limit: int

    def split(self, text: str, split: Callable[[str], SplitText]) -> SplitText:
        """Split a text into its long words, and what a function makes of the text between them."""
        spans = list(self._spans(text))
        if not spans:
            return split(text)
        between = SplitText.from_spans(text, spans)
        return between.split_further(lambda part: SplitText([part], ["", ""]) if self.is_one(part) else split(part))

    def is_one(self, part: str) -> bool:
        """Return whether a part of a text is a long word."""
        return bool(self.limit) and len(part) > self.limit and _WORD.fullmatch(part) is not None

    def notes(self, parts: Sequence[str]) -> list[str]:
        """Return a sentence on the long words among the parts of a text, if there are any."""
        found = [part for part in parts if self.is_one(part)]
        if not found:
            return []
        more = f", and {len(found) - 1:,} more" if len(found) > 1 else ""
        return [
            f"Left untranslated, because it has more than {self.limit:,} characters without a space: "
            f"{found[0][:SHOWN]}…{more}"
        ]

    def _spans(self, text: str) -> Iterator[Span]:
        """Yield the spans of long words, and of the text between them; nothing if there are no long words."""
        end = 0
        long = [word.span() for word in _WORD.finditer(text) if self.is_one(word[0])]
        for start, stop in [*long, (len(text), len(text))] if long else []:
            between = stripped(text, end, start)
            yield from (span for span in (between, (start, stop)) if span[0] < span[1])
            end = stop
