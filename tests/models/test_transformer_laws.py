"""Laws of every Transformer: no look ahead, no influence of padding or company, order only by positions."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW, SPECIAL, VOCABULARY, batch_of, greatest_difference, sentences, stir, tiny, tiny_settings, words
from manyheads.layers.embedding import Embedding
from manyheads.models.interface import Tokens
from manyheads.models.transformer import Memory, Transformer

EXACT, CLOSE = 1e-6, 1e-5


@pytest.fixture(scope="module", params=["post", "pre", "learned", "relative", "t5", "rotary", "alibi"])
def model(request) -> Transformer:
    return tiny(request.param) if request.param in ("post", "pre") else tiny("post", request.param)


def hidden_of(model: Transformer, source: list[int], target: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return model.decode(torch.tensor([target]), model.encode(batch_of([source])))[0]


@LAW
@given(source=sentences, past=sentences, future=sentences, other=sentences)
def test_no_position_sees_its_future(model, source, past, future, other):
    other = (other * len(future))[: len(future)]
    one, two = (hidden_of(model, source, [SPECIAL.start, *past, *after]) for after in (future, other))
    seen = 1 + len(past)
    assert greatest_difference(one[:seen], two[:seen]) < EXACT
    if future[0] != other[0]:  # but each sees itself, so the comparison means something
        assert greatest_difference(one[seen], two[seen]) > 1e-3


@LAW
@given(source=sentences, target=sentences, more=sentences)
def test_a_longer_target_begins_with_the_states_of_a_shorter_one(model, source, target, more):
    short = hidden_of(model, source, [SPECIAL.start, *target])
    long = hidden_of(model, source, [SPECIAL.start, *target, *more])
    assert greatest_difference(long[: len(short)], short) < CLOSE


@LAW
@given(
    rows=st.lists(sentences, min_size=2, max_size=4),
    targets=st.lists(sentences, min_size=4, max_size=4),
    extra=st.integers(0, 4),
    rubbish=words,
)
def test_padding_and_company_change_nothing(model, rows, targets, extra, rubbish):
    with torch.inference_mode():
        ended = [[*row, SPECIAL.end] for row in rows]
        width = max(map(len, ended)) + extra
        together = Tokens(
            torch.tensor([[*row, *[rubbish] * (width - len(row))] for row in ended]),  # padding is not even padding
            torch.tensor([len(row) for row in ended]),
        )
        targets = [[SPECIAL.start, *target] for target in targets[: len(rows)]]
        memory = model.encode(together)
        hidden = model.decode(Tokens.pad(targets, padding=rubbish).ids, memory)
        for row, (source, target) in enumerate(zip(rows, targets, strict=True)):
            alone = model.encode(batch_of([source]))
            assert greatest_difference(memory.states[row, : len(source) + 1], alone.states[0]) < CLOSE
            expected = model.decode(torch.tensor([target]), alone)[0]
            assert greatest_difference(hidden[row, : len(target)], expected) < CLOSE


@LAW
@given(source=sentences, other=sentences, target=sentences)
def test_the_target_depends_on_the_source(model, source, other, target):
    target = [SPECIAL.start, *target]
    same = greatest_difference(hidden_of(model, source, target), hidden_of(model, other, target))
    assert (same == 0.0) if source == other else (same > 1e-4)


@pytest.fixture(scope="module", params=["post", "pre"])
def without_positions(request) -> Transformer:
    shape = tiny_settings(norm=request.param)
    built = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    blind = Transformer(
        source=Embedding(built.output, None, dropout=0.0),
        target=Embedding(built.output, None, dropout=0.0),
        encoder=built.encoder,
        decoder=built.decoder,
        output=built.output,
    )
    return stir(blind, seed=3).eval()


permutations = st.permutations(range(6)).map(list)


@LAW
@given(row=st.lists(words, min_size=6, max_size=6), order=permutations)
def test_without_positions_the_encoder_is_permutation_equivariant(without_positions, row, order):
    with torch.inference_mode():
        states = without_positions.encode(batch_of([row], ended=False)).states[0]
        moved = without_positions.encode(batch_of([[row[i] for i in order]], ended=False)).states[0]
    assert greatest_difference(moved, states[order]) < CLOSE


@LAW
@given(order=permutations.filter(lambda order: order != sorted(order)))
def test_with_positions_it_is_not(model, order):
    row = [4, 5, 6, 7, 8, 9]
    with torch.inference_mode():
        states = model.encode(batch_of([row], ended=False)).states[0]
        moved = model.encode(batch_of([[row[i] for i in order]], ended=False)).states[0]
    assert greatest_difference(moved, states[order]) > 1e-2


def run_steps(model: Transformer, columns: torch.Tensor, state) -> tuple[torch.Tensor, object]:
    """Read the columns of target ids [B, T] one after the other; return their logits [B, T, V] and the state."""
    logits = []
    for tokens in columns.T:
        one, state = model.step(tokens, state)
        logits.append(one)
    return torch.stack(logits, dim=1), state


@LAW
@given(rows=st.lists(sentences, min_size=1, max_size=3), length=st.integers(1, 20), seed=st.integers(0, 1000))
def test_step_by_step_equals_decode(model, rows, length, seed):
    generator = torch.Generator().manual_seed(seed)
    target = torch.randint(VOCABULARY, (len(rows), length), generator=generator)
    with torch.inference_mode():
        memory = model.encode(batch_of(rows))
        expected = model.logits(model.decode(target, memory))
        found, _ = run_steps(model, target, model.start(memory))
    assert greatest_difference(found, expected) < CLOSE * max(1.0, float(expected.abs().max()))


def of_rows(memory: Memory, rows: torch.Tensor) -> Memory:
    return Memory(memory.states[rows], memory.mask.select(rows))


@LAW
@given(
    rows=st.lists(sentences, min_size=1, max_size=3),
    hypotheses=st.integers(1, 4),
    kept=st.sets(st.integers(0, 2), min_size=1),
    seed=st.integers(0, 1000),
)
def test_hypotheses_that_share_a_memory_are_as_if_each_had_its_own(model, rows, hypotheses, kept, seed):
    """Steps, then a reordering within the sources, then some sources leave, then steps again."""
    generator = torch.Generator().manual_seed(seed)
    count, stay = len(rows), torch.tensor([one for one in range(len(rows)) if one in kept or one == 0])
    within = torch.randint(hypotheses, (count, hypotheses), generator=generator)
    reorder = (torch.arange(count)[:, None] * hypotheses + within).flatten()
    leave = (stay[:, None] * hypotheses + torch.arange(hypotheses)).flatten()
    tokens = torch.randint(VOCABULARY, (count * hypotheses, 4), generator=generator)
    with torch.inference_mode():
        memory = model.encode(batch_of(rows))
        shared = model.start(memory, hypotheses=hypotheses)
        apart = model.start(of_rows(memory, torch.arange(count).repeat_interleave(hypotheses)))
        for chosen in (reorder, leave):
            found, shared = run_steps(model, tokens, shared)
            expected, apart = run_steps(model, tokens, apart)
            assert greatest_difference(found, expected) < CLOSE * max(1.0, float(expected.abs().max()))
            shared, apart, tokens = shared.select(chosen), apart.select(chosen), tokens[chosen]


@LAW
@given(
    rows=st.lists(sentences, min_size=1, max_size=3),
    picks=st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=5), min_size=1, max_size=3),
    length=st.integers(1, 9),
    seed=st.integers(0, 1000),
)
def test_step_by_step_equals_decode_after_rows_were_reordered_and_doubled(model, rows, picks, length, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.inference_mode():
        memory = model.encode(batch_of(rows))
        state = model.start(memory)
        origin = torch.arange(len(rows))
        written = torch.empty(len(rows), 0, dtype=torch.long)
        for pick in [[*range(len(rows))], *picks]:
            chosen = torch.tensor([one % len(origin) for one in pick])
            origin, written, state = origin[chosen], written[chosen], state.select(chosen)
            fresh = torch.randint(VOCABULARY, (len(origin), length), generator=generator)
            found, state = run_steps(model, fresh, state)
            written = torch.cat([written, fresh], dim=1)
            expected = model.logits(model.decode(written, of_rows(memory, origin)))[:, -length:]
            assert greatest_difference(found, expected) < CLOSE * max(1.0, float(expected.abs().max()))


def test_selecting_leaves_the_original_state_as_it_was():
    model = tiny()
    with torch.inference_mode():
        state = model.start(model.encode(batch_of([[4, 5], [6]])))
        _, state = model.step(torch.tensor([2, 2]), state)
        copy = state.select(torch.tensor([0, 1]))
        expected, _ = model.step(torch.tensor([7, 8]), copy)
        found, _ = model.step(torch.tensor([7, 8]), state)
    assert torch.equal(found, expected)


@LAW
@given(source=sentences, target=sentences, other=sentences)
def test_a_called_model_gives_the_logits_of_every_position(model, source, target, other):
    """As a module: what `encode`, `decode` and `logits` give one after the other, and `step` after `step`."""
    read = Tokens.pad([[SPECIAL.start, *target], [SPECIAL.start, *other]], padding=SPECIAL.pad)
    with torch.inference_mode():
        called = model(batch_of([source, source]), read)
        assert called.shape == (*read.ids.shape, VOCABULARY)
        parts = model.logits(model.decode(read.ids, model.encode(batch_of([source, source]))))
        assert torch.equal(called, parts)
        state = model.start(model.encode(batch_of([source])))
        for position, token in enumerate([SPECIAL.start, *target]):
            stepped, state = model.step(torch.tensor([token]), state)
            assert greatest_difference(called[:1, position], stepped) < CLOSE
