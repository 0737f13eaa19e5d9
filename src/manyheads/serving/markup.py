"""HTML as sentences and back: tags are kept, text is translated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from manyheads.documents.html import Block, as_html, html_blocks, plain
from manyheads.documents.splices import Splice, spliced
from manyheads.documents.split_text import SplitText
from manyheads.documents.tag_placing import placed


class Markup:
    """An HTML text, whose sentences can be replaced after `split`."""

    def __init__(self, markup: str) -> None:
        self._markup = markup
        self._blocks = list(html_blocks(markup))
        self._splits: list[SplitText] = [SplitText([], [""]) for _ in self._blocks]

    @property
    def plain(self) -> str:
        """The text without markup."""
        return "\n".join(plain(block.content) for block in self._blocks)

    def split(self, split: Callable[[str], SplitText]) -> Markup:
        """Split each block into sentences by a function."""
        self._splits = [split(plain(block.content)) for block in self._blocks]
        return self

    @property
    def sentences(self) -> list[str]:
        """All sentences in order."""
        return [sentence for split in self._splits for sentence in split.sentences]

    def fill(self, translations: Sequence[str], language: str | None = None) -> str:
        """Return the markup with each sentence replaced by its translation."""
        remaining = iter(translations)
        return spliced(
            self._markup,
            [
                _rendered(block, split, [next(remaining) for _ in split.sentences], language)
                for block, split in zip(self._blocks, self._splits, strict=True)
            ],
        )


def _rendered(block: Block, split: SplitText, translations: Sequence[str], language: str | None) -> Splice:
    """Return a block with its translations."""
    return Splice(block.start, block.end, as_html(placed(block.content, split, translations, language)))
