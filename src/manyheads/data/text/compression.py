"""Compressed files: .gz, .xz and .zst, by the ending of their names."""

from __future__ import annotations

import gzip
import lzma
import zlib
from io import BufferedIOBase, BufferedReader

from backports.zstd import ZstdError, ZstdFile

SUFFIXES = (".gz", ".xz", ".zst")
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError, ZstdError)
"""The errors of reading a damaged or truncated file."""


def unpacked(packed: BufferedReader, suffix: str) -> BufferedIOBase:
    """Return the bytes of an open file, decompressed if its suffix says that it is compressed."""
    match suffix:
        case ".gz":
            return gzip.GzipFile(fileobj=packed, mode="rb")
        case ".xz":
            return lzma.LZMAFile(packed)
        case ".zst":
            return ZstdFile(packed)
    return packed
