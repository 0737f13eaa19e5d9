"""Tokenizers: SentencePiece models, trained inside, for subwords (BPE, unigram), characters and white-space symbols.

All four have the same file format, so that every run is exported and decoded in the same way. The ids of the special
tokens are the same in every tokenizer trained here: 0 <pad>, 1 <unk>, 2 <s>, 3 </s>.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import sentencepiece

from manyheads.bounded.files import MOST_VOCABULARY, read_bytes
from manyheads.config.corpora import TokenizerKind, TokenizerSettings
from manyheads.config.symbols import SYMBOLS
from manyheads.data.text.records import Pair
from manyheads.data.tokens.sentencepiece_model import without_rules_files
from manyheads.errors import ManyheadsError
from manyheads.processor import usable_cores

PAD, UNKNOWN, START, END = 0, 1, 2, 3
SPACE = "▁"  # SentencePiece's sign for the space before a word
LINE_AS_WORD = f"{SPACE}\n"  # a line break, in tokenizers of the words of running text, which alone have this piece
BEYOND = "<beyond>"  # in imported models: later pieces help to segment a text, but are not in the model's vocabulary
DEFAULT_VOCABULARY = 8000  # fewer for a corpus that is too small for it
LONGEST_WORD = 3600  # characters: SentencePiece takes 65,535, and normalisation makes up to 18 of one
PART_OF_WORD = 256  # of a longer one: no piece has more than 16, and repetitions in long words take long to count
TRAINING_PAIRS = 200_000  # more would hardly change a tokenizer, and take memory: half a gigabyte for a million

SUBWORDS: tuple[TokenizerKind, ...] = ("bpe", "unigram")
_WORD = re.compile(r"\n|\S+")
_MODEL_TYPES = {"bpe": "bpe", "unigram": "unigram", "characters": "char", "symbols": "word"}


class Tokenizer:
    """Text to token ids and back."""

    def __init__(self, model: bytes) -> None:
        self.model = model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        pieces = int(self._processor.get_piece_size())
        if pieces == 0:  # SentencePiece reads an empty file as a model without pieces
            raise RuntimeError("the model has no pieces")
        beyond = int(self._processor.piece_to_id(BEYOND))
        self._all_known = not self._processor.is_control(beyond)
        self._known = pieces if self._all_known else beyond
        self.of_words = self._processor.piece_to_id(LINE_AS_WORD) != self._processor.unk_id()

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        """Read a SentencePiece model file."""
        try:
            return cls(read_bytes(path, most=MOST_VOCABULARY))
        except FileNotFoundError:
            raise ManyheadsError("the tokenizer's file is missing.", where=str(path)) from None
        except (RuntimeError, OSError):
            raise ManyheadsError("this is not a SentencePiece model, or it is damaged.", where=str(path)) from None

    def __len__(self) -> int:
        return self._known

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without special tokens."""
        (ids,) = self.encode_all([text])
        return ids

    def encode_all(self, texts: Sequence[str], *, threads: int | None = 1) -> list[list[int]]:
        """Return the ids of many texts, computed by several threads; None is one for each core."""
        if self.of_words:  # SentencePiece would make one unknown piece of several unknown words
            return [self._word_ids(text) for text in texts]
        rows: list[list[int]]
        if len(texts) == 1:  # starting a thread for it takes three times as long as encoding it
            rows = [self._processor.encode(texts[0])]
        else:
            rows = self._processor.encode(list(texts), num_threads=threads or usable_cores())
        if self._all_known:
            return rows
        unknown = self._processor.unk_id()
        return [[token if token < self._known else unknown for token in row] for row in rows]

    def _word_ids(self, text: str) -> list[int]:
        """Return the ids of a text's words and line breaks."""
        known, unknown = self._ids, int(self._processor.unk_id())
        return [known.get(f"{SPACE}{word}", unknown) for word in _WORD.findall(text)]

    @cached_property
    def _ids(self) -> dict[str, int]:
        """The id of each piece."""
        return {piece: number for number, piece in enumerate(self.vocabulary())}

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text that the ids spell; special tokens spell nothing."""
        text: str = self._processor.decode(self._spelling(ids))
        return text

    def decode_all(self, rows: Sequence[Sequence[int]], *, threads: int | None = 1) -> list[str]:
        """Return the texts that many rows of ids spell, computed by several threads; None is one for each core."""
        if len(rows) < 2:
            return [self.decode(ids) for ids in rows]
        spelling = [self._spelling(ids) for ids in rows]
        texts: list[str] = self._processor.decode(spelling, num_threads=threads or usable_cores())
        return texts

    def _spelling(self, ids: Sequence[int]) -> list[int]:
        """Return the ids that spell something."""
        silent = self._controls
        return [token for token in map(int, ids) if token not in silent]

    @cached_property
    def _controls(self) -> frozenset[int]:
        """The ids that spell nothing."""
        return frozenset(i for i in range(self._processor.get_piece_size()) if self._processor.is_control(i))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the piece of each id, as it is written in the vocabulary."""
        return [self._processor.id_to_piece(int(i)) for i in ids]

    def vocabulary(self) -> list[str]:
        """Return every piece in the order of the ids."""
        return self.pieces(range(len(self)))

    def scores(self) -> list[float]:
        """Return every piece's score: how early it is merged (BPE), or its log-probability (unigram)."""
        return [self._processor.get_score(i) for i in range(len(self))]

    def is_special(self, number: int) -> bool:
        """Whether an id means something other than the text of its piece: padding, an unknown piece, a byte."""
        processor = self._processor
        return bool(processor.is_control(number) or processor.is_unknown(number) or processor.is_byte(number))


@dataclass(frozen=True)
class Tokenizers:
    """The tokenizers of both sides; if they are shared, the same object twice."""

    source: Tokenizer
    target: Tokenizer

    @property
    def shared(self) -> bool:
        """Whether both sides have the same tokenizer."""
        return self.source is self.target

    def files(self) -> dict[str, bytes]:
        """Return the models by file name, as in a run folder."""
        if self.shared:
            return {"shared.model": self.source.model}
        return {"source.model": self.source.model, "target.model": self.target.model}

    @staticmethod
    def are_in(folder: Path) -> bool:
        """Whether a folder has the tokenizers of both sides."""
        each = [(folder / f"{name}.model").exists() for name in ("shared", "source", "target")]
        return each[0] or (each[1] and each[2])

    @classmethod
    def load(cls, folder: Path) -> Tokenizers:
        """Read the tokenizers of a run folder."""
        if (folder / "shared.model").exists():
            shared = Tokenizer.load(folder / "shared.model")
            return cls(shared, shared)
        return cls(Tokenizer.load(folder / "source.model"), Tokenizer.load(folder / "target.model"))


def train_tokenizers(pairs: Iterable[Pair], settings: TokenizerSettings, tags: Sequence[str] = ()) -> Tokenizers:
    """Train the tokenizers of both sides on pairs, which are read once (shared) or twice.

    Each tag becomes one piece of the source tokenizer.
    """
    pairs = _sample(pairs)
    if settings.shared:
        both = (side for pair in pairs for side in pair)
        shared = train_tokenizer(both, settings, kind=settings.kind, vocabulary=settings.vocabulary, tags=tags)
        return Tokenizers(shared, shared)
    rows = list(pairs)
    own = settings.target
    kind, vocabulary = (own.kind, own.vocabulary) if own else (settings.kind, settings.vocabulary)
    return Tokenizers(
        train_tokenizer(
            (row.source for row in rows), settings, kind=settings.kind, vocabulary=settings.vocabulary, tags=tags
        ),
        train_tokenizer((row.target for row in rows), settings, kind=kind, vocabulary=vocabulary),
    )


def _sample(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield the first sentences up to a limit; a corpus is read in a fixed order, so the choice is reproducible."""
    for number, pair in enumerate(pairs):
        if number >= TRAINING_PAIRS:
            return
        yield pair


def train_tokenizer(
    texts: Iterable[str],
    settings: TokenizerSettings,
    *,
    kind: TokenizerKind,
    vocabulary: int | None,
    tags: Sequence[str] = (),
) -> Tokenizer:
    """Train one tokenizer; without a vocabulary size, characters and symbols include all that occur."""
    with _normalisation("identity" if kind == "symbols" else settings.normalization) as normalisation:
        model = train_pieces(
            texts,
            kind=kind,
            vocabulary=vocabulary,
            character_coverage=settings.coverage,
            byte_fallback=settings.byte_fallback and kind in SUBWORDS,
            split_digits=settings.split_digits,
            user_defined_symbols=[*map(tag_piece, tags), *reserved_symbols(settings)],
            **normalisation,
        )
    tokenizer = Tokenizer(without_rules_files(model))
    for tag in tags:
        if len(tokenizer.encode(tag)) != 1:
            raise ManyheadsError(
                f"the tag '{tag}' cannot be one token of a tokenizer of {kind}.",
                where="data.train",
                cure="Choose one of plain letters in brackets, such as <bt>.",
            )
    return tokenizer


def train_pieces(texts: Iterable[str], *, kind: TokenizerKind, vocabulary: int | None, **options: Any) -> bytes:  # noqa: ANN401
    """Return a SentencePiece model with the special tokens of this package; `options` are further ones of its trainer.

    Without a vocabulary size, characters and symbols include all that occur.
    """
    subwords = kind in SUBWORDS
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_without_long_words(texts),
            model_writer=model,
            model_type=_MODEL_TYPES[kind],
            vocab_size=vocabulary or DEFAULT_VOCABULARY,
            use_all_vocab=not subwords and vocabulary is None,
            hard_vocab_limit=subwords and vocabulary is not None,
            pad_id=PAD,
            unk_id=UNKNOWN,
            bos_id=START,
            eos_id=END,
            max_sentence_length=1_000_000,
            minloglevel=2,
            **options,
        )
    except (RuntimeError, OSError, OverflowError) as error:
        raise _explain(str(error), vocabulary) from None
    return model.getvalue()


def _without_long_words(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts; of one with a word too long for the trainer, which would end the process, its different parts."""
    for text in texts:
        if len(text) <= LONGEST_WORD or max(map(len, text.split()), default=0) <= LONGEST_WORD:
            yield text
        else:
            yield from {text[start : start + PART_OF_WORD]: None for start in range(0, len(text), PART_OF_WORD)}


@contextmanager
def _normalisation(name: str) -> Iterator[dict[str, Any]]:
    """Yield the trainer's arguments for a normalisation: the name of a built-in rule, or files with this package's."""
    if name != "nfkc_simplified":
        yield {"normalization_rule_name": name}
        return
    from manyheads.data.text.chinese import normalisation_rules, writing_rules

    with tempfile.TemporaryDirectory() as folder:
        reading, writing = Path(folder) / "reading.tsv", Path(folder) / "writing.tsv"
        reading.write_text(normalisation_rules(), encoding="utf-8")
        writing.write_text(writing_rules(), encoding="utf-8")
        yield {"normalization_rule_tsv": str(reading), "denormalization_rule_tsv": str(writing)}


def reserved_symbols(settings: TokenizerSettings) -> tuple[str, ...]:
    """Return the symbols that are never split, if any."""
    return SYMBOLS if settings.symbols else ()


def tag_piece(tag: str) -> str:
    """Return how a tag is written in a vocabulary: as a word, with SentencePiece's sign for the space before it."""
    return f"{SPACE}{tag}"


def _explain(message: str, vocabulary: int | None) -> ManyheadsError:
    """Turn SentencePiece's error message into a ManyheadsError."""
    allowed = re.search(r"value <= (\d+)", message)
    if allowed:
        return ManyheadsError(
            f"a vocabulary of {vocabulary:,} pieces is larger than this corpus allows ({int(allowed[1]):,}).",
            where="tokenizer.vocabulary",
            cure=f"Set it to at most {int(allowed[1])}.",
        )
    needed = re.search(r"required_chars\. \d+ vs (\d+)", message)
    if needed:
        return ManyheadsError(
            f"a vocabulary of {vocabulary:,} pieces cannot hold every character of this corpus.",
            where="tokenizer.vocabulary",
            cure=f"Set it to at least {needed[1]}, or lower tokenizer.coverage and set tokenizer.byte_fallback: true.",
        )
    if "sentences_.empty" in message or "required_chars_.empty" in message:
        return ManyheadsError("the corpus holds no text to train a tokenizer on.", where="data.train")
    return ManyheadsError(f"the tokenizer could not be trained: {message.strip()}.", where="tokenizer")
