"""The pieces inside a SentencePiece model file, so that they can be put into another order.

A model file is one protobuf message: field 1 is a piece (1 text, 2 score, 3 type), repeated in the order of the ids,
and all other fields are settings. Protobuf's wire format takes a few lines to read. This avoids a dependency whose
generated classes conflict with other libraries' copies of the same definition.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

_PIECE, _TRAINER, _NORMALISER, _DENORMALISER = 1, 2, 3, 5  # fields of the model
_TEXT, _SCORE, _TYPE = 1, 2, 3  # fields of a piece
_MODEL_TYPE = 3  # field of the trainer's settings
_RULES_FILE = 6  # field of the settings of both normalisers
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types


class PieceType(IntEnum):
    """What a piece is. Control pieces never come from text; unused ones do not in a unigram model."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class ModelType(IntEnum):
    """How a model cuts text."""

    UNIGRAM = 1
    BPE = 2
    WORD = 3
    CHARACTER = 4


@dataclass(frozen=True)
class Piece:
    """One entry of a vocabulary."""

    text: str
    score: float = 0.0
    type: PieceType = PieceType.NORMAL


def read_pieces(model: bytes) -> list[Piece]:
    """Return the pieces of a model in the order of their ids."""
    return [_read_piece(content) for field, _, content in _fields(model) if field == _PIECE]


def model_type(model: bytes) -> ModelType:
    """Return how a model cuts text."""
    for field, _, content in _fields(model):
        if field == _TRAINER:
            for inner, _, value in _fields(content):
                if inner == _MODEL_TYPE:
                    return ModelType(_varint(value, 0)[0])
    return ModelType.UNIGRAM


def with_pieces(model: bytes, pieces: Sequence[Piece]) -> bytes:
    """Return the model with other pieces and the same settings."""
    written = b"".join(_field(_PIECE, _BYTES, _write_piece(piece)) for piece in pieces)
    return written + b"".join(_field(*part) for part in _fields(model) if part[0] != _PIECE)


def without_rules_files(model: bytes) -> bytes:
    """Return the model without the names of the files its normalisation came from: the rules themselves are inside."""

    def kept(content: bytes) -> bytes:
        """Return a normaliser's settings without that name."""
        return b"".join(_field(*part) for part in _fields(content) if part[0] != _RULES_FILE)

    parts = (
        (field, wire, kept(content) if field in (_NORMALISER, _DENORMALISER) else content)
        for field, wire, content in _fields(model)
    )
    return b"".join(_field(*part) for part in parts)


def _read_piece(content: bytes) -> Piece:
    values = {field: value for field, _, value in _fields(content)}
    (score,) = struct.unpack("<f", values.get(_SCORE, bytes(4)))
    kind = _varint(values[_TYPE], 0)[0] if _TYPE in values else PieceType.NORMAL
    return Piece(values.get(_TEXT, b"").decode("utf-8"), score, PieceType(kind))


def _write_piece(piece: Piece) -> bytes:
    text = _field(_TEXT, _BYTES, piece.text.encode("utf-8"))
    score = _field(_SCORE, _FIXED32, struct.pack("<f", piece.score))
    kind = b"" if piece.type is PieceType.NORMAL else _field(_TYPE, _VARINT, _write_varint(piece.type))
    return text + score + kind


def _fields(message: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield each field of a message: its number, its wire type and its content."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        number, kind = key >> 3, key & 7
        if kind == _BYTES:
            size, place = _varint(message, place)
            end = place + size
        elif kind == _VARINT:
            end = _varint(message, place)[1]
        elif kind in (_FIXED32, _FIXED64):
            end = place + (4 if kind == _FIXED32 else 8)
        else:
            raise ValueError(f"wire type {kind} is not one of protobuf's")
        if end > len(message):
            raise ValueError("the message is cut short")
        yield number, kind, message[place:end]
        place = end


def _field(number: int, kind: int, content: bytes) -> bytes:
    """Return a field as bytes."""
    size = _write_varint(len(content)) if kind == _BYTES else b""
    return _write_varint(number << 3 | kind) + size + content


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """Return the number that begins at a place, seven bits to a byte, lowest first, and where it ends."""
    value = shift = 0
    while True:
        if place >= len(message):
            raise ValueError("the message is cut short")
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place


def _write_varint(value: int) -> bytes:
    """Return a number, seven bits to a byte, lowest first."""
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
