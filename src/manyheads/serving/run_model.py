"""A run that is served: its translator with the queue of its sentences, and its inspector.

Directions of the same run share them, so sentences in different languages are translated in the same batches.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from manyheads.decoding.translator import Translation, Translator
from manyheads.errors import ManyheadsError
from manyheads.extras import MissingPackageError, naming_extras
from manyheads.serving.api_errors import overloaded
from manyheads.serving.batcher import MOST_AT_ONCE, Batcher, Sentence
from manyheads.serving.directions import Direction
from manyheads.serving.logs import log_event
from manyheads.serving.metrics import ServerMetrics
from manyheads.serving.options import ServerOptions

if TYPE_CHECKING:
    from manyheads.inspection.inspector import Inspector

Loaded = TypeVar("Loaded")
INSPECTION_SLOTS = 16  # inspection requests that may wait for one model; each occupies the whole model for a while


class RunModel:
    """A run's translator and inspector, loaded on first use, and their threads."""

    def __init__(self, directions: Sequence[Direction], options: ServerOptions, metrics: ServerMetrics) -> None:
        """All directions are of the same run."""
        run = directions[0].run
        engine_options = {"engine": options.engine, "device": options.device, "precision": options.precision}
        self.translator = Lazy(lambda: Translator(run, **engine_options), run)
        self.inspector = Lazy(lambda: _load_inspector(run, options.device), run)
        self.inspection_thread = ThreadPoolExecutor(1, thread_name_prefix="inspecting")
        self._inspections = 0
        self._options = options
        self._metrics = metrics
        self._names = {(one.source if one.to else None, one.to): str(one) for one in directions}
        self._label = ",".join(map(str, directions))
        self.batcher = Batcher(
            self._translate_batch,
            batch_size=options.batch_sentences,
            wait_seconds=options.batch_milliseconds / 1000,
            queue_limit=options.queue_limit,
            batch_tokens=options.batch_tokens,
            count_tokens=lambda text: len(self.translator.value.tokenizers.source.encode(text)),
            at_once=lambda: min(MOST_AT_ONCE, self.translator.value.engine.calls_at_once),
            observe=self._record,
        )
        metrics.waiting.labels(self._label).set_function(lambda: self.batcher.length)

    async def translate(self, sentences: Sequence[Sentence], *, candidates: int) -> list[Translation]:
        """Translate sentences, in batches with those of other requests and directions."""
        if not sentences:
            return []
        await self.translator.load()
        return await self.batcher.translate(sentences, candidates=candidates)

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

    async def close(self) -> None:
        """Finish pending work."""
        await self.batcher.close()
        await asyncio.to_thread(self.inspection_thread.shutdown)

    def _translate_batch(self, sentences: list[Sentence], candidates: int) -> list[Translation]:
        """Translate a batch (in a thread of the batcher)."""
        translator = self.translator.value
        return translator.translate_sentences(
            [one.text for one in sentences],
            sources=[one.source for one in sentences],
            targets=[one.to for one in sentences],
            n_best=candidates,
            alignments=sentences[0].aligned,
            beam=max(self._options.beam or translator.options.beam, candidates),
            batch_sentences=self._options.batch_sentences,
        )

    def _record(self, sentences: Sequence[Sentence], seconds: float) -> None:
        """Count a batch, and the sentences of each direction in it."""
        counts = Counter(self._names[one.source, one.to] for one in sentences)
        self._metrics.record_batch(self._label, counts, seconds)


def _load_inspector(run: Path, device: str) -> Inspector:
    """Load the inspector of a run."""
    with naming_extras("looking inside"):
        from manyheads.inspection.inspector import Inspector

    return Inspector(run, device=device)


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
                    except MissingPackageError:
                        raise
                    except ManyheadsError as error:
                        log_event("a run cannot be loaded", run=str(self._run), error=str(error))
                        raise overloaded("the model for this direction cannot be loaded", retry_after=60) from None
                    log_event("loaded", run=str(self._run), what=type(self._value).__name__)
        return self.value
