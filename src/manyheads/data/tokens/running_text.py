"""Tokenizers for running text, which keep every character: `decode(encode(text))` is the text itself.

Unlike those for sentences, they leave white space and Unicode as they are, and a line break is a piece of its own.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

import sentencepiece

from manyheads.config.values import Positive
from manyheads.data.tokens.tokenizers import (
    DEFAULT_VOCABULARY,
    END,
    MODEL_TYPES,
    PAD,
    START,
    UNKNOWN,
    Tokenizer,
    explain,
)

LINE_BREAK, TAB = "\n", "\t"  # which SentencePiece would not learn as pieces


def train_text_tokenizer(lines: Iterable[str], *, kind: str, vocabulary: Positive | None) -> Tokenizer:
    """Train a tokenizer of the given kind (characters, bpe or unigram) on lines without their line breaks."""
    subwords = kind != "characters"
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            model_type=MODEL_TYPES[kind],
            vocab_size=vocabulary or DEFAULT_VOCABULARY,
            use_all_vocab=not subwords and vocabulary is None,
            hard_vocab_limit=subwords and vocabulary is not None,
            character_coverage=1.0,
            byte_fallback=subwords,
            normalization_rule_name="identity",
            add_dummy_prefix=False,
            remove_extra_whitespaces=False,
            pad_id=PAD,
            unk_id=UNKNOWN,
            bos_id=START,
            eos_id=END,
            user_defined_symbols=[LINE_BREAK, TAB],
            max_sentence_length=1_000_000,
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        raise explain(str(error), vocabulary) from None
    return Tokenizer(model.getvalue())
