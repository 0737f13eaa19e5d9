"""The paper's positional encodings as a numpy array, for formats that store them as a table (see `positions`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def sinusoid_table(positions: int, width: int) -> NDArray[np.float32]:
    """Return the encodings [positions, D] of section 3.5: sines at even dimensions, cosines at odd ones."""
    frequencies = np.exp(np.arange(0, width, 2) * (-np.log(10000.0) / width))  # 1 / 10000^(2i / d_model)
    angles = np.arange(positions)[:, None] * frequencies
    table = np.empty((positions, width), dtype=np.float32)
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles[:, : width // 2])
    return table


def halves(width: int) -> NDArray[np.int64]:
    """Return the dimensions [D] reordered as some toolkits have them: all sines first, then all cosines."""
    return np.concatenate([np.arange(0, width, 2), np.arange(1, width, 2)])
