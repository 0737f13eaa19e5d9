"""Which run goes from where to where, and what the languages are called."""

from __future__ import annotations

import pytest

from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.serving.directions import Direction, language_name
from run_folders import make_multilingual_run
from served import serving


def test_languages_have_english_names():
    assert [language_name(code) for code in ("de", "zh-Hans", "mul", "iso")] == [
        "German",
        "Chinese (Simplified)",
        "Multiple languages",
        "iso",
    ]


def test_languages_may_be_named_with_the_run(runs, monkeypatch):
    monkeypatch.chdir(runs["there"].parent)
    assert Direction.all_of("zh-Hans-pt-BR=there")[0] == Direction("zh-Hans", "pt-BR", Direction.all_of("there")[0].run)
    assert str(Direction.all_of("there")[0]) == "en-de"


def test_a_run_of_several_languages_is_served_in_all_directions(tmp_path):
    run = make_multilingual_run(tmp_path / "run").path
    with serving([run]) as server:
        listed = {one["code"]: one["targets"] for one in server.get("/languages").json()}
        assert listed == {"de": ["en"], "en": ["de", "fr"], "fr": ["en"]}
        translator = Translator(run)
        for source, target in (("en", "fr"), ("en", "de"), ("fr", "en")):
            answer = server.translate("3 May 2021", source=source, target=target).json()
            assert answer["translatedText"] == translator.translate("3 May 2021", to=target)
            seen = server.post("/inspect", json={"q": "3 May 2021", "source": source, "target": target}).json()
            assert seen["source_tokens"][0] == f"▁<2{target}>"
        assert len({id(server.service.worker(one).model) for one in server.service.directions}) == 1


def test_one_direction_of_several_can_be_served_alone(tmp_path):
    run = make_multilingual_run(tmp_path / "run").path
    assert Direction.all_of(f"en-fr={run}") == [Direction("en", "fr", run, to="fr")]
    with pytest.raises(ManyheadsError, match="does not translate from de into fr"):
        Direction.all_of(f"de-fr={run}")
