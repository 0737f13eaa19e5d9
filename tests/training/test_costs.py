"""The counted cost of a model equals what its sizes say."""

import pytest
import torch

from helpers import tiny_settings
from manyheads.config.corpora import CorpusSettings, DataSettings, TokenizerSettings
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.config.training import TrainingSettings
from manyheads.models.build import build_model
from manyheads.tasks.translation import ALPHABET, TranslationTask
from manyheads.tasks.translation import PLANNED_LENGTH as SENTENCE
from manyheads.training import costs
from manyheads.training.costs import Costs, count_costs, weigh_activations

WIDTH, INNER, LAYERS, VOCABULARY, ROWS = 16, 40, 2, 300, 3


@pytest.fixture(autouse=True)
def known_speed(monkeypatch):
    """Nothing is measured: this machine does 10⁹ FLOPs per second."""
    monkeypatch.setattr(costs, "matrix_product_peak", lambda: 1e9)


def recipe(*, rows: int = ROWS, model: dict | None = None, **training) -> TranslationRecipe:
    shape = tiny_settings(**{"width": WIDTH, "feed_forward": INNER, "dropout": 0.1, **(model or {})})
    return TranslationRecipe(
        data=DataSettings(train=CorpusSettings(task="copy")),
        model=shape,
        training=TrainingSettings(batch_tokens=rows * SENTENCE, **training),
    )


def count(given: TranslationRecipe) -> Costs:
    config = TranslationConfig(model=given.model, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    return count_costs(given, TranslationTask.plan(given, config))


def products_of_one_update(rows: int) -> int:
    """Return the multiplications in the matrix products of one update.

    Forward, each token passes the projections of its layers (4·D² per attention, 2·D·F per feed-forward) and the output
    layer (V·D); each query meets each key twice per attention (QKᵀ and the average of the values: 2·T·S·D).
    Backward, every product has two of the same size: one for each of its factors.
    """
    tokens, length = rows * SENTENCE, SENTENCE
    encoder = LAYERS * (4 * WIDTH**2 + 2 * WIDTH * INNER)
    decoder = LAYERS * (2 * 4 * WIDTH**2 + 2 * WIDTH * INNER)
    output = VOCABULARY * WIDTH
    attention = rows * 3 * LAYERS * 2 * length**2 * WIDTH
    return 3 * (tokens * (encoder + decoder + output) + attention)


@pytest.mark.parametrize("rows", [1, ROWS])
def test_flops_equal_the_matrix_products_written_out(rows):
    expected = 2 * products_of_one_update(rows)  # a multiplication and an addition
    assert count(recipe(rows=rows)).flops_per_update == pytest.approx(expected, rel=0.01)
    # Leaving out one of the three products of the output layer would exceed that tolerance:
    assert 2 * rows * SENTENCE * VOCABULARY * WIDTH > 0.02 * expected


def test_r_drop_computes_every_batch_twice():
    once, twice = (count(recipe(r_drop=alpha)) for alpha in (0.0, 5.0))
    assert twice.flops_per_update == 2 * once.flops_per_update
    assert twice.tokens_per_update == once.tokens_per_update


def test_batches_per_update_and_updates_multiply():
    once = count(recipe(steps=10))
    twice = count(recipe(steps=10, accumulate=2))
    assert twice.flops_per_update == 2 * once.flops_per_update
    assert twice.tokens_per_update == 2 * once.tokens_per_update == 2 * ROWS * SENTENCE
    assert once.training_flops == 10 * once.flops_per_update
    assert once.steps == 10


@pytest.mark.parametrize("model", [{}, {"tie": "none", "output_bias": True}, {"norm": "pre"}])
def test_parameters_are_those_of_the_model_that_is_built(model):
    given = recipe(model=model)
    config = TranslationConfig(model=given.model, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    built = sum(parameter.numel() for parameter in build_model(config).parameters())
    found = count_costs(given, TranslationTask.plan(given, config))
    assert found.parameters == found.trainable_parameters == built


def test_memory_is_four_copies_of_the_weights_and_the_activations():
    small, large = count(recipe(rows=2)), count(recipe(rows=4))
    assert small.memory_bytes == 4 * 4 * small.parameters + small.activation_bytes
    assert large.activation_bytes > 1.5 * small.activation_bytes  # most of them grow with the batch


def test_activations_are_what_the_backward_pass_needs_each_once():
    layer = torch.nn.Linear(5, 7, bias=False)
    with weigh_activations(layer) as weight:
        layer(torch.zeros(3, 5)).relu()
    assert weight == [4 * (3 * 5 + 3 * 7)]  # the inputs for the weights' gradient, and where relu was open


def test_hours_are_flops_over_speed():
    found = count(recipe(steps=10))
    assert found.machines
    for machine in found.machines:
        assert machine.hours == pytest.approx(found.training_flops / machine.flops_per_second / 3600)
    assert found.machines[0].flops_per_second == costs.UTILISATION * 1e9
    assert (found.assumed_utilisation, found.measured_peak) == (costs.UTILISATION, 1e9)


@pytest.mark.parametrize(("threads", "words"), [(1, "with 1 thread,"), (2, "with 2 threads,")])
def test_threads_are_counted_in_the_right_number(monkeypatch, threads, words):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    assert words in count(recipe()).machines[0].name


def test_vocabularies_come_from_the_recipe():
    given = recipe().model_copy(update={"tokenizer": TokenizerSettings(vocabulary=123)})
    assert TranslationTask.plan(given).config.vocabulary_sizes == (123, 123)
    own = TokenizerSettings(vocabulary=123, shared=False, target={"vocabulary": 45})
    given = recipe(model={"tie": "none"}).model_copy(update={"tokenizer": own})
    assert TranslationTask.plan(given).config.vocabulary_sizes == (123, 45)
    assert not TranslationTask.plan(given).assumed


@pytest.mark.parametrize(
    ("tokenizer", "sizes", "assumed"),
    [
        ({"kind": "bpe"}, (8000, 8000), False),
        ({"kind": "characters"}, (ALPHABET, ALPHABET), True),
        ({"kind": "bpe", "shared": False, "target": {"kind": "symbols"}}, (8000, ALPHABET), True),
        ({"kind": "characters", "vocabulary": 30}, (30, 30), False),
    ],
)
def test_an_alphabet_is_assumed_to_be_small(tokenizer, sizes, assumed):
    given = recipe(model={"tie": "none"}).model_copy(update={"tokenizer": TokenizerSettings(**tokenizer)})
    plan = TranslationTask.plan(given)
    assert plan.config.vocabulary_sizes == sizes
    assert plan.assumed == assumed
