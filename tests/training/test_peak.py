"""The peak of this machine is measured, and measuring it leaves the run's random numbers alone."""

import pytest
import torch

from manyheads.training.machine import peak
from manyheads.training.machine.peak import matrix_product_peak


@pytest.fixture(autouse=True)
def small_products(monkeypatch):
    monkeypatch.setattr(peak, "SIZES", {"cpu": (16, 32)})


def test_the_peak_is_a_positive_number_even_where_the_time_is_too_short_for_one_product():
    assert matrix_product_peak(seconds=0.0) > 0.0
    assert matrix_product_peak(torch.device("cpu"), dtype=torch.float64, seconds=0.001) > 0.0


def test_the_random_numbers_of_the_run_are_not_used_up():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    matrix_product_peak(seconds=0.0)
    assert torch.equal(torch.rand(3), expected)
