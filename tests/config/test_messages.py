"""A mistake in a recipe is one clear sentence: which line, which key, what is wrong, what to do."""

import pytest

from manyheads.bounded.yaml_text import compose
from manyheads.config.messages import key_lines
from manyheads.config.reading import parse_recipe
from manyheads.errors import ManyheadsError, did_you_mean

GOOD = """\
name: test
data:
  train: {task: copy}
model:
  preset: tiny
training:
  steps: 5
"""


def mistake(text: str, changes: list[str] | None = None) -> str:
    with pytest.raises(ManyheadsError) as caught:
        parse_recipe(text, changes or [], origin="test.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  steps:", "  stepps:", "test.yaml: line 7: unknown key 'training.stepps'. Did you mean 'steps'?"),
        ("model:", "modell:", "test.yaml: line 4: unknown key 'modell'. Did you mean 'model'?"),
        ("preset:", "Preset:", "test.yaml: line 5: unknown key 'model.Preset'. Did you mean 'preset'?"),
        ("task:", "tusk:", "unknown key 'data.train.tusk'. Did you mean 'task'?"),
        ("  steps:", "  zzz:", "line 7: unknown key 'training.zzz'. Known: accumulate, "),
        ("steps: 5", "steps: five", "line 7: 'training.steps' = 'five': input should be a valid integer"),
        ("steps: 5", "steps: 2.5", "line 7: 'training.steps' = 2.5: input should be a valid integer"),
        ("steps: 5", "steps: 0", "line 7: 'training.steps' = 0: input should be greater than or equal to 1"),
        ("steps: 5", "steps: [5]", "line 7: 'training.steps' = [5]: input should be a valid integer"),
        ("steps: 5", "betas: 0.9", "line 7: 'training.betas' = 0.9: input should be a valid tuple"),
        ("steps: 5", "label_smoothing: 1.0", "line 7: 'training.label_smoothing' = 1.0: input should be less than 1"),
        ("preset: tiny", "preset: huge", "line 5: 'model.preset' = 'huge': input should be 'tiny', 'small', 'base' or"),
        ("preset: tiny", "dropout: -1", "line 5: 'model.dropout' = -1: input should be greater than or equal to 0"),
        ("preset: tiny", "width: 100", "line 4: 'model': width 100 is not divisible by 8 heads."),
        ("data:\n  train: {task: copy}\n", "", "test.yaml: the key 'data' is missing."),
        ("train:", "valid:", "the key 'data.train' is missing"),
        ("{task: copy}", "{}", "line 3: 'data.train': give exactly one of: source and target, pairs, task."),
        ("{task: copy}", "{task: copy, pairs: x}", "line 3: 'data.train': give exactly one of"),
        ("{task: copy}", "{source: x}", "line 3: 'data.train': source and target belong together"),
        (
            "model:\n",
            "tokenizer: {shared: false}\nmodel:\n",
            "model.tie: all needs tokenizer.shared: true; with a tokenizer per side use tie: target or none.",
        ),
        (
            "model:\n",
            "tokenizer: {target: {kind: bpe}}\nmodel:\n",
            "line 4: 'tokenizer': a shared tokenizer has no separate settings for the target: set shared to false.",
        ),
    ],
)
def test_one_mistake_is_one_sentence(old: str, new: str, said: str):
    assert old in GOOD
    message = mistake(GOOD.replace(old, new))
    assert said in message
    assert "\n" not in message
    assert "pydantic" not in message
    assert message.endswith((".", "?"))


@pytest.mark.parametrize("value", ["yes", "true", "on"])
def test_yes_is_no_number(value: str):
    assert "'training.steps'" in mistake(GOOD.replace("steps: 5", f"steps: {value}"))


def test_all_mistakes_are_told_at_once():
    text = GOOD.replace("steps:", "stepps:").replace("tiny", "huge").replace("name: test", "nam: test\nseed: x")
    assert mistake(text).splitlines() == [
        "test.yaml: 4 things are wrong:",
        "  - line 2: 'seed' = 'x': input should be a valid integer, unable to parse string as an integer.",
        "  - line 6: 'model.preset' = 'huge': input should be 'tiny', 'small', 'base' or 'big'.",
        "  - line 8: unknown key 'training.stepps'. Did you mean 'steps'?",
        "  - line 1: unknown key 'nam'. Did you mean 'name'?",
    ]


def test_a_mistake_in_a_change_names_its_key():
    assert mistake(GOOD, ["trainig.steps=3"]) == "test.yaml: unknown key 'trainig'. Did you mean 'training'?"
    assert "'training.steps' = 'many': input should be a valid integer" in mistake(GOOD, ["training.steps=many"])


def test_a_change_of_a_value_into_a_section_is_told():
    message = mistake(GOOD, ["training.steps.x=1"])
    assert "'training.steps'" in message
    assert "integer" in message


def test_a_section_that_is_a_value_is_told():
    assert "'training'" in mistake(GOOD.replace("training:\n  steps: 5", "training: 5"))


def test_a_key_that_is_no_text_is_told():
    assert mistake(GOOD + "3: 4\n")


def test_lines_of_keys():
    lines = key_lines(compose(GOOD))
    assert lines[("name",)] == 1
    assert lines[("data", "train", "task")] == 3
    assert lines[("training", "steps")] == 7
    assert key_lines(compose("")) == {}


def test_the_nearest_word_is_suggested():
    assert did_you_mean("hieght", ["width", "height"]) == "Did you mean 'height'?"
    assert did_you_mean("xyz", ["b", "a"]) == "Known: a, b."
    assert did_you_mean("xyz", []) == ""


def test_an_error_says_where_what_and_the_cure():
    assert str(ManyheadsError("it broke.", where="a.txt:3", cure="Mend it.")) == "a.txt:3: it broke. Mend it."
    assert str(ManyheadsError("it broke.")) == "it broke."


SEVERAL = """\
data:
  train:
    - task: copy
    - task: sort
      weight: 2
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("weight:", "wieght:", "test.yaml: line 5: unknown key 'data.train.1.wieght'. Did you mean 'weight'?"),
        ("weight: 2", "weight: 0", "test.yaml: line 5: 'data.train.1.weight' = 0: input should be greater than 0."),
        ("weight: 2", "pairs: x", "test.yaml: line 4: 'data.train.1': give exactly one of: source and target, pairs"),
        ("task: copy", "5", "test.yaml: line 3: 'data.train.0' = 5: input should be a valid dictionary"),
    ],
)
def test_a_mistake_in_one_of_several_corpora_names_its_line(old: str, new: str, said: str):
    assert said in mistake(SEVERAL.replace(old, new))


def test_an_empty_list_of_corpora_is_told():
    assert mistake("data: {train: []}") == "test.yaml: line 1: 'data.train' = []: name at least one corpus."


def test_a_change_reaches_into_a_list():
    recipe = parse_recipe(SEVERAL, ["data.train.1.weight=0.5"])
    assert [corpus.weight for corpus in recipe.data.corpora] == [1.0, 0.5]
    assert [corpus.task for corpus in recipe.data.corpora] == ["copy", "sort"]
    assert "unknown key 'data.train.7'" in mistake(SEVERAL, ["data.train.7.weight=0.5"])
