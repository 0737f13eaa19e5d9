"""Each fault is found where there is one, and legitimate differences between languages are not faults."""

import pytest

from manyheads.data.cleaning.faults.balance import Balance, usual_ratio
from manyheads.data.cleaning.faults.copying import copied, untranslated
from manyheads.data.cleaning.faults.encoding import badly_encoded
from manyheads.data.cleaning.faults.language import Language, Script
from manyheads.data.cleaning.faults.numbers import numbers_differ
from manyheads.data.cleaning.faults.repetition import Repetitions
from manyheads.data.generated import task
from manyheads.data.text.records import Pair

# --- Encoding --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["fÃ¼r", "naÃ¯ve cafÃ©", "replaced \ufffd", "a\x00b", "donâ€™t", "bâˆšse"])
def test_traces_of_a_wrong_encoding_are_seen(text):
    assert badly_encoded(text)


@pytest.mark.parametrize("text", ["für", "naïve café", "don’t", "2026年11月15日", "Привет", "¿Qué? ½ €", "a\tb", "SÃO"])
def test_real_text_is_left_alone(text):
    assert not badly_encoded(text)


def test_no_date_in_any_language_looks_badly_encoded():
    assert not [pair for pair in task("dates").pairs("train", count=2000) if badly_encoded(pair.source)]


# --- Numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source, target",
    [
        ("It costs 1,000.5 dollars.", "Es kostet 1.000,5 Dollar."),
        ("It costs 1,000.5 dollars.", "Cela coûte 1\u202f000,5 dollars."),
        ("1.5 million people in 2020", "2020年有150万人"),
        ("on 31/01/2020 at 15:45", "am 31.1.2020 um 15.45 Uhr"),
        ("March 5, 1999", "1999年3月5日"),
        ("12 apostles and 3 kings", "les douze apôtres et 3 rois"),
        ("at 3:45 pm", "um 15:45 Uhr"),
        ("the number 932-8647", "le numéro 932-86-47"),
        ("Article 23 applies for 30 days", "第二十三条适用30天"),
        ("１５ years", "15 Jahre"),
        ("no digits", "keine 35"),
    ],
)
def test_numbers_may_be_written_differently(source, target):
    assert not numbers_differ(source, target)


@pytest.mark.parametrize(
    "source, target",
    [("in 1998 and 47 more", "im Jahr 1989 und 47 weitere"), ("3840x2160", "3840 × 1080"), ("page 37", "Seite 73.5")],
)
def test_other_numbers_are_a_fault(source, target):
    assert numbers_differ(source, target)


# --- Script and language ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "language, text, wrong",
    [
        ("zh", "Nobody ever translated this sentence.", True),
        ("zh", "Yaf_Exception_RouterFailed 类", False),
        ("zh", "OK", False),
        ("ru", "Ein Satz ohne jede Übersetzung", True),
        ("ru", "Открыть файл README.md", False),
        ("en", "这句话没有翻译", True),
        ("en", "The character 好 means good.", False),
        ("de", "Größe ändern", False),
        ("xx", "这句话没有翻译", False),
    ],
)
def test_a_wrong_script_is_seen(language, text, wrong):
    assert Script(language).is_wrong(text) is wrong


ENGLISH = "I voted in favour of this report on the review of the financial regulation."


@pytest.mark.parametrize(
    "language, text, wrong",
    [
        ("en", ENGLISH, False),
        ("de", ENGLISH, True),
        ("fr", ENGLISH, True),
        ("de", "Man kan inte ta för givet att närproducerat alltid är bättre för miljön.", True),
        ("de", "Man kann nicht davon ausgehen, dass örtliche Erzeugnisse immer besser sind.", False),
        ("de-AT", "Man kann nicht davon ausgehen, dass örtliche Erzeugnisse immer besser sind.", False),
        ("de", "Review of the report", False),  # too short to be judged
        ("zh", ENGLISH, False),  # the script tells that
        ("xx", ENGLISH, False),
    ],
)
def test_a_wrong_language_is_seen_where_there_is_enough_text(language, text, wrong):
    assert Language(language).is_wrong(text) is wrong


# --- Not translated --------------------------------------------------------------------------------------------------


def test_copies_are_distinguished_from_names():
    assert copied("nobody translated this", "nobody translated this")
    assert not copied("Los Angeles", "Los Angeles")


@pytest.mark.parametrize(
    "source, target, fault",
    [
        ("Example: running a python script.", "Example - Running a Python script", True),
        ("When asked, use the following steps to get the changes", "Bitte use the following steps to get es", True),
        ("September 20, 2021", "20. September 2021", False),
        ("GS1 bar codes", "GS1-Barcodes", False),
        (
            "Thanks to Ada Lovelace, Alan Turing and Kurt Gödel",
            "Dank an Ada Lovelace, Alan Turing und Kurt Gödel",
            False,
        ),
    ],
)
def test_what_was_left_untranslated_is_seen(source, target, fault):
    assert untranslated(source, target) is fault


# --- Repeated --------------------------------------------------------------------------------------------------------


def test_repetitions_are_distinguished_from_near_ones_and_new_ones():
    seen = Repetitions()
    assert seen.fault(Pair("Step 1: open.", "Schritt 1: öffnen.")) is None
    assert seen.fault(Pair("Step 1: open.", "Schritt 1: öffnen.")) == "duplicated"
    assert seen.fault(Pair("STEP 2 – Open", "Schritt 2: Öffnen!")) == "near_duplicated"
    assert seen.fault(Pair("Step 1: open.", "Schritt 1: aufmachen.")) is None
    assert seen.fault(Pair("1", "2")) is None
    assert seen.fault(Pair("3", "4")) is None  # where digits are all there is, they matter


# --- Lengths ---------------------------------------------------------------------------------------------------------


def test_what_is_usual_is_measured():
    pairs = [Pair("a" * 30, "b" * 10)] * 3 + [Pair("a", "b" * 50)]
    assert usual_ratio(pairs) == 3.0
    assert usual_ratio([]) == 1.0


def test_code_in_a_chinese_sentence_weighs_what_it_weighs_in_english():
    usual = usual_ratio([Pair("This is an ordinary sentence.", "这是一个普通的句子。")])
    balance = Balance(usual=usual, limit=2.0)
    code = "django.contrib.auth.models.User.check_password"
    assert not balance.is_unbalanced(f"Call {code} to check it.", f"调用 {code} 检查。")
    assert balance.is_unbalanced(f"Call {code} to check it.", "检查。")


def test_long_texts_are_allowed_less():
    balance = Balance(usual=1.0, limit=4.0)
    assert not balance.is_unbalanced("a" * 8, "b" * 24)
    assert balance.is_unbalanced("a" * 100, "b" * 300)
    assert not balance.is_unbalanced("a", "b" * 11)  # too short to mean anything
