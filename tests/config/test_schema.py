"""Every key has a type, an explanation, and limits that catch what cannot be."""

from collections.abc import Iterator

import pytest
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from manyheads.config.messages import build
from manyheads.config.models.transformer import SIZES, TransformerSettings
from manyheads.config.tasks.reading import ReadingRecipe
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.config.unions import sections_of
from manyheads.config.values import plain_name
from manyheads.errors import ManyheadsError

MINIMAL = {"data": {"train": {"task": "copy"}}}
MINIMAL_BERT = {
    "task": "masked_language_model",
    "start_from": "runs/minilm",
    "data": {"train": {"task": "whereabouts"}, "valid": {"task": "whereabouts"}},
}


def fields(section: type[BaseModel], path: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield every key of a recipe with its field, sections too."""
    for name, field in section.model_fields.items():
        yield f"{path}{name}", field
        for inner in sections_of(field.annotation):
            yield from fields(inner, f"{path}{name}.")


@pytest.mark.parametrize(("key", "field"), [pytest.param(*one, id=one[0]) for one in fields(TranslationRecipe)])
def test_every_key_is_explained_in_one_line(key: str, field: FieldInfo):
    assert field.description, key
    assert field.description.endswith(".")
    assert "\n" not in field.description


def test_training_data_are_all_that_must_be_given():
    recipe = TranslationRecipe.model_validate(MINIMAL)
    assert recipe.data.train.task == "copy"
    assert [key for key, field in fields(TranslationRecipe) if field.is_required()] == ["data", "data.train"]


def test_defaults_are_the_papers_base_model():
    model, training = (
        TranslationRecipe.model_validate(MINIMAL).model,
        TranslationRecipe.model_validate(MINIMAL).training,
    )
    assert (model.width, model.heads, model.encoder_layers, model.decoder_layers) == (512, 8, 6, 6)
    assert (model.feed_forward, model.dropout, model.norm, model.tie) == (2048, 0.1, "post", "all")
    assert (training.betas, training.epsilon, training.label_smoothing) == ((0.9, 0.98), 1e-9, 0.1)
    assert (training.schedule.kind, training.schedule.warmup) == ("paper", 4000)


@pytest.mark.parametrize("name", SIZES)
def test_presets_are_valid(name: str):
    assert TransformerSettings(preset=name).preset == name


def test_a_recipe_does_not_change():
    with pytest.raises(ValidationError, match="frozen"):
        TranslationRecipe.model_validate(MINIMAL).seed = 2  # type: ignore[misc]


@pytest.mark.parametrize("settings", [{"width": 100, "heads": 8}, {"width": 512, "heads": 7}])
def test_heads_must_divide_the_width(settings: dict[str, int]):
    with pytest.raises(ValidationError, match=f"width {settings['width']} is not divisible by {settings['heads']}"):
        TransformerSettings.model_validate(settings)


def test_a_model_config_survives_its_file():
    config = TranslationConfig(
        model=TransformerSettings(preset="tiny"), source_vocabulary=100, target_vocabulary=90, start=0
    )
    assert TranslationConfig.model_validate_json(config.model_dump_json()) == config


ESCAPES = ["..", ".", ".hidden", "../other", "/etc/passwd", "a/b", "a\\b", "C:x", "~/.ssh/../x"]
UNFIT = ["", " ", " a", "a ", "a\n", "a\0b", "\x1b[2J", "a\u202eb", "a\u2028b", "x" * 101]
PLAIN = ["run", "a.b", "vaswani-base_2", "-", "en→de (base), +2", "größer", "हिन्दी", "北京 2024", "1", "x" * 100]


@pytest.mark.parametrize("schema", [TranslationRecipe, ReadingRecipe])
@pytest.mark.parametrize("name", [*ESCAPES, *UNFIT])
def test_a_name_leads_nowhere_else(schema: type[TranslationRecipe | ReadingRecipe], name: str):
    values = MINIMAL if schema is TranslationRecipe else MINIMAL_BERT
    with pytest.raises(ManyheadsError, match=r"'name' = .*: a name ") as caught:
        build(schema, {**values, "name": name}, origin="recipe.yaml")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("schema", [TranslationRecipe, ReadingRecipe])
@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_name_is_taken(schema: type[TranslationRecipe | ReadingRecipe], name: str):
    values = MINIMAL if schema is TranslationRecipe else MINIMAL_BERT
    assert build(schema, {**values, "name": name}, origin="recipe.yaml").name == name


@pytest.mark.parametrize("text", [*ESCAPES, *UNFIT, *PLAIN, "\udcff", "x" * 99 + " y"])
def test_every_text_gives_a_valid_name(text: str):
    name = plain_name(text)
    assert build(TranslationRecipe, {**MINIMAL, "name": name}, origin="recipe.yaml").name == name
    assert name == text or text not in PLAIN
