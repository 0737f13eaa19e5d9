"""One direction at work: its translator behind a batcher, and its inspector, each loaded when first needed.

Directions of the same run share both.
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
from manyheads.decoding.translator import Translation, Translator
from manyheads.errors import ManyheadsError
from manyheads.serving.batcher import Batcher
from manyheads.serving.directions import Direction
from manyheads.serving.documents import Document, PlainText, Text
from manyheads.serving.logs import write
from manyheads.serving.metrics import Meter
from manyheads.serving.options import ServerOptions
from manyheads.serving.refusals import overloaded

if TYPE_CHECKING:
    from manyheads.inspection.inspector import Inspector

Result = TypeVar("Result")
Thing = TypeVar("Thing")
REMEMBERED = 64  # translations that were looked into
LOOKERS = 16  # requests to look inside that may wait for one model; each takes the whole model for a while


class Model:
    """A run's translator and inspector, and one thread for looking inside."""

    def __init__(self, run: Path, options: ServerOptions) -> None:
        computing = {"engine": options.engine, "device": options.device, "precision": options.precision}
        self.translator = Lazy(lambda: Translator(run, **computing), run)
        self.inspector = Lazy(lambda: _inspector(run, options.device), run)
        self.looking = ThreadPoolExecutor(1, thread_name_prefix="looking")
        self.turn = threading.Lock()  # one batch at a time, whatever its direction
        self._lookers = 0

    @contextmanager
    def seat(self) -> Iterator[None]:
        """Take one of the places for those who look inside."""
        if self._lookers >= LOOKERS:
            raise overloaded("too many requests to look inside are waiting")
        self._lookers += 1
        try:
            yield
        finally:
            self._lookers -= 1


def _inspector(run: Path, device: str) -> Inspector:
    """Load the inspector."""
    from manyheads.inspection.inspector import Inspector

    return Inspector(run, device=device)


class Worker:
    """Translates in one direction, and looks inside."""

    def __init__(self, direction: Direction, model: Model, options: ServerOptions, meter: Meter) -> None:
        self.direction = direction
        self.model = model
        self._options = options
        self._batcher = Batcher(
            self._translate,
            most=options.batch_sentences,
            seconds=options.batch_milliseconds / 1000,
            queue_limit=options.queue_limit,
            observe=partial(meter.batch, str(direction)),
        )
        self._looked_at: dict[tuple[str, int], list[int]] = {}
        meter.waiting.labels(str(direction)).set_function(lambda: self._batcher.length)

    async def sentences(self, text: str) -> list[str]:
        """Return the sentences of a text that the model translates."""
        (document,) = await self.take_apart([PlainText(text)])
        splitter = self.model.translator.value.splitter
        return [one for one in document.sentences if splitter.needs_translation(one)]

    async def take_apart(self, texts: Sequence[Text]) -> list[Document]:
        """Find the sentences of texts, in a thread: long ones take a while."""
        translator = await self.model.translator.ready()
        longest, characters = translator.options.split_above, self._options.sentence_limit

        def outline(text: str) -> SplitText:
            """Take one text apart as the translator does."""
            found = translator.splitter.split(text, longest=longest, source=self.direction.source)
            return (
                found.split_further(lambda one: split_to_fit(one, lambda part: len(part) <= characters))
                if characters
                else found
            )

        return await asyncio.to_thread(lambda: [text.taken_apart(outline) for text in texts])

    async def translate(self, sentences: Sequence[str], *, candidates: int = 1) -> list[Translation]:
        """Translate sentences together with those of others."""
        if not sentences:
            return []
        await self.model.translator.ready()
        return await self._batcher.translate(sentences, candidates=candidates)

    async def tokens(self, sentence: str, *, candidates: int) -> list[int]:
        """Return the tokens of a sentence's translation; whoever looks at one layer after the other waits once."""
        asked = sentence, candidates
        if asked not in self._looked_at:
            (found,) = await self.translate([sentence], candidates=candidates)
            if len(self._looked_at) >= REMEMBERED:
                del self._looked_at[next(iter(self._looked_at))]
            self._looked_at[asked] = found.candidates[0].tokens if found.candidates else []
        return self._looked_at[asked]

    def beam(self, candidates: int) -> int:
        """Return how wide the beam is for this number of candidates, once the translator is loaded."""
        return max(self._options.beam or self.model.translator.value.options.beam, candidates)

    async def look(self, ask: Callable[[Inspector], Result]) -> Result:
        """Ask the inspector something; one after the other, in a thread of its own."""
        inspector = await self.model.inspector.ready()
        with self.model.seat():
            return await asyncio.get_running_loop().run_in_executor(self.model.looking, ask, inspector)

    async def watch(self, ask: Callable[[Inspector], Iterable[Any]]) -> AsyncIterator[Any]:
        """Yield what the inspector yields, as it comes; stop it when nobody listens any more."""
        inspector = await self.model.inspector.ready()
        running = asyncio.get_running_loop()
        found: asyncio.Queue[Any] = asyncio.Queue()
        stop = threading.Event()

        def produce() -> None:
            for one in ask(inspector):
                if stop.is_set():
                    return
                running.call_soon_threadsafe(found.put_nowait, one)

        with self.model.seat():
            done = running.run_in_executor(self.model.looking, produce)
            done.add_done_callback(lambda _: found.put_nowait(None))
            try:
                while (one := await found.get()) is not None:
                    yield one
                await done  # tell what went wrong, if something did
            finally:
                stop.set()

    async def close(self) -> None:
        """Finish what was begun."""
        await self._batcher.close()
        await asyncio.to_thread(self.model.looking.shutdown)

    def _translate(self, sentences: list[str], candidates: int) -> list[Translation]:
        """Translate a batch (in the batcher's thread)."""
        translator = self.model.translator.value
        with self.model.turn:
            return translator.translations(
                sentences,
                to=self.direction.to,
                source=self.direction.source if self.direction.to else None,
                n_best=candidates,
                beam=self.beam(candidates),
                batch_sentences=self._options.batch_sentences,
                split_above=0,  # these are sentences already
            )


class Lazy(Generic[Thing]):
    """Something that is loaded when it is first needed, once, in a thread."""

    def __init__(self, load: Callable[[], Thing], run: Path) -> None:
        self._load = load
        self._run = run
        self._lock = asyncio.Lock()
        self._value: Thing | None = None

    @property
    def value(self) -> Thing:
        """What was loaded."""
        assert self._value is not None
        return self._value

    async def ready(self) -> Thing:
        """Return it, loading it the first time; where that fails the server is at fault, not the request."""
        if self._value is None:
            async with self._lock:
                if self._value is None:
                    try:
                        self._value = await asyncio.to_thread(self._load)
                    except ManyheadsError as error:
                        write("a run cannot be loaded", run=str(self._run), error=str(error))
                        raise overloaded("the model for this direction cannot be loaded", retry_after=60) from None
                    write("loaded", run=str(self._run), what=type(self._value).__name__)
        return self.value
