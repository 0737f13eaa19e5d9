"""The translation and inspection of one direction.

The translator has a batcher, and both the translator and the inspector are loaded on first use. Directions of the same
run share them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from manyheads.decoding.text.sentences import SplitText
from manyheads.decoding.text.splitting import split_to_fit
from manyheads.decoding.translator import Candidate, Translation, Translator
from manyheads.errors import ManyheadsError
from manyheads.serving.api_errors import overloaded
from manyheads.serving.batcher import Batcher
from manyheads.serving.directions import Direction
from manyheads.serving.documents import Document, PlainText, Text
from manyheads.serving.logs import log_event
from manyheads.serving.long_words import LongWords
from manyheads.serving.metrics import ServerMetrics
from manyheads.serving.options import ServerOptions

if TYPE_CHECKING:
    from manyheads.inspection.inspector import Inspector

Result = TypeVar("Result")
Loaded = TypeVar("Loaded")
CACHED_TRANSLATIONS = 64  # of sentences that were inspected
INSPECTION_SLOTS = 16  # inspection requests that may wait for one model; each occupies the whole model for a while


class RunModel:
    """A run's translator and inspector, and the thread of its inspector."""

    def __init__(self, run: Path, options: ServerOptions) -> None:
        engine_options = {"engine": options.engine, "device": options.device, "precision": options.precision}
        self.translator = Lazy(lambda: Translator(run, **engine_options), run)
        self.inspector = Lazy(lambda: _load_inspector(run, options.device), run)
        self.inspection_thread = ThreadPoolExecutor(1, thread_name_prefix="inspecting")
        self.lock = threading.Lock()  # held for each batch, so that directions of the same run take turns
        self._inspections = 0

    @contextmanager
    def inspection_slot(self) -> Iterator[None]:
        """Occupy one of the inspection slots for the length of the block."""
        if self._inspections >= INSPECTION_SLOTS:
            raise overloaded("too many requests to look inside are waiting")
        self._inspections += 1
        try:
            yield
        finally:
            self._inspections -= 1


def _load_inspector(run: Path, device: str) -> Inspector:
    """Load the inspector of a run."""
    from manyheads.inspection.inspector import Inspector

    return Inspector(run, device=device)


class Worker:
    """Translates and inspects texts of one direction."""

    def __init__(self, direction: Direction, model: RunModel, options: ServerOptions, metrics: ServerMetrics) -> None:
        self.direction = direction
        self.model = model
        self._options = options
        self._batcher = Batcher(
            self._translate_batch,
            batch_size=options.batch_sentences,
            wait_seconds=options.batch_milliseconds / 1000,
            queue_limit=options.queue_limit,
            batch_tokens=options.batch_tokens,
            count_tokens=lambda sentence: len(model.translator.value.tokenizers.source.encode(sentence)),
            observe=partial(metrics.record_batch, str(direction)),
        )
        self.long_words = LongWords(options.word_limit if direction.reads_prose else 0)
        self._cached_tokens: dict[tuple[str, int], list[int]] = {}
        metrics.waiting.labels(str(direction)).set_function(lambda: self.waiting)

    @property
    def waiting(self) -> int:
        """The number of sentences that wait for the model."""
        return self._batcher.length

    async def sentences(self, text: str) -> list[str]:
        """Return the sentences of a text that the model translates."""
        (document,) = await self.split([PlainText(text)])
        splitter, is_kept = self.model.translator.value.splitter, self.long_words.is_one
        return [one for one in document.sentences if splitter.needs_translation(one) and not is_kept(one)]

    async def split(self, texts: Sequence[Text]) -> list[Document]:
        """Split texts into sentences and long words, in a thread, since long texts take a while."""
        translator = await self.model.translator.load()
        longest, characters = translator.options.split_above, self._options.sentence_limit

        def split_prose(text: str) -> SplitText:
            """Split a text as the translator does, and sentences above the limit of characters further."""
            parts = translator.splitter.split(text, longest=longest, source=self.direction.source)
            if not characters:
                return parts
            return parts.split_further(lambda sentence: split_to_fit(sentence, lambda part: len(part) <= characters))

        def split_text(text: str) -> SplitText:
            """Split one text."""
            return self.long_words.split(text, split_prose)

        return await asyncio.to_thread(lambda: [text.split(split_text) for text in texts])

    async def translate(self, sentences: Sequence[str], *, candidates: int = 1) -> list[Translation]:
        """Translate sentences, in batches with those of other requests; long words are their own translation."""
        is_kept = [self.long_words.is_one(sentence) for sentence in sentences]
        asked = [sentence for sentence, kept in zip(sentences, is_kept, strict=True) if not kept]
        if asked:
            await self.model.translator.load()
        translated = iter(await self._batcher.translate(asked, candidates=candidates) if asked else ())
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

    async def close(self) -> None:
        """Finish pending work."""
        await self._batcher.close()
        await asyncio.to_thread(self.model.inspection_thread.shutdown)

    def _translate_batch(self, sentences: list[str], candidates: int) -> list[Translation]:
        """Translate a batch (in the batcher's thread)."""
        translator = self.model.translator.value
        with self.model.lock:
            return translator.translations(
                sentences,
                to=self.direction.to,
                source=self.direction.source if self.direction.to else None,
                n_best=candidates,
                beam=self.beam_width(candidates),
                batch_sentences=self._options.batch_sentences,
                split_above=0,  # the texts are split already
            )


class Lazy(Generic[Loaded]):
    """An object that is loaded on first use, once, in a thread."""

    def __init__(self, load: Callable[[], Loaded], run: Path) -> None:
        self._load = load
        self._run = run
        self._lock = asyncio.Lock()
        self._value: Loaded | None = None

    @property
    def value(self) -> Loaded:
        """The object, which must be loaded already."""
        assert self._value is not None
        return self._value

    async def load(self) -> Loaded:
        """Return the object, and load it the first time; a failure is an error of the server, not of the request."""
        if self._value is None:
            async with self._lock:
                if self._value is None:
                    try:
                        self._value = await asyncio.to_thread(self._load)
                    except ManyheadsError as error:
                        log_event("a run cannot be loaded", run=str(self._run), error=str(error))
                        raise overloaded("the model for this direction cannot be loaded", retry_after=60) from None
                    log_event("loaded", run=str(self._run), what=type(self._value).__name__)
        return self.value
