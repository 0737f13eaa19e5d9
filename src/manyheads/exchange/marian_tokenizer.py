"""Converts between our tokenizers and the files of Hugging Face's MarianTokenizer.

MarianTokenizer splits text into pieces with `source.spm` or `target.spm`, and looks the pieces up in `vocab.json`; a
piece that is not in there is unknown. Our tokenizers are one SentencePiece model per side, whose ids are those of the
Transformer. So an import reorders the pieces of each side's model as in `vocab.json`, and keeps all scores: text is
split exactly as before.

| piece | becomes |
|---|---|
| in the vocabulary and in this side's model | the same piece, at its new id |
| in the vocabulary only (of the other side) | a piece that no text is split into |
| a language code such as `>>fra<<` | a piece that is recognised in front of a text |
| in this side's model only | a piece after the end of the vocabulary, which is encoded as unknown |
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from manyheads.config.tasks.translation import TranslationConfig
from manyheads.data.tokens.sentencepiece_model import (
    ModelType,
    Piece,
    PieceType,
    model_type,
    read_pieces,
    with_pieces,
)
from manyheads.data.tokens.tokenizers import BEYOND, Tokenizer, Tokenizers, tag_piece
from manyheads.errors import ManyheadsError

# The score of pieces that an import added. SentencePiece never uses it, and an export removes such pieces.
ADDED = -1e6
LANGUAGE_CODE = re.compile(r">>.+<<")


# --- Export ----------------------------------------------------------------------------------------------------------


def tokenizer_files(
    tokenizers: Tokenizers, config: TranslationConfig, *, languages: tuple[str | None, str | None], longest: int
) -> dict[str, bytes]:
    """Return the content of each file of a MarianTokenizer, by name."""
    source, target = _vocabulary(tokenizers.source), _vocabulary(tokenizers.target)
    settings: dict[str, Any] = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": languages[0],
        "target_lang": languages[1],
        "unk_token": source[config.unknown],
        "eos_token": source[config.end],
        "pad_token": source[config.pad],
        "model_max_length": longest,
        "separate_vocabs": source != target,
    }
    files = {
        "source.spm": _without_added(tokenizers.source.model),
        "target.spm": _without_added(tokenizers.target.model),
        "vocab.json": _json(_ids(source)),
        "tokenizer_config.json": _json(settings),
    }
    return files if source == target else {**files, "target_vocab.json": _json(_ids(target))}


def _vocabulary(tokenizer: Tokenizer) -> list[str]:
    """Return the pieces in the order of their ids; language codes without the SentencePiece space marker."""
    codes = {tag_piece(code): code for code in _codes(tokenizer)}
    return [codes.get(piece, piece) for piece in tokenizer.vocabulary()]


def _codes(tokenizer: Tokenizer) -> list[str]:
    """Return the language codes that an import added to the tokenizer."""
    added = (piece for piece in read_pieces(tokenizer.model) if piece.score == ADDED)
    return [piece.text[1:] for piece in added if piece.type is PieceType.USER_DEFINED]


def _without_added(model: bytes) -> bytes:
    """Return a model without the pieces that an import added; a model without such pieces is returned unchanged."""
    pieces = read_pieces(model)
    own = [piece for piece in pieces if piece.score != ADDED]
    return model if own == pieces else with_pieces(model, own)


def _ids(vocabulary: Sequence[str]) -> dict[str, int]:
    """Return the id of each piece."""
    return {piece: number for number, piece in enumerate(vocabulary)}


def _json(values: Mapping[str, Any]) -> bytes:
    """Return values as the content of a JSON file."""
    return (json.dumps(values, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


# --- Import ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MarianTokens:
    """The content of a MarianTokenizer's files: for each side a SentencePiece model and the id of each piece."""

    source_model: bytes
    target_model: bytes
    source_ids: Mapping[str, int]
    target_ids: Mapping[str, int]
    unknown: str

    def tokenizers(self, config: TranslationConfig, *, where: str) -> Tokenizers:
        """Return tokenizers whose ids are those of the Transformer."""
        special = (config.pad, config.start, config.end)
        source = _ordered(self.source_ids, config.source_vocabulary, where=f"{where}/vocab.json")
        target = _ordered(self.target_ids, config.target_vocabulary, where=f"{where}/vocab.json")
        models = [
            _rebuilt(self.source_model, source, unknown=self.unknown, special=special, codes=True),
            _rebuilt(self.target_model, target, unknown=self.unknown, special=special, codes=False),
        ]
        first = Tokenizer(models[0])
        return Tokenizers(first, first if models[0] == models[1] else Tokenizer(models[1]))


def _ordered(ids: Mapping[str, int], size: int, *, where: str) -> list[str]:
    """Return the piece of each id. Ids without a piece, as in a padded vocabulary, get a placeholder piece."""
    pieces = {number: piece for piece, number in ids.items()}
    if len(pieces) != len(ids) or not pieces or min(pieces) < 0 or max(pieces) >= size:
        raise ManyheadsError(f"the vocabulary does not give each piece an id of its own below {size:,}.", where=where)
    return [pieces.get(number, f"<unused {number}>") for number in range(size)]


def _rebuilt(model: bytes, vocabulary: Sequence[str], *, unknown: str, special: Sequence[int], codes: bool) -> bytes:
    """Return a SentencePiece model that splits text as the given one does, with the ids of the vocabulary."""
    pieces = read_pieces(model)
    if [piece.text for piece in pieces] == list(vocabulary):
        return model
    own = {piece.text: piece for piece in pieces}
    # An unused piece keeps its text when decoded. BPE would merge into an unused piece, so there it is a control piece.
    foreign = PieceType.CONTROL if model_type(model) is ModelType.BPE else PieceType.UNUSED

    def placed(number: int, text: str) -> Piece:
        """Return the piece for an id."""
        if text == unknown:
            return Piece(text, 0.0, PieceType.UNKNOWN)
        if number in special:
            return replace(own.get(text, Piece(text, ADDED)), type=PieceType.CONTROL)
        if text in own:
            return own[text]
        if codes and LANGUAGE_CODE.fullmatch(text):
            return Piece(tag_piece(text), ADDED, PieceType.USER_DEFINED)
        return Piece(text, ADDED, foreign)

    known = set(vocabulary)
    special_types = (PieceType.UNKNOWN, PieceType.CONTROL)
    beyond = [piece for piece in pieces if piece.text not in known and piece.type not in special_types]
    if beyond:
        beyond.insert(0, Piece(BEYOND, ADDED, PieceType.CONTROL))
    return with_pieces(model, [*(placed(number, text) for number, text in enumerate(vocabulary)), *beyond])
