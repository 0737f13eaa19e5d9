"""Streams: rows continue from batch to batch, and any number of batches per update reads the same text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.data.batches.streams import StreamBatches
from manyheads.errors import ManyheadsError

TEXT = np.arange(1000, dtype=np.uint32)


@LAW
@given(lanes=st.integers(1, 8), length=st.integers(1, 20), seed=st.integers(0, 99))
def test_rows_continue_where_they_ended_and_targets_follow_inputs(lanes, length, seed):
    batches = StreamBatches(TEXT, lanes=lanes, length=length, seed=seed)
    for epoch in range(2):
        before = None
        for piece in range(batches.pieces):
            batch = batches[epoch * batches.pieces + piece]
            assert batch.inputs.shape == batch.targets.shape == (lanes, length)
            assert (batch.targets == batch.inputs + 1).all()  # the text counts
            assert batch.begins == (piece == 0)
            if before is not None:
                assert (batch.inputs[:, 0] == before.targets[:, -1]).all()
            before = batch


@LAW
@given(shares=st.sampled_from([2, 3, 6]), index=st.integers(0, 50), seed=st.integers(0, 9))
def test_an_update_reads_the_same_text_in_any_number_of_batches(shares, index, seed):
    whole = StreamBatches(TEXT, lanes=6, length=7, seed=seed)[index]
    parts = StreamBatches(TEXT, lanes=6, length=7, seed=seed, per_update=shares)
    update = [parts[index * shares + share] for share in range(shares)]
    for name in ("inputs", "targets", "lanes"):
        assert (np.concatenate([getattr(one, name) for one in update]) == getattr(whole, name)).all()


def test_an_epoch_reads_nearly_all_of_the_text_and_another_one_cuts_it_elsewhere():
    batches = StreamBatches(TEXT, lanes=4, length=16, seed=1)
    epochs = [
        np.concatenate([batches[epoch * batches.pieces + piece].inputs for piece in range(batches.pieces)], axis=1)
        for epoch in range(4)
    ]
    for read in epochs:
        assert len(set(read.flatten().tolist())) == read.size > 0.85 * len(TEXT)
    assert len({int(read[0, 0]) for read in epochs}) > 1


def test_what_cannot_be_is_refused():
    with pytest.raises(ManyheadsError, match="too short for 8 lanes of 200"):
        StreamBatches(TEXT, lanes=8, length=200, seed=1)
    with pytest.raises(ManyheadsError, match="cannot be shared by 4 batches"):
        StreamBatches(TEXT, lanes=6, length=5, seed=1, per_update=4)
