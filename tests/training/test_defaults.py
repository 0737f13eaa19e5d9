"""Two text files are enough: the recipe chosen for them fits their size, and what the user says wins."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from manyheads.config.corpora import CorpusSettings
from manyheads.config.reading import load_recipe, parse_recipe, recipe_text
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.errors import ManyheadsError
from manyheads.exchange.ctranslate2 import unsupported_by_ctranslate2
from manyheads.exchange.marian import unsupported_by_marian
from manyheads.training import defaults
from manyheads.training.corpus_statistics import corpus_statistics
from manyheads.training.defaults import SIZES, Exportable, Size, recipe_for_data, recipe_for_files, recipe_left_open

Files = tuple[Path, Path]


def write(folder: Path, lines: int, *, name: str = "train", words: int = 5) -> Files:
    """Write two parallel files with so many different sentences."""
    files = folder / f"{name}.en", folder / f"{name}.de"
    for path, word in zip(files, ("house", "haus"), strict=True):
        path.write_text("".join(f"{word}{i} {' '.join([word] * (words - 1))}\n" for i in range(lines)))
    return files


def corpus(source: Path, target: Path) -> dict[str, str]:
    """Return two files as a recipe names them."""
    return {"source": str(source), "target": str(target)}


def chosen(source: Path, target: Path, *, valid: Files | None = None, **options: Any) -> TranslationRecipe:
    """Return the recipe that is chosen for two files."""
    return recipe_for_files(corpus(source, target), valid=None if valid is None else corpus(*valid), **options)


def test_the_recipe_is_a_recipe(tmp_path: Path):
    source, target = write(tmp_path, 300)
    recipe = chosen(source, target)
    assert parse_recipe(recipe_text(recipe)) == recipe
    assert recipe.name == "train"
    assert (recipe.data.train.source, recipe.data.train.target) == (str(source), str(target))
    assert recipe.data.valid is None
    assert recipe.data.held_out == 15


@pytest.mark.parametrize(
    ("file", "name"), [("corpus.en-de.de", "corpus"), (".hidden.de", "run"), ("a:b\n.de", "a-b-"), (" x.de", "x")]
)
def test_the_name_is_that_of_the_target(tmp_path: Path, file: str, name: str):
    source, target = write(tmp_path, 5)
    assert chosen(source, target.rename(tmp_path / file)).name == name


@pytest.mark.parametrize("size", SIZES)
def test_larger_corpora_get_more_pieces_and_more_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: Size):
    text = " ".join(f"word{number}" for number in range(size.vocabulary))
    measured = corpus_statistics([CorpusSettings(**corpus(*write(tmp_path, 3)))])
    measured.pairs = measured.first = int(min(size.pairs, 3_000_000))
    measured.labels = set(text.split())
    for side in (measured.source, measured.target):
        side.add(text)
        side.words = 10 * measured.pairs
    monkeypatch.setattr(defaults, "corpus_statistics", lambda corpora, look: measured)
    recipe = chosen(tmp_path / "a.en", tmp_path / "a.de")
    assert recipe.tokenizer.vocabulary == size.vocabulary
    assert recipe.training.minutes == size.minutes
    assert recipe.training.is_open_ended
    assert 1 <= recipe.data.held_out <= 1000


def test_a_number_of_steps_takes_the_place_of_the_time(tmp_path: Path):
    files = write(tmp_path, 300)
    for change in ("training.steps=7", "training.schedule={kind: cosine, warmup: 5}", "training.schedule.kind=linear"):
        recipe = chosen(*files, changes=[change])
        assert recipe.training.minutes is None
        assert not recipe.training.is_open_ended
    assert chosen(*files, changes=["training.schedule.rate=0.1"]).training.minutes


CHINESE = ["我爱中国。", "他在家。", "我是学生。", "天气很好。", "谢谢你。", "今天我很累。"]


@pytest.mark.parametrize(
    ("exportable", "refused"), [("ctranslate2", unsupported_by_ctranslate2), ("huggingface", unsupported_by_marian)]
)
def test_what_is_chosen_can_be_exported(tmp_path: Path, exportable: Exportable, refused: Callable[..., list[str]]):
    recipe = chosen(*write(tmp_path, 60), exportable=exportable)
    config = TranslationConfig(model=recipe.model, source_vocabulary=99, target_vocabulary=99)
    assert refused(config) == []


SPELLING = [("haus", "h au s"), ("maus", "m au s"), ("baum", "b au m"), ("saum", "z au m")]
COMMANDS = [("jump twice", "JUMP JUMP"), ("walk and run", "WALK RUN"), ("run left", "LTURN RUN")]


@pytest.mark.parametrize(
    ("pairs", "kinds", "metric"),
    [
        ([(f"{one}{i:x}", f"{other} {' '.join(f'{i:x}')}") for i in range(99) for one, other in SPELLING],
         ("characters", "symbols"), "word_error_rate"),
        ([(f"{' '.join(f'{i:x}')} {other}", f"{one}{i:x}") for i in range(99) for one, other in SPELLING],
         ("symbols", "characters"), "exact_match"),
        (COMMANDS * 99, ("symbols", "symbols"), "exact_match"),
        ([(f"what a film number {i}", "good" if i % 2 else "bad") for i in range(99)], ("bpe", "symbols"),
         "exact_match"),
        ([(f"{one}{i}", f"{one}s{i}") for i in range(99) for one, _ in SPELLING], ("characters", "characters"),
         "exact_match"),
        ([(f"what a house number {i}", f"was für ein Haus Nummer {i}") for i in range(99)], ("bpe", "bpe"), "bleu"),
        ([(f"{one}{i}" * 5, f"{one}{i}") for i in range(9) for one in CHINESE], ("bpe", "bpe"), "chrf"),
    ],
    ids=["spelling", "phonemes", "commands", "labels", "words", "sentences", "Chinese"],
)  # fmt: skip
def test_tokenizers_and_the_deciding_metric_suit_what_the_texts_are(
    tmp_path: Path, pairs: list[tuple[str, str]], kinds: tuple[str, str], metric: str
):
    files = tmp_path / "train.source", tmp_path / "train.target"
    for path, texts in zip(files, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    recipe = chosen(*files)
    assert (recipe.tokenizer.kind, recipe.tokenizer.target_kind) == kinds
    assert recipe.tokenizer.shared == (kinds == ("bpe", "bpe"))
    assert recipe.metric == metric


def test_validation_files_are_used_where_they_are_given(tmp_path: Path):
    source, target = write(tmp_path, 300)
    valid = write(tmp_path, 10, name="valid")
    recipe = chosen(source, target, valid=valid)
    assert recipe.data.held_out == 0
    assert recipe.data.valid is not None
    assert (recipe.data.valid.source, recipe.data.valid.target) == (str(valid[0]), str(valid[1]))


def test_what_the_user_says_wins(tmp_path: Path):
    changes = ["training.steps=7", "model.preset=small", "name=mine", "data.held_out=3", "model.dropout=0.5"]
    recipe = chosen(*write(tmp_path, 300), changes=changes)
    assert (recipe.training.steps, recipe.name, recipe.data.held_out) == (7, "mine", 3)
    assert (recipe.model.width, recipe.model.dropout) == (256, 0.5)


@pytest.mark.parametrize(
    ("targets", "metric", "tokenizer"),
    [
        ([f"das ist mein Haus Nummer {i}" for i in range(60)], "bleu", "13a"),
        ([f"Haus{i}" for i in range(60)], "exact_match", "13a"),
        ([f"{one}{i}" for i in range(10) for one in CHINESE], "chrf", "zh"),
        ([f"나는 {i} 번 학생 입니다 ." for i in range(60)], "bleu", "char"),
        (["good", "bad", "neither"] * 20, "exact_match", "13a"),
    ],
    ids=["German", "single words", "Chinese", "Korean", "labels"],
)
def test_the_best_model_is_chosen_by_a_number_that_means_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, targets: list[str], metric: str, tokenizer: str
):
    monkeypatch.setattr("manyheads.metrics.segmentation.find_spec", lambda name: None)  # no MeCab
    source, target = write(tmp_path, 60)
    target.write_text("".join(f"{line}\n" for line in targets), encoding="utf-8")
    validation = chosen(source, target).validation
    assert (validation.metric, validation.bleu_tokenizer) == (metric, tokenizer)
    assert parse_recipe("data: {train: {task: copy}}").validation.bleu_tokenizer == "13a"  # no recipe's default changes


def test_a_mistake_in_the_files_is_told(tmp_path: Path):
    source, target = write(tmp_path, 5)
    target.write_text("one line\n")
    with pytest.raises(ManyheadsError, match="the source has 5 lines but the target has 1"):
        chosen(source, target)


def test_a_mistake_in_a_change_is_told(tmp_path: Path):
    with pytest.raises(ManyheadsError, match="Did you mean 'training'"):
        chosen(*write(tmp_path, 5), changes=["trainig.steps=7"])


QUICK = [
    word
    for change in (
        "training.steps=2",
        "training.threads=1",
        "model.width=16",
        "model.heads=2",
        "model.encoder_layers=1",
        "model.decoder_layers=1",
        "model.feed_forward=16",
        "decoding.extra_length=3",
        "validation.samples=0",
    )
    for word in ("--set", change)
]


# --- Pairs in one file, and recipes with data alone ------------------------------------------------------------------


def write_pairs(path: Path, lines: int, *, swapped: bool = False) -> Path:
    """Write a file of pairs, in the form that its name says."""
    pairs = [(f"house{i} is my house", f"haus{i} ist mein haus") for i in range(lines)]
    if ".jsonl" in path.suffixes:
        text = "".join(json.dumps({"en": one, "de": other}) + "\n" for one, other in pairs)
    else:
        text = "".join(f"{other}\tx\t{one}\n" if swapped else f"{one}\t{other}\n" for one, other in pairs)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("words.tsv", []),
        ("words.tsv.gz", []),
        ("words.txt", ["--format", "tsv"]),
        ("words.jsonl", ["--source-column", "en", "--target-column", "de"]),
        ("words.jsonl.gz", ["--source-column", "en", "--target-column", "de"]),
        ("swapped.tsv", ["--source-column", "2", "--target-column", "0"]),
    ],
)
def test_a_file_of_pairs_is_enough(tmp_path: Path, command: Callable[..., Any], name: str, words: list[str]):
    pairs = write_pairs(tmp_path / name, 40, swapped=name.startswith("swapped"))
    run = tmp_path / "run"
    given = ["train", "--pairs", pairs, *words, "--out", run, *QUICK]
    command(*given).succeeds("Chose a model", "38 training pairs", "2 for validation", "Finished at step 2.")
    command(*given).succeeds("nothing to do")
    recipe = load_recipe(run / "recipe.yaml")
    assert recipe.name == name.split(".")[0]
    assert recipe.data.train.pairs == str(pairs)
    both = chosen(*write(tmp_path, 40), changes=["training.steps=2"])
    assert recipe.model.dropout == both.model.dropout
    assert recipe.training.schedule == both.training.schedule


def test_validation_pairs_and_pairs_to_tune_with(tmp_path: Path, command: Callable[..., Any]):
    pairs, valid = write_pairs(tmp_path / "words.tsv", 40), write_pairs(tmp_path / "valid.tsv", 7)
    run = tmp_path / "run"
    command("train", "--pairs", pairs, "--valid-pairs", valid, "--out", run, *QUICK).succeeds(
        "40 training pairs", "7 for validation"
    )
    tuned = ["train", "--pairs", pairs, "--start-from", run, "--out", tmp_path / "tuned", *QUICK[:4]]
    command(*tuned).succeeds("Starting from the weights", "38 training pairs", "Finished at step 2.")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--pairs", "a.tsv", "--source", "b"], "give either a file of pairs, or one for each side"),
        (["--source", "a", "--target", "b", "--source-column", "1"], "are for files of pairs"),
        (["--source-column", "1"], "give either a recipe, or pairs, or source and target"),
        (["recipe.yaml", "--pairs", "a.tsv"], "give either a recipe, or pairs, or source and target"),
        (["--pairs", "a.tsv", "--format", "xml"], "format"),
    ],
)
def test_files_that_contradict_each_other_are_refused(command: Callable[..., Any], words: list[str], sentence: str):
    command("train", *words).refuses(sentence)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("words.tsv", "--pairs {}"),
        ("words.tsv.gz", "--pairs {}"),
        ("words.jsonl", "--pairs {}"),
        ("words.txt", "--pairs {}"),
        ("train.en", "--source {} --target FILE"),
        ("train.en.gz", "--source {} --target FILE"),
    ],
)
def test_a_file_to_learn_from_in_the_place_of_a_recipe(
    tmp_path: Path, command: Callable[..., Any], name: str, files: str
):
    path = tmp_path / name
    if name.startswith("words"):
        write_pairs(path, 3)
    else:
        text = b"Attention: all of you!\n- data is here\n"
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    command("train", path).refuses("this is not a recipe", f"To learn from it: manyheads train {files.format(path)}")


def test_a_mistake_in_a_recipe_of_another_name_is_still_told(tmp_path: Path, command: Callable[..., Any]):
    (tmp_path / "recipe").write_text("# mine\ndata: {train: {task: copy}}\ntrainig: {steps: 7}\n")
    command("train", tmp_path / "recipe").refuses("line 3", "Did you mean 'training'")


def bare(tmp_path: Path, more: str = "") -> Path:
    """Write a recipe with data alone."""
    write_pairs(tmp_path / "words.tsv", 40)
    path = tmp_path / "bare.yaml"
    path.write_text(f"data:\n  train: {{pairs: {tmp_path / 'words.tsv'}}}\n{more}")
    return path


def test_a_recipe_with_data_alone_gets_what_the_files_would(tmp_path: Path, command: Callable[..., Any]):
    recipe, run = bare(tmp_path), tmp_path / "run"
    command("train", recipe, "--out", run, *QUICK).succeeds("Chose a model", "Finished at step 2.")
    trained = load_recipe(run / "recipe.yaml")
    command("train", "--pairs", tmp_path / "words.tsv", "--out", tmp_path / "other", *QUICK).succeeds()
    by_files = load_recipe(tmp_path / "other" / "recipe.yaml")
    assert trained.model_dump(exclude={"name"}) == by_files.model_dump(exclude={"name"})
    command("train", recipe, "--out", run, *QUICK).succeeds("nothing to do")
    described = json.loads(command("describe", recipe, "--json").out)
    assert described["parameters"] < 3e6
    assert "are chosen automatically" in command("describe", recipe).err
    printed = command("validate", recipe)
    printed.succeeds("are chosen automatically")
    assert parse_recipe(printed.out) == recipe_for_data(yaml.safe_load(recipe.read_text()))


def test_what_a_recipe_with_data_alone_says_wins(tmp_path: Path):
    path = bare(tmp_path, "  held_out: 7\nname: mine\nseed: 5\nvalidation: {metric: loss}\n")
    found = recipe_left_open(path, ["training.steps=9"])
    assert found is not None
    assert (found.name, found.seed, found.data.held_out, found.metric) == ("mine", 5, 7, "loss")
    assert (found.training.steps, found.model.width) == (9, 128)


@pytest.mark.parametrize("section", ["model: {}", "training: {}", "tokenizer: {}", "start_from: run"])
def test_other_recipes_mean_what_they_meant(tmp_path: Path, section: str):
    path = bare(tmp_path, section)
    assert recipe_left_open(path) is None
    assert load_recipe(path).model.width == 512


def test_the_pairs_to_hold_out_are_counted_in_the_first_corpus(tmp_path: Path):
    small, large = (str(write_pairs(tmp_path / f"{lines}.tsv", lines)) for lines in (40, 900))
    found = recipe_for_data({"data": {"train": [{"pairs": small}, {"pairs": large}]}})
    assert found.data.held_out == 2


@pytest.mark.parametrize("lines", [2, 10, 20, 25, 60])
def test_a_handful_of_lines_is_enough(tmp_path: Path, command: Callable[..., Any], lines: int):
    source, target = write(tmp_path, lines)
    run = tmp_path / "run"
    result = command("train", "--source", source, "--target", target, "--out", run, *QUICK)
    result.succeeds("Chose a ", "recipe.yaml", "Finished at step 2.")
    command("train", "--source", source, "--target", target, "--out", run, *QUICK).succeeds("nothing to do")
    command("train", run / "recipe.yaml", "--out", run).succeeds("nothing to do")


def test_texts_with_labels_can_be_learned_from(tmp_path: Path, command: Callable[..., Any]):
    source, target = write(tmp_path, 60)
    target.write_text("good\nbad\nneither\n" * 20)
    words = ["train", "--source", source, "--target", target, "--out", tmp_path / "run", *QUICK]
    said = command(*words).succeeds("57 training pairs", "3 for validation", "Finished at step 2.")
    assert "so validation data was cut off by source alone" in said
    command(*words).succeeds("57 training pairs", "nothing to do")


def test_training_on_files_with_validation_files(tmp_path: Path, command: Callable[..., Any]):
    source, target = write(tmp_path, 60)
    valid_source, valid_target = write(tmp_path, 7, name="valid")
    words = ["train", "--source", source, "--target", target, "--out", tmp_path / "run", *QUICK]
    result = command(*words, "--valid-source", valid_source, "--valid-target", valid_target)
    result.succeeds("60 training pairs", "7 for validation", "Finished at step 2.")


class Started:
    """A run that was begun from two files, stopped after a step, and can be started again by the same command."""

    def __init__(self, folder: Path, command: Callable[..., Any]) -> None:
        self.source, self.target = write(folder, 30)
        self.run, self._command = folder / "run", command
        self.recipe = self.run / "recipe.yaml"
        begun = self.again("--max-minutes", 0, "--set", "training.steps=200")
        begun.succeeds("Chose a ", f"change it in {self.recipe} or with --set.", "step 1;")

    def again(self, *words: object) -> Any:
        """Start the command again."""
        files = ("--source", self.source, "--target", self.target)
        return self._command("train", *files, "--out", self.run, *QUICK[2:], *words)

    def edit(self, before: str, after: str) -> str:
        """Change a text in the run's recipe, and add a remark; return the whole."""
        text = self.recipe.read_text(encoding="utf-8")
        assert before in text
        self.recipe.write_text("# My own.\n" + text.replace(before, after), encoding="utf-8")
        return self.recipe.read_text(encoding="utf-8")


@pytest.fixture
def started(tmp_path: Path, command: Callable[..., Any]) -> Started:
    return Started(tmp_path, command)


def test_a_chosen_recipe_is_changed_in_the_run_folder(started: Started):
    edited = started.edit("  steps: 200\n", "  steps: 3\n")
    said = started.again().succeeds(f"Continuing with {started.recipe}: a ", "Finished at step 3.")
    assert "Continuing from step 1 " in said
    assert "Changed since this run was last started: training.steps." in said
    assert "Chose" not in said
    assert started.recipe.read_text(encoding="utf-8") == edited
    started.again("--set", "training.steps=4").succeeds("Finished at step 4.")
    started.again().succeeds("Already at step 4 of 4: nothing to do.")


def test_a_chosen_recipe_counts_even_if_the_files_have_grown(started: Started):
    started.edit("  steps: 200\n", "  steps: 2\n")
    for path in (started.source, started.target):
        path.write_text(path.read_text() + "more\n" * 100)  # enough to choose more pairs for validation
    started.again().refuses("30 lines, now 130 lines", "--accept-changed-data")
    started.again("--accept-changed-data").succeeds("Finished at step 2.")


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ("  norm: pre\n", "  norm: post\n", "model.norm"),
        ("\nseed: 1\n", "\nseed: 2\n", "seed"),
        ("train.en\n", "valid.en\n", "data.train.source"),
        ("  held_out: 1\n", "  held_out: 2\n", "data.held_out"),
    ],
)
def test_an_edit_that_makes_another_run_is_refused(
    started: Started, contents: Callable[[Path], dict[str, bytes]], before: str, after: str, key: str
):
    write(started.source.parent, 30, name="valid")
    started.edit(before, after)
    everything = contents(started.run)
    started.again().refuses(f"another recipe; it differs in: {key}.", "undo these changes")
    assert contents(started.run) == everything


def test_other_files_make_another_run(started: Started, command: Callable[..., Any], tmp_path: Path):
    source, target = write(tmp_path, 30, name="other")
    words = ["train", "--source", source, "--target", target, "--out", started.run, *QUICK]
    command(*words).refuses("another recipe; it differs in: data.train.source, data.train.target.")


def test_the_same_files_may_be_written_otherwise(
    started: Started, monkeypatch: pytest.MonkeyPatch, contents: Callable[[Path], dict[str, bytes]]
):
    monkeypatch.chdir(started.source.parent)
    started.source, started.target = Path(started.source.name), Path("run") / ".." / started.target.name
    started.again("--set", "training.steps=2").succeeds("Finished at step 2.")
