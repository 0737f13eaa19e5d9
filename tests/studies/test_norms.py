"""Normalisation over sequences: against PyTorch's own, without padding and with it; and the study in small."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from manyheads.studies.bench import run_study
from manyheads.studies.labelling import NO_LABEL
from manyheads.studies.norms import KINDS, LEAST_LENGTH, SYMBOLS, Norms, OverSequences, Training, sequences

WIDTH = 6


class Smaller(Norms):
    def items(self, *, quick: bool) -> list[Training]:
        return [Training(kind, 3, 5, True, 10, seed) for kind in KINDS for seed in range(1, 6)]


def normalised(states: torch.Tensor, real: torch.Tensor, norm: OverSequences) -> torch.Tensor:
    norm.real = real
    return norm(states)


def test_without_padding_it_is_pytorchs_own():
    states, real = torch.randn(4, 7, WIDTH), torch.ones(4, 7, dtype=torch.bool)
    of_channels = states.transpose(1, 2)
    batch, instance = OverSequences(WIDTH, over_batch=True), OverSequences(WIDTH, over_batch=False)
    expected = F.batch_norm(of_channels, None, None, training=True).transpose(1, 2)
    torch.testing.assert_close(normalised(states, real, batch), expected)
    torch.testing.assert_close(normalised(states, real, instance), F.instance_norm(of_channels).transpose(1, 2))


@pytest.mark.parametrize("over_batch", [True, False])
def test_padding_does_not_count(over_batch: bool):
    states, real = torch.randn(3, 8, WIDTH), torch.arange(8) < torch.tensor([[8], [3], [5]])
    norm = OverSequences(WIDTH, over_batch=over_batch)
    changed = torch.where(real[..., None], states, 100.0)
    found, other = (normalised(one, real, norm)[real] for one in (states, changed))
    torch.testing.assert_close(found, other)
    if over_batch:
        torch.testing.assert_close(found, F.batch_norm(states[real], None, None, training=True))


def test_inference_over_a_batch_uses_the_statistics_of_training():
    torch.manual_seed(1)
    norm, real = OverSequences(WIDTH, over_batch=True), torch.ones(16, 8, dtype=torch.bool)
    for _ in range(80):
        normalised(3.0 + 2.0 * torch.randn(16, 8, WIDTH), real, norm)
    torch.testing.assert_close(norm.mean, torch.full((WIDTH,), 3.0), atol=0.2, rtol=0.0)
    torch.testing.assert_close(norm.variance, torch.full((WIDTH,), 4.0), atol=0.5, rtol=0.0)
    norm.eval()
    states = torch.randn(16, 8, WIDTH)
    whole, alone = normalised(states, real, norm), normalised(states[:1], real[:1], norm)
    torch.testing.assert_close(whole[:1], alone)


def test_sequences_are_sorted_within_their_lengths():
    batch = sequences(Training("layer", 50, 6, True, 1, 1))(torch.Generator().manual_seed(1))
    lengths = batch.real.sum(dim=1)
    assert set(lengths.tolist()) == set(range(LEAST_LENGTH, 7))
    for symbols, labels, length in zip(batch.symbols, batch.labels, lengths.tolist(), strict=True):
        assert labels[:length].tolist() == sorted(symbols[:length].tolist())
        assert set(labels[length:].tolist()) <= {NO_LABEL}
    assert int(batch.symbols.max()) < SYMBOLS


def test_all_kinds_are_compared_with_layer_norm(tmp_path: Path):
    result = run_study(Smaller(), out=tmp_path, tell=lambda _: None)
    scores, differences = result.conclusion.tables
    assert [row[0] for row in scores.rows] == [row[0] for row in differences.rows] == ["3 of varied length"]
    assert all(entry.record["fluctuation"] > 0.0 for entry in result.entries)
    assert "noise floor" in result.conclusion.sentences[1]
