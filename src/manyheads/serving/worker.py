"""One direction at work: its translator behind a batcher, and its inspector, each loaded when first needed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from manyheads.decoding.translator import Translation, Translator
from manyheads.errors import ManyheadsError
from manyheads.serving.batcher import Batcher
from manyheads.serving.directions import Direction
from manyheads.serving.logs import write
from manyheads.serving.metrics import Meter
from manyheads.serving.options import ServerOptions
from manyheads.serving.refusals import overloaded

if TYPE_CHECKING:
    from manyheads.inspection.inspector import Inspector

Result = TypeVar("Result")
Thing = TypeVar("Thing")
LOOKERS = 16  # requests to look inside that may wait for one model; each takes the whole model for a while


class Worker:
    """Translates in one direction, and looks inside."""

    def __init__(self, direction: Direction, options: ServerOptions, meter: Meter) -> None:
        self.direction = direction
        self._options = options
        self._translator = Lazy(self._open_translator, direction)
        self._inspector = Lazy(self._open_inspector, direction)
        self._batcher = Batcher(
            self._translate,
            most=options.batch_sentences,
            seconds=options.batch_milliseconds / 1000,
            queue_limit=options.queue_limit,
            observe=partial(meter.batch, str(direction)),
        )
        meter.waiting.labels(str(direction)).set_function(lambda: self._batcher.length)
        self._looking = ThreadPoolExecutor(1, thread_name_prefix="looking")
        self._lookers = 0

    async def translate(self, sentences: Sequence[str], *, candidates: int = 1) -> list[Translation]:
        """Translate sentences together with those of others."""
        if not sentences:
            return []
        await self._translator.ready()
        return await self._batcher.translate(sentences, candidates=candidates)

    async def look(self, ask: Callable[[Inspector], Result]) -> Result:
        """Ask the inspector something; one after the other, in a thread of its own."""
        inspector = await self._inspector.ready()
        with self._seat():
            return await asyncio.get_running_loop().run_in_executor(self._looking, ask, inspector)

    async def watch(self, ask: Callable[[Inspector], Iterable[Any]]) -> AsyncIterator[Any]:
        """Yield what the inspector yields, as it comes; stop it when nobody listens any more."""
        inspector = await self._inspector.ready()
        running = asyncio.get_running_loop()
        found: asyncio.Queue[Any] = asyncio.Queue()
        stop = threading.Event()

        def produce() -> None:
            for one in ask(inspector):
                if stop.is_set():
                    return
                running.call_soon_threadsafe(found.put_nowait, one)

        with self._seat():
            done = running.run_in_executor(self._looking, produce)
            done.add_done_callback(lambda _: found.put_nowait(None))
            try:
                while (one := await found.get()) is not None:
                    yield one
                await done  # tell what went wrong, if something did
            finally:
                stop.set()

    @contextmanager
    def _seat(self) -> Iterator[None]:
        """Take one of the places for those who look inside."""
        if self._lookers >= LOOKERS:
            raise overloaded("too many requests to look inside are waiting")
        self._lookers += 1
        try:
            yield
        finally:
            self._lookers -= 1

    async def close(self) -> None:
        """Finish what was begun."""
        await self._batcher.close()
        await asyncio.to_thread(self._looking.shutdown)

    def _open_translator(self) -> Translator:
        """Load the translator."""
        options = self._options
        return Translator(self.direction.run, engine=options.engine, device=options.device, precision=options.precision)

    def _open_inspector(self) -> Inspector:
        """Load the inspector."""
        from manyheads.inspection.inspector import Inspector

        return Inspector(self.direction.run, device=self._options.device)

    def _translate(self, sentences: list[str], candidates: int) -> list[Translation]:
        """Translate a batch (in the batcher's thread)."""
        translator = self._translator.value
        beam = self._options.beam or translator.options.beam
        return translator.translations(
            sentences, n_best=candidates, beam=max(beam, candidates), batch_sentences=self._options.batch_sentences
        )


class Lazy(Generic[Thing]):
    """Something that is loaded when it is first needed, once, in a thread."""

    def __init__(self, load: Callable[[], Thing], direction: Direction) -> None:
        self._load = load
        self._direction = direction
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
                        write("a run cannot be loaded", direction=str(self._direction), error=str(error))
                        raise overloaded(f"the model for {self._direction} cannot be loaded", retry_after=60) from None
                    write("loaded", direction=str(self._direction), what=type(self._value).__name__)
        return self.value
