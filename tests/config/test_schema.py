"""Every key has a type, an explanation, and limits that catch what cannot be."""

from collections.abc import Iterator

import pytest
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from manyheads.config.messages import section_of
from manyheads.config.model import ModelSettings
from manyheads.config.presets import MODEL_PRESETS, model_preset
from manyheads.config.schema import ModelConfig, Recipe

MINIMAL = {"data": {"train": {"task": "copy"}}}


def fields(section: type[BaseModel], path: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield every key of a recipe with its field, sections too."""
    for name, field in section.model_fields.items():
        yield f"{path}{name}", field
        if inner := section_of(field.annotation):
            yield from fields(inner, f"{path}{name}.")


@pytest.mark.parametrize(("key", "field"), [pytest.param(*one, id=one[0]) for one in fields(Recipe)])
def test_every_key_is_explained_in_one_line(key: str, field: FieldInfo):
    assert field.description, key
    assert field.description.endswith(".")
    assert "\n" not in field.description


def test_training_data_are_all_that_must_be_given():
    recipe = Recipe.model_validate(MINIMAL)
    assert recipe.data.train.task == "copy"
    assert [key for key, field in fields(Recipe) if field.is_required()] == ["data", "data.train"]


def test_defaults_are_the_papers_base_model():
    model, training = Recipe.model_validate(MINIMAL).model, Recipe.model_validate(MINIMAL).training
    assert (model.width, model.heads, model.encoder_layers, model.decoder_layers) == (512, 8, 6, 6)
    assert (model.feed_forward, model.dropout, model.norm, model.tie) == (2048, 0.1, "post", "all")
    assert (training.betas, training.epsilon, training.label_smoothing) == ((0.9, 0.98), 1e-9, 0.1)
    assert (training.schedule.kind, training.schedule.warmup) == ("paper", 4000)


@pytest.mark.parametrize("name", MODEL_PRESETS)
def test_presets_are_valid(name: str):
    assert model_preset(name).preset == name


def test_a_recipe_does_not_change():
    with pytest.raises(ValidationError, match="frozen"):
        Recipe.model_validate(MINIMAL).seed = 2  # type: ignore[misc]


@pytest.mark.parametrize("settings", [{"width": 100, "heads": 8}, {"width": 512, "heads": 7}])
def test_heads_must_divide_the_width(settings: dict[str, int]):
    with pytest.raises(ValidationError, match=f"width {settings['width']} is not divisible by {settings['heads']}"):
        ModelSettings.model_validate(settings)


def test_a_model_config_survives_its_file():
    config = ModelConfig(model=model_preset("tiny"), source_vocabulary=100, target_vocabulary=90, start=0)
    assert ModelConfig.model_validate_json(config.model_dump_json()) == config
