"""HTML as sentences and back: tags are kept, text is translated.

Tags within a sentence go with their words, where the alignment of the words is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from manyheads.documents.html import Block, as_html, html_blocks, plain
from manyheads.documents.splices import Splice, spliced
from manyheads.documents.split_text import SplitText
from manyheads.documents.tag_placing import has_tags_within, placed
from manyheads.serving.documents import Output


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

    def changed(self, change: Callable[[str], str]) -> Markup:
        """Return this: a function of plain texts does not know the markup."""
        return self

    def split(self, split: Callable[[str], SplitText]) -> Markup:
        """Split each block into sentences by a function."""
        self._splits = [split(plain(block.content)) for block in self._blocks]
        return self

    @property
    def sentences(self) -> list[str]:
        """All sentences in order."""
        return [sentence for split in self._splits for sentence in split.sentences]

    @property
    def have_tags_within(self) -> list[bool]:
        """Whether each sentence has a tag in it."""
        pairs = zip(self._blocks, self._splits, strict=True)
        return [within for block, split in pairs for within in has_tags_within(block.content, split)]

    def fill(self, outputs: Sequence[Output], language: str | None = None) -> str:
        """Return the markup with each sentence replaced by its translation."""
        remaining = iter(outputs)
        return spliced(
            self._markup,
            [
                _rendered(block, split, [next(remaining) for _ in split.sentences], language)
                for block, split in zip(self._blocks, self._splits, strict=True)
            ],
        )


def _rendered(block: Block, split: SplitText, outputs: Sequence[Output], language: str | None) -> Splice:
    """Return a block with its translations."""
    texts, links = [one.text for one in outputs], [one.links for one in outputs]
    return Splice(block.start, block.end, as_html(placed(block.content, split, texts, language, links)))
