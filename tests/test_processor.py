"""What the processor says of itself, and what follows for 8-bit products."""

import platform
from pathlib import Path

import pytest

from manyheads import processor
from manyheads.processor import processor_flags, sums_bytes_safely


def test_flags_are_read_where_the_system_tells_them(tmp_path: Path):
    told = tmp_path / "cpuinfo"
    told.write_text("processor\t: 0\nflags\t\t: fpu avx2 amx_bf16\nprocessor\t: 1\nflags\t\t: fpu\n")
    assert processor_flags(told) == {"fpu", "avx2", "amx_bf16"}
    assert processor_flags(tmp_path / "missing") == set()


@pytest.mark.parametrize(
    ("machine", "flags", "safe"),
    [
        ("x86_64", {"avx2"}, False),
        ("x86_64", {"avx2", "avx512_vnni"}, True),
        ("AMD64", set(), False),
        ("aarch64", set(), True),
    ],
)
def test_only_x86_without_byte_products_overflows(
    monkeypatch: pytest.MonkeyPatch, machine: str, flags: set[str], safe: bool
):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(processor, "processor_flags", lambda: flags)
    assert sums_bytes_safely() is safe
