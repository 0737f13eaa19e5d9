"""Sentences of many clients, translated together.

A sentence waits a few milliseconds for others; while the model is busy they gather by themselves. One thread works for
each model, so a model never has two batches at once, and answers go back to whoever asked. A long text comes batch by
batch, each behind what others have asked for meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from manyheads.decoding.translator import Translation
from manyheads.serving.refusals import overloaded, too_long

Work = Callable[[list[str], int], list[Translation]]  # sentences, and how many candidates of each


@dataclass(frozen=True)
class Waiting:
    """A sentence that waits, and who waits for it."""

    sentence: str
    candidates: int
    answer: asyncio.Future[Translation]
    since: float = field(default_factory=time.monotonic)


class Batcher:
    """Collects sentences and hands them to the model in batches, oldest first."""

    def __init__(
        self,
        work: Work,
        *,
        most: int,
        seconds: float,
        queue_limit: int,
        observe: Callable[[int, float], None] = lambda sentences, seconds: None,
    ) -> None:
        self._work = work
        self._most = most
        self._seconds = seconds
        self._queue_limit = queue_limit
        self._observe = observe
        self._waiting: deque[Waiting] = deque()
        self._later = 0  # sentences of long texts that are accepted, but not in the queue yet
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="translating")
        self._loop: asyncio.Task[None] | None = None
        self._closing = False
        self._pace = 0.01  # seconds for one sentence, lately

    @property
    def length(self) -> int:
        """How many sentences wait."""
        return len(self._waiting) + self._later

    async def translate(self, sentences: Sequence[str], *, candidates: int = 1) -> list[Translation]:
        """Return what becomes of sentences, in their order; refuse when too many are waiting."""
        self._admit(len(sentences))
        later = len(sentences)
        self._later += later
        found: list[Translation] = []
        try:
            for start in range(0, len(sentences), self._most):
                portion = sentences[start : start + self._most]
                later -= len(portion)
                self._later -= len(portion)
                found += await self._translate_portion(portion, candidates)
            return found
        finally:
            self._later -= later
            self._arrived.set()

    async def _translate_portion(self, sentences: Sequence[str], candidates: int) -> list[Translation]:
        """Return what becomes of sentences that fit into a batch."""
        running = asyncio.get_running_loop()
        mine = [Waiting(one, candidates, running.create_future()) for one in sentences]
        self._waiting.extend(mine)
        self._arrived.set()
        if self._loop is None or self._loop.done():
            self._loop = asyncio.create_task(self._serve())
        return await asyncio.gather(*(one.answer for one in mine))  # cancelled, it cancels what still waits

    def _admit(self, count: int) -> None:
        """Refuse what would make the queue too long."""
        if count > self._queue_limit:
            raise too_long(count, self._queue_limit, of="sentences")
        if self._closing:
            raise overloaded("the server is stopping")
        if self.length + count > self._queue_limit:
            seconds = min(60, max(1, round(self.length * self._pace)))
            raise overloaded("too many sentences are waiting", retry_after=seconds)

    async def close(self) -> None:
        """Finish what was begun and take nothing new."""
        self._closing = True
        self._arrived.set()
        if self._loop is not None:
            await self._loop
        self._thread.shutdown()

    async def _serve(self) -> None:
        """Translate batch after batch until the queue is closed and empty."""
        running = asyncio.get_running_loop()
        while not self._closing or self.length:
            if not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
                continue
            await self._gather()
            if batch := self._take():
                began = time.monotonic()
                answers = await running.run_in_executor(self._thread, self._answers, batch)
                self._deliver(batch, answers)
                self._remember(len(batch), time.monotonic() - began)

    async def _gather(self) -> None:
        """Wait until the batch is full, or its oldest sentence has waited long enough."""
        deadline = self._waiting[0].since + self._seconds
        while self.length < self._most and not self._closing and (left := deadline - time.monotonic()) > 0:
            self._arrived.clear()
            try:
                await asyncio.wait_for(self._arrived.wait(), left)
            except TimeoutError:
                return

    def _take(self) -> list[Waiting]:
        """Take the oldest sentences that want as many candidates as the oldest of all; pass over who has gone."""
        batch: list[Waiting] = []
        others: list[Waiting] = []
        while self._waiting and len(batch) < self._most:
            one = self._waiting.popleft()
            if not one.answer.done():
                (batch if not batch or one.candidates == batch[0].candidates else others).append(one)
        self._waiting.extendleft(reversed(others))
        return batch

    def _answers(self, batch: list[Waiting]) -> list[Translation | Exception]:
        """Translate a batch (in the thread); where it fails, each sentence alone, so that one does not spoil others."""
        try:
            return list(self._work([one.sentence for one in batch], batch[0].candidates))
        except Exception as error:
            return [error] if len(batch) == 1 else [self._answers([one])[0] for one in batch]

    @staticmethod
    def _deliver(batch: list[Waiting], answers: list[Translation | Exception]) -> None:
        """Give everybody still waiting what became of their sentence."""
        for one, answer in zip(batch, answers, strict=True):
            if one.answer.done():
                continue
            if isinstance(answer, Exception):
                one.answer.set_exception(answer)
            else:
                one.answer.set_result(answer)

    def _remember(self, sentences: int, seconds: float) -> None:
        """Keep the pace, and tell it."""
        self._pace = 0.8 * self._pace + 0.2 * seconds / sentences
        self._observe(sentences, seconds)
