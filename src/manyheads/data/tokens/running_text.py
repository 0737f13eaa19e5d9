"""Tokenizers for running text: subwords, characters and bytes, which keep all of it, and words.

`decode(encode(text))` is the text itself: with subwords and bytes always, and with characters as long as all of them
occurred in training. Words are what white space separates, and a line break is one too; other white space becomes
single spaces. A word that is not in the list is unknown, as is `<unk>`, which WikiText has in its place.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from manyheads.config.tasks.language_model import TextTokenizerKind
from manyheads.data.tokens.sentencepiece_model import without_rules_files
from manyheads.data.tokens.tokenizers import LINE_AS_WORD, SUBWORDS, Tokenizer, train_pieces

LINE_BREAK, TAB = "\n", "\t"  # which SentencePiece would not learn as pieces
BYTES_VOCABULARY = 4 + 256 + 1  # special tokens, bytes, and SentencePiece's sign for a space
_WRITING = "20 A 20\tA\n20 A\tA\nA 20\tA\n"  # SentencePiece's rules in hexadecimal: no spaces around line breaks


def train_text_tokenizer(lines: Iterable[str], *, kind: TextTokenizerKind, vocabulary: int | None) -> Tokenizer:
    """Train a tokenizer of the given kind on lines without their line breaks; bytes are the same for any text."""
    if kind == "words":
        return _train_words(lines, vocabulary)
    model = train_pieces(
        [" "] if kind == "bytes" else lines,
        kind="characters" if kind == "bytes" else kind,
        vocabulary=BYTES_VOCABULARY if kind == "bytes" else vocabulary,
        character_coverage=1.0,
        byte_fallback=kind == "bytes" or kind in SUBWORDS,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        user_defined_symbols=[] if kind == "bytes" else [LINE_BREAK, TAB],
    )
    return Tokenizer(model)


def _train_words(lines: Iterable[str], vocabulary: int | None) -> Tokenizer:
    """Return a tokenizer of the most frequent words, or of all."""
    with tempfile.TemporaryDirectory() as folder:
        writing = Path(folder) / "writing.tsv"
        writing.write_text(_WRITING, encoding="utf-8")
        model = train_pieces(
            (" ".join(line.split()) for line in lines),
            kind="symbols",
            vocabulary=vocabulary,
            normalization_rule_name="identity",
            denormalization_rule_tsv=str(writing),
            unk_surface=" <unk>",
            user_defined_symbols=[LINE_AS_WORD],
        )
    return Tokenizer(without_rules_files(model))
