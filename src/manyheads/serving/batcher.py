"""Translates sentences of several clients together in batches.

A sentence waits a few milliseconds for others to fill its batch; while the model is busy, further sentences queue up.
An engine with several workers computes two batches at once, so that no worker waits while another finishes its part of
a batch, or while results are delivered. A long text is queued one batch at a time, so that sentences of other clients
are translated in between. A batch that is being computed cannot be stopped, so its tokens are limited too: a client
that has disconnected keeps the model from others only for the length of one batch.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from manyheads.decoding.translator import Translation
from manyheads.serving.api_errors import overloaded, too_large

MOST_AT_ONCE = 2  # batches: one is computed while the other is finished, delivered or prepared


class Sentence(NamedTuple):
    """A sentence, its language and the one to translate it into; None where the run has only one.

    `aligned` asks for the attention of its translation, which takes longer.
    """

    text: str
    source: str | None = None
    to: str | None = None
    aligned: bool = False


TranslateBatch = Callable[[list[Sentence], int], list[Translation]]
"""Called with the sentences of a batch, all or none of them aligned, and the number of candidates for each."""


@dataclass(frozen=True)
class QueuedSentence:
    """A sentence in the queue, and the future of its translation."""

    sentence: Sentence
    tokens: int
    candidates: int
    result: asyncio.Future[Translation]
    since: float = field(default_factory=time.monotonic)

    @property
    def kind(self) -> tuple[int, bool]:
        """What the sentences of a batch have in common."""
        return self.candidates, self.sentence.aligned


class Batcher:
    """Queues sentences and translates them in batches, oldest first."""

    def __init__(
        self,
        translate_batch: TranslateBatch,
        *,
        batch_size: int,
        wait_seconds: float,
        queue_limit: int,
        batch_tokens: int | None = None,
        count_tokens: Callable[[str], int] = len,
        at_once: Callable[[], int] = lambda: 1,
        observe: Callable[[Sequence[Sentence], float], None] = lambda sentences, seconds: None,
    ) -> None:
        """A batch has at most `batch_size` sentences and `batch_tokens` tokens, or one sentence.

        `at_once` returns how many batches may be computed at the same time; `observe` is called after each batch with
        its sentences and its time in seconds.
        """
        self._translate_batch = translate_batch
        self._batch_size = batch_size
        self._wait_seconds = wait_seconds
        self._queue_limit = queue_limit
        self._batch_tokens = batch_tokens
        self._count_tokens = count_tokens
        self._at_once = at_once
        self._observe = observe
        self._queue: deque[QueuedSentence] = deque()
        self._not_queued = 0  # sentences of long texts that are accepted, but not in the queue yet
        self._wake = asyncio.Event()
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="translating")
        self._task: asyncio.Task[None] | None = None
        self._computing: set[asyncio.Task[None]] = set()
        self._closing = False
        self._seconds_per_sentence = 0.01  # a moving average

    @property
    def length(self) -> int:
        """The number of waiting sentences."""
        return len(self._queue) + self._not_queued

    async def translate(self, sentences: Sequence[Sentence], *, candidates: int = 1) -> list[Translation]:
        """Return the translations of sentences in order; raise an error if too many sentences are waiting."""
        self._check_capacity(len(sentences))
        not_queued = len(sentences)
        self._not_queued += not_queued
        translations: list[Translation] = []
        try:
            for batch in self._portions(sentences):
                not_queued -= len(batch)
                self._not_queued -= len(batch)
                translations += await self._queue_and_wait(batch, candidates)
            return translations
        finally:
            self._not_queued -= not_queued
            self._wake.set()

    def _portions(self, sentences: Sequence[Sentence]) -> Iterator[list[tuple[Sentence, int]]]:
        """Yield sentences with their numbers of tokens, as many as fit into one batch at a time."""
        portion: list[tuple[Sentence, int]] = []
        tokens = 0
        for sentence in sentences:
            count = self._count_tokens(sentence.text)
            if portion and not self._fits(len(portion), tokens + count):
                yield portion
                portion, tokens = [], 0
            portion.append((sentence, count))
            tokens += count
        if portion:
            yield portion

    def _fits(self, sentences: int, tokens: int) -> bool:
        """Return whether one more sentence fits beside this number of sentences, with which it has `tokens` tokens."""
        return sentences < self._batch_size and (self._batch_tokens is None or tokens <= self._batch_tokens)

    async def _queue_and_wait(self, sentences: Sequence[tuple[Sentence, int]], candidates: int) -> list[Translation]:
        """Queue sentences that fit into one batch, and return their translations."""
        loop = asyncio.get_running_loop()
        queued = [QueuedSentence(one, tokens, candidates, loop.create_future()) for one, tokens in sentences]
        self._queue.extend(queued)
        self._wake.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await asyncio.gather(*(item.result for item in queued))  # cancelling it cancels the futures in the queue

    def _check_capacity(self, count: int) -> None:
        """Raise an error if this number of sentences would make the queue too long."""
        if count > self._queue_limit:
            raise too_large(count, self._queue_limit, of="sentences")
        if self._closing:
            raise overloaded("the server is stopping")
        if self.length + count > self._queue_limit:
            seconds = min(60, max(1, round(self.length * self._seconds_per_sentence)))
            raise overloaded("too many sentences are waiting", retry_after=seconds)

    async def close(self) -> None:
        """Translate what is queued, and accept nothing more."""
        self._closing = True
        self._wake.set()
        if self._task is not None:
            await self._task
        self._threads.shutdown()

    async def _run(self) -> None:
        """Translate batches until the batcher is closed, the queue is empty and every batch is delivered."""
        while not self._closing or self.length or self._computing:
            if not self._queue or len(self._computing) >= self._at_once():
                self._wake.clear()
                await self._wake.wait()
                continue
            await self._wait_for_batch()
            if batch := self._next_batch():
                computing = asyncio.create_task(self._compute(batch))
                self._computing.add(computing)
                computing.add_done_callback(self._finish)

    async def _compute(self, batch: list[QueuedSentence]) -> None:
        """Translate a batch in a thread, and deliver its results."""
        began = time.monotonic()
        results = await asyncio.get_running_loop().run_in_executor(self._threads, self._results, batch)
        self._deliver(batch, results)
        self._record_time([item.sentence for item in batch], time.monotonic() - began)

    def _finish(self, computing: asyncio.Task[None]) -> None:
        """Make room for the next batch."""
        self._computing.discard(computing)
        self._wake.set()

    async def _wait_for_batch(self) -> None:
        """Wait until the batch is full, or its oldest sentence has waited long enough."""
        deadline = self._queue[0].since + self._wait_seconds
        while not (self._is_full() or self._closing) and (left := deadline - time.monotonic()) > 0:
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), left)
            except TimeoutError:
                return

    def _is_full(self) -> bool:
        """Return whether the waiting sentences fill a batch."""
        return self.length >= self._batch_size or not self._fits(0, sum(item.tokens for item in self._queue))

    def _next_batch(self) -> list[QueuedSentence]:
        """Remove the next batch from the queue: the oldest sentences of the same kind as the oldest.

        Sentences whose client has disconnected are dropped.
        """
        batch: list[QueuedSentence] = []
        others: list[QueuedSentence] = []
        tokens = 0
        while self._queue and len(batch) < self._batch_size:
            item = self._queue.popleft()
            if item.result.done():
                continue
            if batch and item.kind != batch[0].kind:
                others.append(item)
            elif not batch or self._fits(len(batch), tokens + item.tokens):
                batch.append(item)
                tokens += item.tokens
            else:
                others.append(item)
                break
        self._queue.extendleft(reversed(others))
        return batch

    def _results(self, batch: list[QueuedSentence]) -> list[Translation | Exception]:
        """Translate a batch (in the thread). If it fails, translate each sentence alone, so that only one fails."""
        try:
            return list(self._translate_batch([item.sentence for item in batch], batch[0].candidates))
        except Exception as error:
            return [error] if len(batch) == 1 else [self._results([item])[0] for item in batch]

    @staticmethod
    def _deliver(batch: list[QueuedSentence], results: list[Translation | Exception]) -> None:
        """Set the results of all futures that are not cancelled."""
        for item, result in zip(batch, results, strict=True):
            if item.result.done():
                continue
            if isinstance(result, Exception):
                item.result.set_exception(result)
            else:
                item.result.set_result(result)

    def _record_time(self, sentences: Sequence[Sentence], seconds: float) -> None:
        """Update the average time per sentence, and report the batch."""
        each = seconds / len(sentences) / self._at_once()
        self._seconds_per_sentence = 0.8 * self._seconds_per_sentence + 0.2 * each
        self._observe(sentences, seconds)
