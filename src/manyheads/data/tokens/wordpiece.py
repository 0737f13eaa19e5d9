"""WordPiece: the tokenizer of BERT and related models, by the `tokenizers` library, and BERT's padded input arrays.

    tokenizer = WordPiece.load(folder)
    rows = tokenizer.encode(["One text.", ("A question?", "Its context.")], longest=512)
    tokenizer.lay_out(rows).input_ids   # [B, S]:  [CLS] one text . [SEP] [PAD] …

A pair is one sequence, [CLS] a [SEP] b [SEP]; `token_type_ids` says which text a token belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyheads.bounded.files import MOST_SETTINGS, MOST_VOCABULARY, read_bytes
from manyheads.bounded.json_text import parse_json, parse_settings
from manyheads.config.corpora import TokenizerSettings
from manyheads.data.tokens.tokenizers import SPACE, train_tokenizer
from manyheads.errors import ManyheadsError
from manyheads.extras import naming_extras

if TYPE_CHECKING:
    import tokenizers

Text = str | tuple[str, str]
Ids = NDArray[np.int64]

FILE, VOCABULARY, SETTINGS = "tokenizer.json", "vocab.txt", "tokenizer_config.json"
PAD, UNKNOWN, FIRST, SEPARATOR, MASK = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LARGEST_ID = 10_000_000
PREFIX = "##"  # of a piece that does not begin a word


class Rectangles(NamedTuple):
    """A batch as a BERT reads it, [B, S] each: ids, 1 where a token is real and 0 where it is padding, and segments."""

    input_ids: Ids
    attention_mask: Ids
    token_type_ids: Ids


@dataclass(frozen=True)
class Row:
    """One text or pair as tokens, special ones included.

    `spans` is the start and end of each token in its text, and `truncated` whether the text was cut off.
    """

    ids: list[int]
    segments: list[int]
    spans: list[tuple[int, int]]
    special: list[bool]
    truncated: bool

    def __len__(self) -> int:
        return len(self.ids)


class WordPiece:
    """Texts and pairs to tokens."""

    def __init__(self, tokenizer: tokenizers.Tokenizer, *, where: str = "tokenizer") -> None:
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.special = _check_special({name: tokenizer.token_to_id(name) for name in SPECIAL}, where=where)

    @classmethod
    def load(cls, folder: Path) -> WordPiece:
        """Read a folder's tokenizer.json, or its vocab.txt with the settings in tokenizer_config.json."""
        library = _library()
        if (folder / FILE).exists():
            try:
                content = read_bytes(folder / FILE, most=MOST_VOCABULARY).decode("utf-8")
                _check_ids(parse_json(content))
                return cls(library.Tokenizer.from_str(content), where=str(folder / FILE))
            except (ManyheadsError, KeyboardInterrupt):
                raise
            except BaseException as error:  # the library raises nothing narrower, and PanicException is no Exception
                raise ManyheadsError(f"this is not a tokenizer: {error}.", where=str(folder / FILE)) from None
        if (folder / VOCABULARY).exists():
            return cls(_from_vocabulary(folder), where=str(folder / VOCABULARY))
        raise ManyheadsError(f"there is no tokenizer: neither {FILE} nor {VOCABULARY}.", where=str(folder))

    @classmethod
    def train(cls, texts: Iterable[str], *, vocabulary: int) -> WordPiece:
        """Train a tokenizer that ignores case, with at most the given number of pieces, and every character."""
        library = _library()
        normalizer, splitter = (
            library.normalizers.BertNormalizer(lowercase=True),
            library.pre_tokenizers.BertPreTokenizer(),
        )
        words = (
            " ".join(word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))) for text in texts
        )
        return cls(_assembled(_learned(words, vocabulary), {}))

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def text(self) -> str:
        """Return the content of a complete tokenizer.json."""
        content: str = self._tokenizer.to_str(pretty=False)
        return content

    def encode(self, texts: Sequence[Text], *, longest: int) -> list[Row]:
        """Return texts and pairs as rows of at most `longest` tokens; the longer text of a pair is cut first."""
        self._tokenizer.enable_truncation(longest, strategy="longest_first")
        return [_row(one) for one in self._tokenizer.encode_batch(list(texts))]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the piece of each id, as it is written in the vocabulary."""
        return [self._tokenizer.id_to_token(int(number)) or UNKNOWN for number in ids]

    def lay_out(self, rows: Sequence[Row]) -> Rectangles:
        """Return rows as rectangular arrays, padded on the right."""
        width = max((len(row) for row in rows), default=0)
        result = Rectangles(*(np.zeros((len(rows), width), dtype=np.int64) for _ in Rectangles._fields))
        result.input_ids.fill(self.special[PAD])
        for place, row in enumerate(rows):
            result.input_ids[place, : len(row)] = row.ids
            result.attention_mask[place, : len(row)] = 1
            result.token_type_ids[place, : len(row)] = row.segments
        return result


def _row(encoding: tokenizers.Encoding) -> Row:
    """Return the library's result as a `Row`."""
    special = [one == 1 for one in encoding.special_tokens_mask]
    return Row(encoding.ids, encoding.type_ids, encoding.offsets, special, truncated=bool(encoding.overflowing))


def _from_vocabulary(folder: Path) -> tokenizers.Tokenizer:
    """Return BERT's own tokenizer for a list of pieces, with the settings of the folder."""
    return _assembled(_vocabulary(folder / VOCABULARY), _settings(folder / SETTINGS))


def _assembled(vocabulary: dict[str, int], settings: Mapping[str, Any]) -> tokenizers.Tokenizer:
    """Return BERT's own tokenizer for numbered pieces."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN, continuing_subword_prefix=PREFIX))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
        strip_accents=settings.get("strip_accents"),
        lowercase=settings.get("do_lower_case", True),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing((SEPARATOR, vocabulary[SEPARATOR]), (FIRST, vocabulary[FIRST]))
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer


def _learned(words: Iterable[str], vocabulary: int) -> dict[str, int]:
    """Return numbered pieces for words with spaces between them: every character, and what is merged first.

    SentencePiece learns them, since the library's own trainer breaks ties by chance and a run is to depend on its
    recipe alone.
    """
    found = train_tokenizer(words, TokenizerSettings(normalization="identity"), kind="bpe", vocabulary=None)
    plain = [piece for number, piece in enumerate(found.vocabulary()) if not found.is_special(number)]
    characters = sorted({character for piece in plain for character in piece} - {SPACE})
    merged = [
        piece.removeprefix(SPACE) if piece[0] == SPACE else f"{PREFIX}{piece}" for piece in plain if piece != SPACE
    ]
    both = [form for character in characters for form in (character, f"{PREFIX}{character}")]
    pieces = list(dict.fromkeys([*SPECIAL, *both, *merged]))
    return {piece: number for number, piece in enumerate(pieces[: max(vocabulary, len(SPECIAL) + len(both))])}


def _vocabulary(path: Path) -> dict[str, int]:
    """Return the pieces of a vocab.txt, one per line, with their numbers."""
    try:
        lines = read_bytes(path, most=MOST_VOCABULARY).decode("utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError):
        raise ManyheadsError("this is not a list of pieces.", where=str(path)) from None
    vocabulary = {piece.rstrip("\r"): number for number, piece in enumerate(lines)}
    _check_special(vocabulary, where=str(path))  # the library would add missing ones with ids beyond the model's
    return vocabulary


def _check_special(numbers: Mapping[str, int | None], *, where: str) -> dict[str, int]:
    """Return the ids of the special tokens; one error names all that are missing."""
    found = {name: number for name in SPECIAL if (number := numbers.get(name)) is not None}
    missing = [name for name in SPECIAL if name not in found]
    if missing:
        raise ManyheadsError(f"the tokenizer has no {', '.join(missing)}.", where=where)
    return found


def _check_ids(values: Any) -> None:  # noqa: ANN401
    """Raise an error for an id for which the library would take more memory than there is."""
    model = values.get("model") if isinstance(values, dict) else None
    ids = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(ids, dict) and any(isinstance(number, int) and number > LARGEST_ID for number in ids.values()):
        raise ValueError(f"an id is larger than {LARGEST_ID:,}")


def _settings(path: Path) -> dict[str, Any]:
    """Return the content of a tokenizer_config.json; empty if there is none."""
    if not path.exists():
        return {}
    try:
        values = parse_settings(read_bytes(path, most=MOST_SETTINGS))
    except (OSError, ValueError):
        raise ManyheadsError("this is not JSON.", where=str(path)) from None
    if not isinstance(values, dict):
        return {}
    for key in ("tokenize_chinese_chars", "strip_accents", "do_lower_case"):
        if not isinstance(values.get(key), bool | None):
            raise ManyheadsError(f"'{key}' must be true or false.", where=str(path))
    return values


def _library() -> Any:  # noqa: ANN401
    """Return the library `tokenizers`; if it is missing, the error names the extra that installs it."""
    with naming_extras("WordPiece"):
        import tokenizers
    return tokenizers
