"""Batches for models that read: hidden tokens by BERT's shares, answers found among tokens, the same for every seed."""

from __future__ import annotations

import numpy as np
import pytest

from manyheads.config.tasks.masked_words import MaskingSettings
from manyheads.data.batches.examples import (
    NOTHING,
    ExampleBatches,
    labelled,
    located,
    mask_tokens,
    masked_layout,
    plain_layout,
    unlabelled,
)
from manyheads.data.generated.whereabouts import Whereabouts
from manyheads.data.text.records import Example
from manyheads.data.tokens.wordpiece import WordPiece
from manyheads.errors import ManyheadsError

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

MASK, VOCABULARY = 4, 1000


@pytest.fixture(scope="module")
def questions() -> list[Example]:
    return list(Whereabouts().examples("train", count=200))


@pytest.fixture(scope="module")
def tokenizer(questions: list[Example]) -> WordPiece:
    return WordPiece.train([text for one in questions for text in (one.text, one.second or "")], vocabulary=160)


def test_tokens_are_hidden_by_the_shares_of_the_paper():
    ids = np.random.default_rng(1).integers(5, VOCABULARY, size=(400, 100))
    special = np.zeros(ids.shape, dtype=bool)
    special[:, 0] = special[:, -1] = True
    hidden, targets = mask_tokens(
        ids, special, MaskingSettings(), np.random.default_rng(2), mask=MASK, vocabulary=VOCABULARY
    )
    chosen = targets != NOTHING
    assert not chosen[special].any()
    assert (targets[chosen] == ids[chosen]).all()
    assert (hidden[~chosen] == ids[~chosen]).all()
    count = chosen.sum()
    assert count / (~special).sum() == pytest.approx(0.15, abs=0.01)
    assert (hidden[chosen] == MASK).sum() / count == pytest.approx(0.8, abs=0.02)
    assert (hidden[chosen] == ids[chosen]).sum() / count == pytest.approx(0.1, abs=0.02)


def test_a_batch_always_has_something_to_guess():
    special = np.array([[True, False, True]])
    for seed in range(20):
        random = np.random.default_rng(seed)
        _, targets = mask_tokens(np.array([[2, 7, 3]]), special, MaskingSettings(), random, mask=MASK, vocabulary=9)
        assert targets.tolist() == [[NOTHING, 7, NOTHING]]


def test_the_tokens_of_an_answer_spell_it(questions: list[Example], tokenizer: WordPiece):
    task = located(questions, tokenizer, longest=96, where="here")
    assert task.lost == 0
    for example, row, (first, last) in zip(task.examples, task.rows, task.targets, strict=True):
        assert example.second is not None
        assert example.second[row.spans[first][0] : row.spans[last][1]] == example.answer
        assert row.segments[first] == row.segments[last] == 1


def test_answers_that_were_cut_off_are_counted(questions: list[Example], tokenizer: WordPiece):
    task = located(questions, tokenizer, longest=24, where="here")
    assert 0 < len(task) < len(questions)
    assert task.lost == len(questions) - len(task)
    with pytest.raises(ManyheadsError, match=r"no answer is left.*max_length"):
        located(questions, tokenizer, longest=9, where="here")


def test_labels_that_training_never_saw_are_all_named(tokenizer: WordPiece):
    examples = [Example("a", "x"), Example("b", "z"), Example("c", "y")]
    with pytest.raises(ManyheadsError, match=r"data\.valid: these labels do not occur in training: y, z"):
        labelled(examples, tokenizer, ["x"], longest=9, where="data.valid")


def test_an_epoch_has_every_example_once_and_batch_i_is_always_the_same(questions: list[Example], tokenizer: WordPiece):
    task = unlabelled(questions, tokenizer, longest=96)
    one, two = (
        ExampleBatches(task, masked_layout(task, tokenizer, MaskingSettings(), seed=3), tokens=512, seed=3)
        for _ in range(2)
    )
    epoch = [one[index] for index in range(one.per_epoch)]
    assert sorted(number for batch in epoch for number in batch.pairs) == list(range(len(questions)))
    assert max(batch.inputs.input_ids.size for batch in epoch) <= 512
    for index in (7, one.per_epoch + 2, 0):  # in any order
        assert all((first == second).all() for first, second in zip(one[index].inputs, two[index].inputs, strict=True))
        assert (one[index].targets == two[index].targets).all()


def test_another_epoch_hides_other_tokens(tokenizer: WordPiece):
    task = unlabelled([Example("mary went to the kitchen and then to the garden")], tokenizer, longest=96)
    batches = ExampleBatches(task, masked_layout(task, tokenizer, MaskingSettings(), seed=3), tokens=512, seed=3)
    assert len({batches[index].targets.tobytes() for index in range(10)}) > 3


def test_known_targets_stay_with_their_rows(tokenizer: WordPiece):
    examples = [Example("mary " * (1 + number % 5), "ab"[number % 2]) for number in range(30)]
    task = labelled(examples, tokenizer, ["a", "b"], longest=20, where="here")
    batches = ExampleBatches(task, plain_layout(task, tokenizer), tokens=64, seed=1)
    for index in range(batches.per_epoch):
        batch = batches[index]
        assert batch.targets.tolist() == [number % 2 for number in batch.pairs]
        assert batch.inputs.attention_mask.sum(axis=1).tolist() == [len(task.rows[number]) for number in batch.pairs]
