"""A run of several languages: a tag selects the target language, and without a given target the text decides."""

import json
from pathlib import Path

import pytest

from manyheads.config.corpora import language_tag
from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.inspection.inspector import Inspector
from run_folders import make_multilingual_run, make_run

GERMAN, ENGLISH = "Die Kinder spielen im Garten mit dem Hund.", "The children are playing in the garden."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_multilingual_run(tmp_path_factory.mktemp("languages") / "run").path


@pytest.fixture(params=["torch", "ctranslate2"])
def translator(run: Path, request: pytest.FixtureRequest) -> Translator:
    return Translator(run, engine=request.param)


def test_the_tag_is_one_token_before_the_source(translator: Translator):
    tokenizer = translator.tokenizers.source
    for language in ("en", "fr", "de"):
        tag = tokenizer.encode(language_tag(language))
        assert len(tag) == 1
        (found,) = translator.translations(["3 May 2021"], to=language)
        ids = tokenizer.encode("3 May 2021")
        assert tokenizer.encode(f"{language_tag(language)} 3 May 2021") == tag + ids  # as it is in training
        (expected,) = translator.engine.search([tag + ids], translator.options)
        assert found.candidates[0].tokens == expected[0].tokens
    outputs = {translator.translate("3 May 2021", to=language, extra_length=5) for language in ("en", "fr", "de")}
    assert len(outputs) > 1


def test_without_a_target_the_language_of_the_text_decides(translator: Translator, monkeypatch: pytest.MonkeyPatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert translator.languages.default_target(GERMAN) == "en"
    assert translator.languages.default_target(ENGLISH) == "fr"  # the first in the recipe
    monkeypatch.setenv("LANG", "de_AT.UTF-8")
    assert translator.languages.default_target(ENGLISH) == "de"
    assert translator.languages.default_target(GERMAN) == "en"
    both = translator.translate([GERMAN, ENGLISH])
    assert both == [translator.translate(GERMAN, to="en"), translator.translate(ENGLISH, to="de")]


def test_every_part_of_a_long_text_has_the_tag(translator: Translator):
    parts = ["3 May 2021.", "4 May 2021."]
    whole = translator.translate(" ".join(parts), to="fr", split_above=14, extra_length=5)
    each = [translator.translate(part, to="fr", extra_length=5) for part in parts]
    assert whole == " ".join(each)


def test_alignments_do_not_count_the_tag(translator: Translator):
    (found,) = translator.translations(["3 May 2021"], to="fr", alignments=True)
    ids = translator.tokenizers.source.encode("3 May 2021")
    assert {len(row) for row in found.candidates[0].attention} == {len(ids) + 1}


def test_scores_depend_on_the_language(translator: Translator):
    scores = {str(translator.score(["3 May 2021"], ["2021-05-03"], to=to)) for to in ("en", "fr", "de")}
    assert len(scores) == 3


def test_unknown_languages_get_the_list(translator: Translator, tmp_path: Path):
    with pytest.raises(ManyheadsError, match="into 'zh', but into fr, de, en"):
        translator.translate("3 May 2021", to="zh")
    alone = Translator(make_run(tmp_path / "alone").path)
    assert alone.translate("3 May 2021", to="de") == alone.translate("3 May 2021")
    with pytest.raises(ManyheadsError, match="translates only into de"):
        alone.translate("3 May 2021", to="fr")


FRENCH = "Je suis fatigué et je veux rentrer chez moi."


@pytest.fixture(scope="module")
def one_way(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of fr → en, de → en and en → zh."""
    directions = [("fr", "en"), ("de", "en"), ("en", "zh")]
    return make_multilingual_run(tmp_path_factory.mktemp("one_way") / "run", directions).path


@pytest.mark.parametrize("texts", [[FRENCH], [ENGLISH, FRENCH], [FRENCH] * 40])
def test_a_language_without_a_direction_goes_by_way_of_english(translator: Translator, texts: list[str]):
    found = translator.translations(texts, to="de")
    assert [one.pivot for one in found] == ["en" if text == FRENCH else None for text in texts]
    english = translator.translate(FRENCH, to="en", source="fr")
    for text, one in zip(texts, found, strict=True):
        assert one.source == text
        assert one.text == translator.translate(english if one.pivot else text, to="de", source="en")
    assert translator.translations(texts, to="de", source="en")[-1].pivot is None  # a named language is not checked
    assert translator.translations([FRENCH], to="de", source="fr")[0].text == found[-1].text


def test_words_are_not_aligned_by_way_of_english(translator: Translator):
    with pytest.raises(ManyheadsError, match="by way of 'en'"):
        translator.translations([FRENCH], to="de", alignments=True)


@pytest.mark.parametrize("texts", [[FRENCH], [ENGLISH, FRENCH], [FRENCH] * 40])
def test_a_language_without_any_way_into_the_target_is_an_error(one_way: Path, texts: list[str]):
    translator = Translator(one_way)
    assert translator.translations([FRENCH], to="zh")[0].pivot == "en"
    with pytest.raises(ManyheadsError, match="does not translate into 'de', but into en, zh"):
        translator.translate(texts, to="de")
    with pytest.raises(ManyheadsError, match="does not translate from 'zh' into 'en'; it translates into 'en' from fr"):
        translator.translate(texts, to="en", source="zh")


def test_a_text_that_may_be_in_several_languages_is_translated(translator: Translator):
    for text in ("OK", "12", "3 May 2021"):
        for to in ("de", "fr", "en"):
            assert translator.translate(text, to=to, extra_length=5)


def test_a_named_source_decides_where_no_target_is_named(translator: Translator, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LC_ALL", "C")
    (found,) = translator.translations(["OK"], source="fr")
    assert found.text == translator.translate("OK", to="en")
    assert translator.languages.default_target(ENGLISH, source="de") == "en"


def test_the_command_says_what_went_by_way_of_english(command, run: Path):
    words = ["translate", "--model", run, "--to", "de", FRENCH]
    result = command(*words)
    assert result.out == Translator(run).translate(FRENCH, to="de", source="fr") + "\n"
    assert "by way of 'en'" in result.err
    assert json.loads(command(*words, "--json").out)["pivot"] == "en"
    direct = command(*words, "--from", "en")
    assert direct.out == Translator(run).translate(FRENCH, to="de", source="en") + "\n"
    assert "by way of" not in direct.err


def test_looking_inside_shows_the_tag(run: Path):
    seen = Inspector(run).everything("3 May 2021", to="fr")
    assert seen.source_tokens[0] == "▁" + language_tag("fr")
    assert seen.translation == Translator(run, engine="torch").translate("3 May 2021", to="fr")
    other = Inspector(run).everything("3 May 2021", to="de")
    assert other.translation != seen.translation or other.score != seen.score


def test_the_commands_take_a_language(command, run: Path, tmp_path: Path):
    expected = Translator(run).translate("3 May 2021", to="fr")
    assert command("translate", "--model", run, "--to", "fr", "3 May 2021").out == expected + "\n"
    (tmp_path / "pairs.tsv").write_text("2021-05-03\t3 May 2021\n", encoding="utf-8")
    columns = ["--source-column", 1, "--target-column", 0]
    saved = tmp_path / "out.txt"
    result = command("evaluate", run, "--pairs", tmp_path / "pairs.tsv", *columns, "--to", "fr", "--save", saved)
    assert result.code == 0, result.err
    assert saved.read_text(encoding="utf-8") == expected + "\n"
    command("translate", "--model", run, "--to", "zh", "x").refuses("but into fr, de, en")
