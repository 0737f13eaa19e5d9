"""Tokenizers for running text, which keep white space, line breaks and Unicode as they are.

`decode(encode(text))` is the text itself: with subwords always, since unknown characters are spelled as bytes, and with
characters as long as all of them occurred in training.
"""

from __future__ import annotations

from collections.abc import Iterable

from manyheads.config.corpora import TokenizerKind
from manyheads.data.tokens.tokenizers import SUBWORDS, Tokenizer, train_pieces

LINE_BREAK, TAB = "\n", "\t"  # which SentencePiece would not learn as pieces


def train_text_tokenizer(lines: Iterable[str], *, kind: TokenizerKind, vocabulary: int | None) -> Tokenizer:
    """Train a tokenizer of the given kind (characters, bpe or unigram) on lines without their line breaks."""
    model = train_pieces(
        lines,
        kind=kind,
        vocabulary=vocabulary,
        character_coverage=1.0,
        byte_fallback=kind in SUBWORDS,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        user_defined_symbols=[LINE_BREAK, TAB],
    )
    return Tokenizer(model)
