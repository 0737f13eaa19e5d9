"""Whatever a user gets wrong is told in a sentence with a cure, ends with status 2, and damages nothing."""

import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers import without_checksums
from manyheads.runs.claim import claimed

Command = Callable[..., Any]
Write = Callable[..., Path]
Contents = Callable[[Path], dict[str, bytes]]

GOOD = [" ".join("abcdefgh"[i * j % 8] for j in range(1, i % 5 + 2)) for i in range(40)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, command: Command, recipe_at: Write) -> Path:
    """A small run that came to its end. Copy it to damage it."""
    folder = tmp_path_factory.mktemp("finished")
    recipe = recipe_at(folder / "recipe.yaml")
    command("train", recipe, "--out", folder / "run").succeeds()
    return folder / "run"


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of a finished run."""
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where a training would write its run."""
    return tmp_path / "out"


def refused_and_intact(command: Command, contents: Contents, folder: Path, *arguments: object) -> str:
    """Check that a command is refused and that a folder is the same before and after; return what was said."""
    before = contents(folder)
    sentence: str = command(*arguments).refuses()
    assert contents(folder) == before
    return sentence


# --- Texts -----------------------------------------------------------------------------------------------------------


def test_a_missing_file(command: Command, sprint: Write, out: Path, tmp_path: Path):
    recipe = sprint({"data.train": {"source": str(tmp_path / "no.en"), "target": str(tmp_path / "no.de")}})
    command("train", recipe, "--out", out).refuses(f"{tmp_path / 'no.en'}: there is no such file", "Check the path.")
    assert not out.exists()


def test_files_of_unequal_length(command: Command, sprint_on: Write, out: Path):
    recipe = sprint_on(GOOD, GOOD[:-3])
    command("train", recipe, "--out", out).refuses(
        "train.source and ", "train.target", "the source has 40 lines but the target has 37."
    )


@pytest.mark.parametrize("line", [60, 150])
def test_files_that_drift_apart(command: Command, sprint_on: Write, out: Path, line: int):
    sources = [" ".join("a" * (7 * i % 13 + 1)) for i in range(200)]
    targets = sources[: line - 1] + sources[line:]
    sentence = command("train", sprint_on(sources, targets), "--out", out).refuses(
        "the source has 200 lines but the target has 199. They seem to drift apart near line "
    )
    assert abs(int(re.findall(r"near line (\d+)", sentence)[0]) - line) <= 3


def test_files_whose_drift_cannot_be_told(command: Command, sprint_on: Write, out: Path):
    recipe = sprint_on(["a b"] * 100, ["a b"] * 99)
    sentence = command("train", recipe, "--out", out).refuses("the source has 100 lines but the target has 99")
    assert "near line" not in sentence
    assert "Line N of one must translate line N of the other." in sentence


def test_an_empty_file(command: Command, sprint_on: Write, out: Path):
    command("train", sprint_on([], []), "--out", out).refuses("train.source", "empty")


def test_a_file_that_is_not_utf8(command: Command, sprint_on: Write, out: Path, tmp_path: Path):
    recipe = sprint_on(GOOD, GOOD)
    content = (tmp_path / "train.target").read_bytes().splitlines(keepends=True)
    content[6] = b"a b \xe9\n"
    (tmp_path / "train.target").write_bytes(b"".join(content))
    command("train", recipe, "--out", out).refuses(f"{tmp_path / 'train.target'}:7: this line is not UTF-8", "iconv")


@pytest.mark.parametrize("damage", ["cut off", "overwritten"])
def test_a_damaged_gz_file(command: Command, sprint: Write, out: Path, tmp_path: Path, damage: str):
    content = gzip.compress("".join(f"{line}\n" for line in GOOD).encode())
    broken = content[:-15] if damage == "cut off" else content[:12] + b"\xff" * 20 + content[32:]
    (tmp_path / "s.gz").write_bytes(broken)
    (tmp_path / "t.gz").write_bytes(content)
    recipe = sprint({"data.train": {"source": str(tmp_path / "s.gz"), "target": str(tmp_path / "t.gz")}})
    command("train", recipe, "--out", out).refuses(str(tmp_path / "s.gz"), "damaged")


LONG = " ".join(["a"] * 100_000)
VALID = {"task": "copy", "count": 10, "options": {"max_length": 6, "symbols": 8}}


@pytest.mark.parametrize("policy", ["skip", "truncate"])
def test_a_line_of_100000_tokens_is_survived(command: Command, sprint_on: Write, out: Path, policy: str):
    recipe = sprint_on(
        [*GOOD[:9], LONG, *GOOD[9:]], [*GOOD[:9], "a", *GOOD[9:]], {"data.too_long": policy, "data.valid": VALID}
    )
    pairs = 40 if policy == "skip" else 41
    command("train", recipe, "--out", out).succeeds(
        f"{pairs} training pairs",
        "1 pairs were longer than data.max_length (the first at line 10)",
        "Finished at step 12.",
    )


def test_a_line_of_100000_tokens_may_stop_it(command: Command, sprint_on: Write, out: Path):
    recipe = sprint_on([*GOOD[:9], LONG], [*GOOD[:9], "a"], {"data.too_long": "stop", "data.valid": VALID})
    command("train", recipe, "--out", out).refuses(
        "line 10 has 100,000 tokens; at most 16 are allowed.", "Raise data.max_length, or set data.too_long to skip"
    )


def test_empty_lines_are_skipped_and_counted(command: Command, sprint_on: Write, out: Path):
    lines = [*GOOD[:4], "", *GOOD[4:], "   "]
    command("train", sprint_on(lines, lines), "--out", out).succeeds(
        "40 training pairs", "2 pairs with an empty side were skipped (the first at line 5)", "Finished at step 12."
    )


def test_nothing_but_empty_lines(command: Command, sprint_on: Write, out: Path):
    command("train", sprint_on([""] * 9, [""] * 9), "--out", out).refuses()


def test_a_tsv_line_with_too_few_columns(command: Command, sprint: Write, out: Path, tmp_path: Path):
    (tmp_path / "p.tsv").write_text("a b\ta b\nalone\n")
    command("train", sprint({"data.train": {"pairs": str(tmp_path / "p.tsv")}}), "--out", out).refuses(
        f"{tmp_path / 'p.tsv'}:2: this line has 1 tab-separated columns", "source_column"
    )


def test_a_jsonl_line_without_the_key(command: Command, sprint: Write, out: Path, tmp_path: Path):
    (tmp_path / "p.jsonl").write_text('{"source": "a", "target": "a"}\n{"source": "a", "traget": "a"}\n')
    command("train", sprint({"data.train": {"pairs": str(tmp_path / "p.jsonl")}}), "--out", out).refuses(
        f"{tmp_path / 'p.jsonl'}:2: this line is not a JSON object with the keys 'source' and 'target'"
    )


def test_standard_input_that_is_not_utf8(command: Command, finished: Path):
    result = command("translate", "--model", finished, stdin=b"a b\nna\xefve\n")
    result.refuses("standard input:2: this line is not UTF-8")


# --- Recipes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"trainig": {"steps": 3}}, ["unknown key 'trainig'. Did you mean 'training'?"]),
        ({"training.stesp": 3}, ["unknown key 'training.stesp'. Did you mean 'steps'?"]),
        ({"training.steps": "many"}, ["'training.steps' = 'many'", "valid integer"]),
        ({"training.steps": -1}, ["'training.steps' = -1", "greater than or equal to 1"]),
        ({"model.width": 100, "model.heads": 8}, ["width 100 is not divisible by 8 heads"]),
        ({"tokenizer.shared": False}, ["model.tie: all needs tokenizer.shared: true", "use tie: target or none"]),
        ({"data.train": {"task": "coppy"}}, ["there is no task 'coppy'", "Did you mean 'copy'?"]),
        ({"data.train.options": {"symbol": 3}}, ["option 'symbol'", "Did you mean 'symbols'?"]),
        ({"data.train.options": {"symbols": 1}}, ["option 'symbols'", "Give a whole number from 2"]),
        ({"data.valid": None}, ["there is no validation data", "data.held_out: 1000"]),
        ({"data.valid": None, "data.held_out": 300}, ["300 pairs are to be held out", "there are only 300"]),
        ({"training.batch_tokens": 5}, ["does not fit into a batch of 5", "training.batch_tokens"]),
        ({"model.vectors": {"source": "/nowhere/glove.txt"}}, ["/nowhere/glove.txt"]),
    ],
)
def test_a_mistake_in_a_recipe(command: Command, sprint: Write, out: Path, changes: dict[str, Any], words: list[str]):
    recipe = sprint(changes)
    sentence = command("train", recipe, "--out", out).refuses(*words)
    key = next(iter(changes)).split(".")[-1]
    lines = [number for number, line in enumerate(recipe.read_text().splitlines(), 1) if line.strip().startswith(key)]
    if "unknown key" in sentence or "' = " in sentence:
        assert f"{recipe}: line {lines[0]}: " in sentence
    assert not (out / "model.safetensors").exists()


def test_several_mistakes_are_told_at_once(command: Command, sprint: Write):
    recipe = sprint({"training.stesp": 3, "modle": {}, "seed": "x"})
    sentence = command("train", recipe).refuses("3 things are wrong:", "stesp", "modle", "'seed' = 'x'")
    assert len(sentence.strip().splitlines()) == 4


def test_invalid_yaml(command: Command, tmp_path: Path):
    (tmp_path / "recipe.yaml").write_text("name: x\ndata: {train: {task: copy}\nseed: 1\n")
    for verb in ("train", "validate", "describe"):
        command(verb, tmp_path / "recipe.yaml").refuses(f"{tmp_path / 'recipe.yaml'}:3: this is not valid YAML")


@pytest.mark.parametrize("verb", ["train", "validate", "describe"])
def test_a_malformed_change(command: Command, sprint: Write, verb: str):
    command(verb, sprint(), "--set", "training.steps").refuses("--set: 'training.steps' is not a change", "key=value")
    command(verb, sprint(), "--set", "seed=[").refuses("--set: the value in 'seed=[' is not valid YAML")
    command(verb, sprint(), "--set", "trainig.steps=3").refuses("unknown key 'trainig'. Did you mean 'training'?")


@pytest.mark.parametrize("name", ["..", "../../elsewhere", "{folder}/elsewhere", "a/b"])
def test_a_name_that_leads_elsewhere(
    command: Command, sprint: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    name = name.format(folder=tmp_path)
    command("train", sprint({"name": name})).refuses(f"line 1: 'name' = '{name}': a name ")
    command("train", sprint(), "--set", f"name={name}").refuses(f"'name' = '{name}': a name ")
    assert [path.name for path in tmp_path.rglob("*")] == ["here", "recipe.yaml"]


@pytest.mark.parametrize("verb", ["train", "validate", "describe"])
def test_a_missing_recipe(command: Command, tmp_path: Path, verb: str):
    command(verb, tmp_path / "no.yaml").refuses("there is no such recipe", "manyheads recipe new")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["recipe.yaml", "--source", "a", "--target", "b"],
        ["--source", "a"],
        ["--target", "b"],
        ["--source", "a", "--target", "b", "--valid-source", "c"],
    ],
)
def test_train_needs_a_recipe_or_two_files(command: Command, words: list[str]):
    command("train", *words).refuses()


@pytest.mark.parametrize("words", [["train", "--nonsense"], ["nonsense"], ["score", "run"]])
def test_a_word_that_is_no_option(command: Command, words: list[str]):
    result = command(*words)
    assert result.code == 2
    assert "Traceback" not in result.err
    assert result.err


def test_a_new_recipe_does_not_take_the_place_of_a_file(command: Command, tmp_path: Path):
    (tmp_path / "mine.yaml").write_text("mine")
    command("recipe", "new", tmp_path / "mine.yaml").refuses("this file exists already", "--overwrite")
    assert (tmp_path / "mine.yaml").read_text() == "mine"
    command("recipe", "new", tmp_path / "no" / "new.yaml").refuses("cannot be written")


# --- Vocabularies ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_larger_than_the_corpus_allows(command: Command, sprint: Write, out: Path, kind: str):
    wrong = sprint({"tokenizer": {"kind": kind, "vocabulary": 5000}})
    sentence = command("train", wrong, "--out", out).refuses("tokenizer.vocabulary", "larger than this corpus allows")
    largest = re.findall(r"Set it to at most (\d+)", sentence)[0]
    right = sprint({"tokenizer": {"kind": kind, "vocabulary": int(largest)}}, name="right.yaml")
    command("train", right, "--out", out.with_name("new")).succeeds("Finished at step 12.")


def test_a_vocabulary_too_small_for_its_characters(command: Command, sprint: Write, out: Path):
    recipe = sprint({"tokenizer": {"kind": "bpe", "vocabulary": 6}})
    command("train", recipe, "--out", out).refuses("cannot hold every character", "Set it to at least ")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ({"tokenizer": {"kind": "bpe", "vocabulary": 5000}}, {"tokenizer": {"kind": "bpe", "vocabulary": 16}}),
        ({"training.batch_tokens": 5}, {}),
        ({"data.max_length": 1, "data.too_long": "stop"}, {}),
    ],
)
def test_a_mistake_that_is_mended_does_not_need_another_folder(
    command: Command, sprint: Write, out: Path, wrong: dict[str, Any], right: dict[str, Any]
):
    # Nothing was learned yet, so there is nothing that another recipe could contradict.
    command("train", sprint(wrong), "--out", out).refuses()
    command("train", sprint(right), "--out", out).succeeds("Finished at step 12.")


# --- Run folders -----------------------------------------------------------------------------------------------------


def test_the_run_of_another_recipe(command: Command, sprint: Write, run: Path, contents: Contents):
    recipe = sprint({"model.width": 32, "seed": 5, "training.steps": 20})
    sentence = refused_and_intact(command, contents, run, "train", recipe, "--out", run)
    assert "another recipe; it differs in: model.width, seed. Choose another folder with --out" in sentence


def test_a_folder_that_another_training_writes_into(command: Command, sprint: Write, run: Path, contents: Contents):
    longer = sprint({"training.steps": 20})
    with claimed(run):
        sentence = refused_and_intact(command, contents, run, "train", longer, "--out", run)
    assert "another training is writing into this folder. Let it end (Ctrl-C saves first), or choose" in sentence
    command("train", longer, "--out", run).succeeds("Finished at step 20.")


def test_a_folder_that_is_not_a_run(command: Command, sprint: Write, tmp_path: Path, contents: Contents):
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    sentence = refused_and_intact(command, contents, folder, "train", sprint(), "--out", folder)
    assert "this folder is not empty and not a run. Choose another with --out." in sentence


def test_a_file_in_the_place_of_the_folder(command: Command, sprint: Write, tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    command("train", sprint(), "--out", tmp_path / "file").refuses(str(tmp_path / "file"))
    command("train", sprint(), "--out", tmp_path / "file" / "run").refuses(str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to the superuser")
def test_a_read_only_folder(command: Command, sprint: Write, tmp_path: Path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    command("train", sprint(), "--out", locked / "run").refuses("Permission denied")


@pytest.mark.parametrize("verb", ["translate", "evaluate", "score", "describe"])
def test_what_is_not_a_run(command: Command, tmp_path: Path, verb: str, contents: Contents):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("mine")
    (tmp_path / "text").write_text("a\n")
    for place in (tmp_path / "folder", tmp_path / "nowhere"):
        words: dict[str, list[object]] = {
            "translate": ["--model", place, "a"],
            "evaluate": [place],
            "score": [place, "--source", tmp_path / "text", "--target", tmp_path / "text"],
            "describe": [place],
        }
        assert str(place) in refused_and_intact(command, contents, tmp_path, verb, *words[verb])


@pytest.mark.parametrize("verb", ["translate", "evaluate", "describe"])
@pytest.mark.parametrize("missing", ["config.json", "recipe.yaml", "tokenizer", "model.safetensors"])
def test_a_run_that_lacks_something(command: Command, run: Path, verb: str, missing: str, contents: Contents):
    without_checksums(run)
    if (run / missing).is_dir():
        shutil.rmtree(run / missing)
    else:
        (run / missing).unlink()
    words = {"translate": ["--model", run, "a"], "evaluate": [run, "--count", 5], "describe": [run]}[verb]
    if verb == "describe" and missing in ("tokenizer", "model.safetensors"):
        command(verb, *words).succeeds()  # needs neither
    else:
        refused_and_intact(command, contents, run, verb, *words)


@pytest.mark.parametrize("damaged", ["config.json", "recipe.yaml", "tokenizer/shared.model", "model.safetensors"])
@pytest.mark.parametrize("content", [b"", b"\0" * 100], ids=["empty", "zeros"])
def test_a_run_of_which_something_is_damaged(command: Command, run: Path, damaged: str, content: bytes):
    (without_checksums(run) / damaged).write_bytes(content)
    command("translate", "--model", run, "a b").refuses(str(run / damaged))


# --- Checkpoints -----------------------------------------------------------------------------------------------------


def test_a_damaged_checkpoint_is_passed_over(command: Command, sprint: Write, run: Path):
    newest = run / "checkpoints" / "step-00000012"
    (newest / "model.safetensors").write_bytes(b"damaged")
    said = " ".join(command("train", sprint(), "--out", run).succeeds().split())
    assert f"{newest / 'model.safetensors'}: this file of the checkpoint is damaged. Falling back" in said
    assert "Continuing from step 9 " in said
    assert "Finished at step 12." in said


def test_all_checkpoints_damaged(command: Command, sprint: Write, run: Path, contents: Contents):
    for checkpoint in (run / "checkpoints").iterdir():
        (checkpoint / "state.json").write_text("{")
    sentence = refused_and_intact(command, contents, run, "train", sprint(), "--out", run)
    assert "checkpoints of this run can be read" in sentence
    assert "Restore one from a backup, or start again in another folder (--out)." in sentence


def test_a_learning_rate_that_destroys_the_model(command: Command, sprint: Write, out: Path):
    changes = {"training.schedule": {"kind": "constant", "rate": 1e30, "warmup": 0}, "training.checkpoint_every": 100}
    sentence = command("train", sprint(changes), "--out", out).refuses(
        "the loss is no longer a number", " pairs whose first source is '", "training.schedule.rate", "clip_norm"
    )
    assert re.search(r"at step \d+, in a batch of \d+ pairs", sentence)


# --- A full disk -----------------------------------------------------------------------------------------------------


def no_larger_than(limit: int) -> Callable[[], None]:
    """Return what lets no file of a process grow beyond a limit."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def test_a_disk_that_is_full(
    command: Command, process: Command, sprint: Write, tmp_path: Path, contents: Contents, finished: Path
):
    run = tmp_path / "run"
    command("train", sprint({"training.steps": 6}), "--out", run).succeeds()
    saved = contents(run / "checkpoints")
    model = (run / "model.safetensors").read_bytes()
    recipe = sprint()
    result = process("train", recipe, "--out", run, preexec_fn=no_larger_than(len(model) // 2))
    result.refuses(str(run / "checkpoints" / "step-00000009"), "cannot be written", "File too large", "Make room")
    assert contents(run / "checkpoints") == saved
    assert (run / "model.safetensors").read_bytes() == model
    command("train", recipe, "--out", run).succeeds("Continuing from step 6 ", "Finished at step 12.")
    assert (run / "model.safetensors").read_bytes() == (finished / "model.safetensors").read_bytes()


SMALL_DISK = """
mount -t tmpfs -o size={size}k tmpfs {disk} || exit 77
{train} 2> {result}/first; echo $? > {result}/code
cp -r {disk}/run {result}/before
mount -o remount,size=50m {disk} || exit 77
{train} 2> {result}/second || exit 1
cp -r {disk}/run {result}/after
"""


def test_a_disk_that_fills_up(sprint: Write, tmp_path: Path):
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare, which gives a process a small disk of its own")
    disk, result = tmp_path / "disk", tmp_path / "result"
    disk.mkdir()
    result.mkdir()
    recipe = sprint({"training.keep_checkpoints": 100, "training.checkpoint_every": 1})
    train = f"{sys.executable} -m manyheads train {recipe} --out {disk}/run"
    script = SMALL_DISK.format(size=200, disk=disk, result=result, train=train)
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, timeout=120)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"this system gives a process no small disk of its own: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr + (result / "second").read_text()
    said = (result / "first").read_text()
    assert "Traceback" not in said, said
    assert (result / "code").read_text() == "2\n"
    assert "No space left on device" in said
    assert "error: " in said
    from manyheads.training.state.checkpoint import checkpoint_folders, load_checkpoint

    saved = checkpoint_folders(result / "before" / "checkpoints")
    assert 1 <= len(saved) < 12
    for folder in saved:
        kept = result / "after" / "checkpoints" / folder.name
        assert load_checkpoint(kept).progress.step == load_checkpoint(folder).progress.step
    assert f"Continuing from step {load_checkpoint(saved[-1]).progress.step} " in (result / "second").read_text()
    assert (result / "after" / "checkpoints" / "step-00000012").exists()


# --- Options ---------------------------------------------------------------------------------------------------------


def test_an_unknown_device(command: Command, sprint: Write, finished: Path, out: Path):
    for words in (["train", sprint(), "--out", out], ["translate", "--model", finished, "a"]):
        command(*words, "--device", "gpu").refuses("no device 'gpu'", "Available: auto, ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--n-best", 5], ["n-best", "beam (4)"]),
        (["--n-best", 3, "--beam", 2], ["n-best", "beam (2)"]),
        (["--n-best", 0], ["n-best"]),
        (["--beam", 0], ["beam"]),
        (["--length-penalty", -1], ["length penalty"]),
        (["--sample", "--temperature", 0], ["temperature"]),
        (["--sample", "--top-p", 0], ["top-p"]),
        (["--sample", "--top-p", 1.5], ["top-p"]),
        (["--sample", "--top-k", -1], ["top-k"]),
        (["--batch", 0], ["batch"]),
        (["--no-repeat-ngram", -1], []),
        (["--extra-length", -1], []),
    ],
)
def test_an_impossible_option(command: Command, finished: Path, options: list[object], words: list[str]):
    result = command("translate", "--model", finished, "a b", *options)
    result.refuses(*words)
    assert result.out == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--metric", "blue"], ["no metric 'blue'", "Did you mean 'bleu'?"]),
        (["--metric", "bleu", "--tokenizer", "31a"], ["31a", "13a"]),
        (["--count", 0], ["count"]),
        (["--task", "coppy"], ["no task 'coppy'", "Did you mean 'copy'?"]),
        (["--source", "/nowhere"], ["source and target belong together"]),
        (["--source", "/nowhere", "--target", "/nowhere"], ["/nowhere", "no such file"]),
        (["--pairs", "/nowhere", "--format", "xml"], ["format", "xml"]),
        (["--against", "/nowhere"], ["/nowhere: there is no such run folder"]),
        (["--save", "/nowhere/outputs"], ["/nowhere/outputs", "cannot be written"]),
    ],
)
def test_an_impossible_evaluation(command: Command, finished: Path, options: list[object], words: list[str]):
    result = command("evaluate", finished, *(["--count", 5] if "--count" not in options else []), *options)
    result.refuses(*words)


def test_a_score_of_files_of_unequal_length(command: Command, finished: Path, tmp_path: Path):
    (tmp_path / "s").write_text("a\nb\n")
    (tmp_path / "t").write_text("a\n")
    command("score", finished, "--source", tmp_path / "s", "--target", tmp_path / "t").refuses(
        "the source has 2 lines but the target has 1"
    )


def test_an_unknown_corpus(command: Command):
    command("data", "get", "multi30").refuses("Did you mean 'multi30k'?")


def test_the_real_command_says_it_the_same_way(process: Command, sprint: Write, tmp_path: Path):
    recipe = sprint({"training.stesp": 3})
    result = process("train", recipe, "--out", tmp_path / "run")
    assert result.refuses("unknown key 'training.stesp'. Did you mean 'steps'?")
    assert result.out == ""
    assert len(result.err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_an_error_of_the_tokenizer_is_the_only_line(process: Command, sprint: Write, out: Path):
    # SentencePiece writes its own complaints past Python, to the same place.
    result = process("train", sprint({"tokenizer": {"kind": "bpe", "vocabulary": 5000}}), "--out", out)
    result.refuses("larger than this corpus allows")
    assert len(result.err.splitlines()) == 1, result.err


def test_json_is_printed_alone(command: Command, finished: Path):
    result = command("evaluate", finished, "--count", 5, "--json")
    result.succeeds()
    assert json.loads(result.out)["pairs"] == 5
