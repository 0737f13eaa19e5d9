"""Sentences of several clients are batched for one model, and each client gets its own results."""

from __future__ import annotations

import asyncio
import threading

import pytest

from manyheads.decoding.translator import Candidate, Translation
from manyheads.errors import ManyheadsError
from manyheads.serving.api_errors import ApiError
from manyheads.serving.batcher import Batcher, Sentence


class Model:
    """A fake model: it answers in capitals, records its batches, and can be blocked."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.busy = threading.Event()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def __call__(self, batch: list[Sentence], candidates: int) -> list[Translation]:
        sentences = [one.text for one in batch]
        self.batches.append(sentences)
        self.busy.set()
        assert self.may_go_on.wait(60)
        if "bad" in sentences:
            raise ManyheadsError("this sentence is impossible.")
        made = [Candidate(f"{candidates} {sentences}", -1.0, -1.0, []) for _ in range(candidates)]
        return [Translation(one, [Candidate(one.upper(), 0.0, 0.0, []), *made[1:]]) for one in sentences]


def batcher(model: Model, **changes) -> Batcher:
    return Batcher(model, **{"batch_size": 8, "wait_seconds": 0.01, "queue_limit": 20, **changes})


async def texts(one: Batcher, *sentences: str, candidates: int = 1) -> list[str]:
    return [found.text for found in await one.translate(list(map(Sentence, sentences)), candidates=candidates)]


async def until(happened) -> None:
    async with asyncio.timeout(60):
        while not happened():
            await asyncio.sleep(0.001)


def test_clients_that_come_together_share_a_batch_and_get_their_own():
    async def scene():
        model = Model()
        one = batcher(model, wait_seconds=30)  # only a full batch ends the waiting
        answers = await asyncio.gather(texts(one, "a", "b", "c"), texts(one, "d"), texts(one, "e", "f", "g", "h"))
        await one.close()
        return model, answers

    model, answers = asyncio.run(scene())
    assert answers == [["A", "B", "C"], ["D"], ["E", "F", "G", "H"]]
    assert [len(batch) for batch in model.batches] == [8]


def test_a_lone_sentence_does_not_wait_for_a_full_batch():
    async def scene():
        one = batcher(Model())
        return await texts(one, "a")

    assert asyncio.run(scene()) == ["A"]


def test_no_batch_is_larger_than_allowed_and_none_mixes_numbers_of_candidates():
    async def scene():
        model = Model()
        one = batcher(model, batch_size=3)
        await asyncio.gather(texts(one, *"abcd"), texts(one, *"xyz", candidates=2), texts(one, *"efgh"))
        await one.close()
        return model

    batches = asyncio.run(scene()).batches
    assert max(map(len, batches)) == 3
    assert sorted("".join(map("".join, batches))) == sorted("abcdxyzefgh")
    assert all(set(batch) <= set("xyz") or not set(batch) & set("xyz") for batch in batches)


def test_a_sentence_that_fails_spoils_no_other():
    async def scene():
        one = batcher(Model())
        return await asyncio.gather(texts(one, "a"), texts(one, "bad"), texts(one, "b"), return_exceptions=True)

    first, second, third = asyncio.run(scene())
    assert (first, third) == (["A"], ["B"])
    assert isinstance(second, ManyheadsError)


def test_others_come_in_between_the_batches_of_a_long_text():
    async def scene():
        model = Model()
        model.may_go_on.clear()
        one = batcher(model, batch_size=2)
        long = asyncio.create_task(texts(one, *"abcdefgh"))
        await until(model.busy.is_set)
        short = asyncio.create_task(texts(one, "x"))
        await until(lambda: one.length == 7)
        model.may_go_on.set()
        return await long, await short, model.batches

    long, short, batches = asyncio.run(scene())
    assert (long, short) == (list("ABCDEFGH"), ["X"])
    assert "x" in batches[1]


def test_a_full_queue_is_an_error_with_retry_after():
    async def scene():
        model = Model()
        model.may_go_on.clear()
        one = batcher(model, batch_size=1)
        begun = asyncio.create_task(texts(one, "a"))
        await until(model.busy.is_set)
        waiting = asyncio.create_task(texts(one, *["b"] * 20))
        await until(lambda: one.length == 20)
        with pytest.raises(ApiError) as caught:
            await texts(one, "c")
        model.may_go_on.set()
        return caught.value, await begun, await waiting

    error, begun, waiting = asyncio.run(scene())
    assert error.status == 503
    assert error.retry_after is not None and error.retry_after >= 1
    assert (begun, waiting) == (["A"], ["B"] * 20)


def test_more_sentences_than_the_queue_holds_are_an_error_of_the_request():
    async def scene():
        await texts(batcher(Model()), *["a"] * 21)

    with pytest.raises(ApiError) as caught:
        asyncio.run(scene())
    assert caught.value.status == 400


def test_sentences_of_a_cancelled_request_are_not_translated():
    async def scene():
        model = Model()
        model.may_go_on.clear()
        one = batcher(model, batch_size=1)
        first = asyncio.create_task(texts(one, "a"))
        await until(model.busy.is_set)
        second = asyncio.create_task(texts(one, "b", "c"))
        await until(lambda: one.length == 2)
        second.cancel()
        await asyncio.wait([second])
        third = asyncio.create_task(texts(one, "d"))
        await until(lambda: one.length == 2)  # the one that was in the queue, and the new one
        model.may_go_on.set()
        await asyncio.gather(first, third)
        return model.batches

    assert asyncio.run(scene()) == [["a"], ["d"]]


def test_a_batch_has_a_limited_number_of_tokens_and_at_least_one_sentence():
    async def scene():
        model = Model()
        one = batcher(model, batch_tokens=6)  # a letter is a token
        await asyncio.gather(
            texts(one, "aaa", "bbb", "cc"), texts(one, "dddddddd", "e"), texts(one, "fff", candidates=2)
        )
        await one.close()
        return model

    batches = asyncio.run(scene()).batches
    assert sorted(one for batch in batches for one in batch) == ["aaa", "bbb", "cc", "dddddddd", "e", "fff"]
    assert all(len("".join(batch)) <= 6 or len(batch) == 1 for batch in batches)


def test_of_an_abandoned_text_no_more_than_the_batch_that_was_begun_is_translated():
    async def scene():
        model = Model()
        model.may_go_on.clear()
        one = batcher(model, batch_tokens=6)
        abandoned = asyncio.create_task(texts(one, *["aaaaa"] * 6))  # within one batch by their number alone
        await until(model.busy.is_set)
        abandoned.cancel()
        await asyncio.wait([abandoned])
        other = asyncio.create_task(texts(one, "b"))
        await until(lambda: one.length == 1)
        model.may_go_on.set()
        await other
        return model.batches

    assert asyncio.run(scene()) == [["aaaaa"], ["b"]]


def test_two_batches_are_computed_at_once_where_the_engine_can_and_no_third():
    async def scene():
        model = Model()
        model.may_go_on.clear()
        one = batcher(model, batch_size=1, at_once=lambda: 2)
        answers = asyncio.gather(texts(one, "a"), texts(one, "b"), texts(one, "c"))
        await until(lambda: len(model.batches) == 2 and one.length == 1)
        closing = asyncio.create_task(one.close())
        model.may_go_on.set()
        await closing
        return await answers, model.batches

    answers, batches = asyncio.run(scene())
    assert (answers, batches[2:]) == ([["A"], ["B"], ["C"]], [["c"]])


def test_closing_translates_what_waits_and_accepts_nothing_new():
    async def scene():
        model = Model()
        model.may_go_on.clear()
        one = batcher(model, batch_size=1)
        begun = asyncio.create_task(texts(one, "a", "b"))
        await until(model.busy.is_set)
        closing = asyncio.create_task(one.close())
        await asyncio.sleep(0)
        with pytest.raises(ApiError):
            await texts(one, "c")
        model.may_go_on.set()
        await closing
        return await begun

    assert asyncio.run(scene()) == ["A", "B"]
