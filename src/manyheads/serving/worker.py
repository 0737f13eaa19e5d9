"""The translation and inspection of one direction, by a model that several directions may share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from manyheads.decoding.text.splitting import split_to_fit
from manyheads.decoding.translator import Candidate, Translation
from manyheads.documents.split_text import SplitText
from manyheads.serving.batcher import Sentence
from manyheads.serving.directions import Direction
from manyheads.serving.documents import Document, PlainText, Text
from manyheads.serving.long_words import LongWords
from manyheads.serving.options import ServerOptions
from manyheads.serving.run_model import RunModel

if TYPE_CHECKING:
    from manyheads.inspection.inspector import Inspector

Result = TypeVar("Result")
Loaded = TypeVar("Loaded")
CACHED_TRANSLATIONS = 64  # of sentences that were inspected
INSPECTION_SLOTS = 16  # inspection requests that may wait for one model; each occupies the whole model for a while


class Worker:
    """Translates and inspects texts of one direction."""

    def __init__(self, direction: Direction, model: RunModel, options: ServerOptions) -> None:
        self.direction = direction
        self.model = model
        self._options = options
        self.long_words = LongWords(options.word_limit if direction.reads_prose else 0)
        self._cached_tokens: dict[tuple[str, int], list[int]] = {}

    async def sentences(self, text: str) -> list[str]:
        """Return the sentences of a text that the model translates."""
        splitter = (await self.model.translator.load()).splitter
        (document,) = await self.split([PlainText(splitter.with_sentences(text, self.direction.target))])
        is_kept = self.long_words.is_one
        return [one for one in document.sentences if splitter.needs_translation(one) and not is_kept(one)]

    async def split(self, texts: Sequence[Text]) -> list[Document]:
        """Split texts into sentences and long words, in a thread, since long texts take a while."""
        split = await self.splitting()
        return await asyncio.to_thread(lambda: [text.split(split) for text in texts])

    async def splitting(self) -> Callable[[str], SplitText]:
        """Return the function that splits a text into sentences and long words."""
        translator = await self.model.translator.load()
        longest, characters = translator.options.split_above, self._options.sentence_limit

        def split_prose(text: str) -> SplitText:
            """Split a text as the translator does, and sentences above the limit of characters further."""
            parts = translator.splitter.split(text, longest=longest, source=self.direction.source)
            if not characters:
                return parts
            return parts.split_further(lambda sentence: split_to_fit(sentence, lambda part: len(part) <= characters))

        return lambda text: self.long_words.split(text, split_prose)

    async def translate(
        self, sentences: Sequence[str], *, candidates: int = 1, aligned: Sequence[bool] | None = None
    ) -> list[Translation]:
        """Translate sentences, in batches with those of other requests; long words are their own translation.

        Those that are `aligned` come with the attention of the model, if it has one.
        """
        is_kept = [self.long_words.is_one(sentence) for sentence in sentences]
        source, to = (self.direction.source if self.direction.to else None), self.direction.to
        if aligned is None or not (await self.model.translator.load()).engine.aligns:
            aligned = [False] * len(sentences)
        asked = [
            Sentence(one, source, to, needs)
            for one, kept, needs in zip(sentences, is_kept, aligned, strict=True)
            if not kept
        ]
        translated = iter(await self.model.translate(asked, candidates=candidates))
        return [
            Translation(sentence, [Candidate(sentence, 0.0, 0.0, [])]) if kept else next(translated)
            for sentence, kept in zip(sentences, is_kept, strict=True)
        ]

    async def tokens(self, sentence: str, *, candidates: int) -> list[int]:
        """Return the tokens of a sentence's translation; cached, because a client often requests several layers."""
        key = sentence, candidates
        if key not in self._cached_tokens:
            (translation,) = await self.translate([sentence], candidates=candidates)
            if len(self._cached_tokens) >= CACHED_TRANSLATIONS:
                del self._cached_tokens[next(iter(self._cached_tokens))]
            self._cached_tokens[key] = translation.candidates[0].tokens if translation.candidates else []
        return self._cached_tokens[key]

    def beam_width(self, candidates: int) -> int:
        """Return the beam width for this number of candidates; the translator must be loaded."""
        return max(self._options.beam or self.model.translator.value.options.beam, candidates)

    async def inspect(self, call: Callable[[Inspector], Result]) -> Result:
        """Return the result of a function of the inspector, called in the inspection thread."""
        inspector = await self.model.inspector.load()
        with self.model.inspection_slot():
            return await asyncio.get_running_loop().run_in_executor(self.model.inspection_thread, call, inspector)

    async def inspect_stream(self, call: Callable[[Inspector], Iterable[Any]]) -> AsyncIterator[Any]:
        """Yield the items of an iterable of the inspector as they are computed; stop it if the consumer stops."""
        inspector = await self.model.inspector.load()
        loop = asyncio.get_running_loop()
        items: asyncio.Queue[Any] = asyncio.Queue()
        stop = threading.Event()

        def produce() -> None:
            """Put the items into the queue (in the inspection thread)."""
            for item in call(inspector):
                if stop.is_set():
                    return
                loop.call_soon_threadsafe(items.put_nowait, item)

        with self.model.inspection_slot():
            done = loop.run_in_executor(self.model.inspection_thread, produce)
            done.add_done_callback(lambda _: items.put_nowait(None))
            try:
                while (item := await items.get()) is not None:
                    yield item
                await done  # raises the error of the producer, if there was one
            finally:
                stop.set()
