"""A run folder says what it is, what is missing in it, and refuses the recipe of another run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from manyheads.config.reading import parse_recipe, recipe_text
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder

TEXT = "name: test\ndata: {train: {task: copy}, valid: {task: copy, count: 5}}\n"


def recipe(*changes: str) -> TranslationRecipe:
    return parse_recipe(TEXT, changes)


def begun(path: Path) -> RunFolder:
    run = RunFolder(path)
    run.begin(recipe())
    return run


def learned(path: Path) -> RunFolder:
    """A run that has something to lose: a checkpoint."""
    run = begun(path)
    (run.checkpoints / "step-00000003").mkdir()
    return run


def test_a_run_begins_with_its_recipe(tmp_path: Path):
    run = begun(tmp_path / "runs" / "new")
    assert run.recipe_file.read_text(encoding="utf-8") == recipe_text(recipe())
    assert run.recipe() == recipe()
    assert run.checkpoints.is_dir()


def test_a_run_may_begin_in_an_empty_folder(tmp_path: Path):
    assert begun(tmp_path).recipe() == recipe()


@pytest.mark.parametrize(
    "change",
    [
        "training.steps=7",
        "training.threads=2",
        "training.log_every=3",
        "training.keep_checkpoints=9",
        "training.clip_norm=0.5",
        "training.schedule.warmup=7",
        "validation.sentences=3",
        "name=other",
        "decoding.beam=2",
    ],
)
def test_what_changes_nothing_that_was_learned_may_change(tmp_path: Path, change: str):
    run = learned(tmp_path / "run")
    assert run.begin(recipe(change)) == [change.split("=")[0]]  # told, so that nobody changes it unawares
    assert run.recipe() == recipe(change)


@pytest.mark.parametrize(
    "change",
    ["seed=2", "model.width=64", "data.train.count=3", "tokenizer.kind=characters"],
)
def test_another_recipe_is_refused_with_the_keys_that_differ(tmp_path: Path, change: str):
    run = learned(tmp_path / "run")
    before = run.recipe_file.read_bytes()
    with pytest.raises(ManyheadsError, match="another recipe") as caught:
        run.begin(recipe(change, "training.steps=7"))
    assert caught.value.what.endswith(f"differs in: {change.split('=')[0]}.")
    assert "--out" in str(caught.value.cure)
    assert run.recipe_file.read_bytes() == before


def test_a_recipe_that_says_the_same_stays_as_it_was_written(tmp_path: Path):
    run = begun(tmp_path / "run")
    run.recipe_file.write_text(f"# Mine.\n{TEXT}")
    assert run.begin(recipe()) == []
    assert run.recipe_file.read_text() == f"# Mine.\n{TEXT}"
    assert run.begin(recipe("training.steps=7")) == ["training.steps"]
    assert run.recipe() == recipe("training.steps=7")


def test_an_edited_recipe_is_compared_with_what_the_run_was_begun_with(tmp_path: Path):
    run = learned(tmp_path / "run")
    for change in ("seed=2", "tokenizer.kind=characters"):
        run.recipe_file.write_text(recipe_text(recipe(change)))
        before = run.recipe_file.read_bytes()
        with pytest.raises(ManyheadsError, match=f"differs in: {change.split('=')[0]}"):
            run.begin(run.recipe())
        assert run.recipe_file.read_bytes() == before
    assert run.begun_with() == recipe()


def test_a_run_without_a_record_is_what_its_recipe_says(tmp_path: Path):
    """Version 0.1.0 wrote recipe.yaml alone."""
    run = learned(tmp_path / "run")
    run.begun_file.unlink()
    assert run.begun_with() == recipe()
    with pytest.raises(ManyheadsError, match=r"differs in: seed\."):
        run.begin(recipe("seed=2"))
    assert run.begin(recipe("training.steps=7")) == ["training.steps"]


def test_all_keys_that_differ_are_named(tmp_path: Path):
    run = learned(tmp_path / "run")
    with pytest.raises(ManyheadsError, match=r"differs in: model\.dropout, model\.heads, seed\."):
        run.begin(recipe("seed=2", "model.heads=4", "model.dropout=0.3"))


def test_a_section_that_is_new_is_named(tmp_path: Path):
    run = learned(tmp_path / "run")
    with pytest.raises(ManyheadsError, match=r"differs in: model\.vectors"):
        run.begin(recipe("model.vectors.source=glove.txt"))


def test_a_folder_of_other_things_is_refused(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ManyheadsError, match=r"not empty and not a run.*--out"):
        RunFolder(tmp_path).begin(recipe())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_project_folder_is_refused_before_anything_in_it_is_touched(
    tmp_path: Path, contents: Callable[[Path], dict[str, bytes]]
):
    for name in (".env.local", ".gitlab-ci.yml", ".git.bak/config", ".recipe.yaml.4711", "train.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    before = contents(tmp_path)
    with pytest.raises(ManyheadsError, match=r"not empty and not a run.*--out"):
        RunFolder(tmp_path).begin(recipe())
    assert contents(tmp_path) == before


def test_a_run_that_goes_on_loses_its_drafts_and_nothing_else(tmp_path: Path):
    run = begun(tmp_path / "run")
    drafts = [".recipe.yaml.4711", ".model.safetensors.0123456789abcdef.draft", ".card.md.17"]
    drafts += ["checkpoints/.step-00000002.4711.doomed", "checkpoints/.step-00000003.0123456789abcdef.draft"]
    others = [".env.local", ".notes.2024", "checkpoints/.backup.1"]
    for name in (*drafts, *others):
        (run.path / name).mkdir()
    run.begin(recipe())
    assert {str(path.relative_to(run.path)) for path in run.path.rglob(".*")} == set(others)


@pytest.mark.parametrize("draft", [".recipe.yaml.4711", ".recipe.yaml.0123456789abcdef.draft"])
def test_a_run_killed_in_its_first_moment_may_begin(tmp_path: Path, draft: str):
    (tmp_path / draft).write_text("name: te")
    assert begun(tmp_path).recipe() == recipe()
    assert not (tmp_path / draft).exists()


def test_a_file_in_the_place_of_a_folder_is_told(tmp_path: Path):
    (tmp_path / "run").write_text("a file")
    for place in (tmp_path / "run", tmp_path / "run" / "inner"):
        with pytest.raises(ManyheadsError) as caught:
            RunFolder(place).begin(recipe())
        assert str(place) in str(caught.value)
    assert (tmp_path / "run").read_text() == "a file"


def test_what_is_no_run_is_told(tmp_path: Path):
    with pytest.raises(ManyheadsError, match=r"no such run folder.*manyheads train"):
        RunFolder.open(tmp_path / "no")
    with pytest.raises(ManyheadsError, match="not a run"):
        RunFolder.open(tmp_path)
    run = begun(tmp_path / "run")
    run.write_config(TranslationConfig(model=recipe().model, source_vocabulary=9, target_vocabulary=9))
    with pytest.raises(ManyheadsError, match=r"no model yet.*first validation"):
        RunFolder.open(run.path)
    run.weights_file.touch()
    assert RunFolder.open(str(run.path)) == run
    assert RunFolder.open(run) == run
    assert Path(run) == run.path


def test_a_damaged_configuration_is_named(tmp_path: Path):
    run = begun(tmp_path)
    for damage in ("", "{", "[]", '{"model": {}}', '{"unknown": 1}'):
        run.config_file.write_text(damage)
        with pytest.raises(ManyheadsError) as caught:
            run.config()
        assert str(run.config_file) in str(caught.value)


def test_a_missing_configuration_is_named(tmp_path: Path):
    with pytest.raises(ManyheadsError) as caught:
        begun(tmp_path).config()
    assert "config.json" in str(caught.value)


def test_a_configuration_survives_its_file(tmp_path: Path):
    run = begun(tmp_path)
    config = TranslationConfig(
        model=recipe("model.preset=tiny").model, source_vocabulary=9, target_vocabulary=8, start=0
    )
    run.write_config(config)
    assert run.config() == config


def test_measurements_are_read_and_half_a_line_is_passed_over(tmp_path: Path):
    run = RunFolder(tmp_path)
    assert list(run.metrics()) == []
    run.metrics_file.write_text('{"step": 1, "loss": 2.5}\n{"step": 2, "lo')
    assert list(run.metrics()) == [{"step": 1, "loss": 2.5}]
