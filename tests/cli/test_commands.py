"""Every verb as a user calls it, on small models that were really trained."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from commands import laid_over, verbs
from manyheads import Translator, __version__
from manyheads.cli import texts as reading
from manyheads.config.corpora import CorpusSettings
from manyheads.config.reading import load_recipe, parse_recipe
from manyheads.data.text.corpora import open_corpus
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import read_weights
from manyheads.training import costs

Command = Callable[..., Any]


@pytest.fixture(scope="session")
def translator(copy_run: Path) -> Translator:
    """The library's view of the run that copies."""
    return Translator(copy_run)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


# --- Help, version, start --------------------------------------------------------------------------------------------


VERBS = [pytest.param(*one, id=" ".join(one[0]) or "manyheads") for one in verbs()]


@pytest.mark.parametrize(("words", "verb"), VERBS)
def test_every_verb_has_help(command: Command, words: tuple[str, ...], verb: click.Command):
    result = command(*words, "--help")
    result.succeeds()
    assert "Usage" in result.out
    assert verb.help


@pytest.mark.parametrize(("words", "verb"), VERBS)
def test_every_option_is_explained(words: tuple[str, ...], verb: click.Command):
    unexplained = [one.name for one in verb.params if not getattr(one, "help", None)]
    assert unexplained == []


def test_the_verbs_are_those_of_the_design():
    found = {" ".join(words) for words, _ in verbs()}
    assert {
        "train",
        "translate",
        "evaluate",
        "score",
        "export",
        "import",
        "describe",
        "validate",
        "recipe new",
        "data list",
    } <= found


def test_the_real_command_tells_its_version(process: Command):
    assert process("--version").out == f"manyheads {__version__}\n"
    script = Path(sys.executable).with_name("manyheads")
    if script.exists():
        assert (
            subprocess.run([script, "--version"], capture_output=True, text=True).stdout == f"manyheads {__version__}\n"
        )


def test_without_a_verb_there_is_help(command: Command):
    result = command()
    assert "Usage" in result.out + result.err
    assert "translate" in result.out + result.err


def test_a_mistyped_verb_is_told_the_nearest(command: Command):
    assert "Did you mean 'train'?" in command("trian").err


def test_a_verb_does_not_wait_for_the_imports_of_another():
    script = "import sys; from manyheads.cli.app import app; app(['translate', '--help'], standalone_mode=False)\n"
    script += "sys.exit('manyheads.cli.serve' in sys.modules or 'manyheads.cli.translate' not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0


TORCH_FREE = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
    if "torch" in sys.modules:
        sys.exit(name)
import manyheads
manyheads.ManyheadsError, manyheads.Translator
sys.exit("torch" in sys.modules)
"""


def test_what_needs_no_torch_does_not_import_it():
    source = Path(__file__).parents[2] / "src" / "manyheads"
    configs = [f"manyheads.config.{path.stem}" for path in (source / "config").glob("[a-z]*.py")]
    exchanges = [
        f"manyheads.exchange.{path.stem}"
        for path in (source / "exchange").glob("[a-z]*.py")
        if path.stem != "comparison"
    ]
    verb_files = [f"manyheads.cli.{path.stem}" for path in (source / "cli").glob("[a-z]*.py")]
    names = [
        "manyheads",
        "manyheads.errors",
        *configs,
        "manyheads.data.tokens.tokenizers",
        "manyheads.data.batches.store",
        "manyheads.data.tokens.wordpiece",
        "manyheads.data.batches.examples",
        "manyheads.runs",
        "manyheads.runs.folder",
        "manyheads.runs.weights",
        "manyheads.decoding.translator",
        "manyheads.decoding.engines.ctranslate2",
        *exchanges,
        *verb_files,
    ]
    assert len(configs) >= 5
    done = subprocess.run([sys.executable, "-c", TORCH_FREE, *names], capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr} imports torch"


@pytest.mark.parametrize("place", ["before", "behind"])
def test_debug_shows_where_an_error_came_from(process: Command, tmp_path: Path, place: str):
    words = ["validate", tmp_path / "no.yaml"]
    result = process(*(["--debug", *words] if place == "before" else [*words, "--debug"]))
    assert result.code not in (0, 2)
    assert "Traceback" in result.err
    assert "there is no such recipe" in result.err
    process(*words).refuses("there is no such recipe")


def test_a_reader_that_goes_away_is_no_error():
    words = [sys.executable, "-m", "manyheads", "recipe", "new"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
    assert "Traceback" not in said
    assert "Exception" not in said


# --- train -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_training_is_stopped_and_goes_on(
    command: Command, background: Command, sprint: Callable[..., Path], tmp_path: Path, number: signal.Signals
):
    run = tmp_path / "run"
    recipe = sprint(
        {"training.steps": 1_000_000, "training.checkpoint_every": 1_000_000, "validation.every": 1_000_000}
    )
    training = background("train", recipe, "--out", run)
    training.wait_for(lambda: (run / "metrics.jsonl").exists() and (run / "metrics.jsonl").stat().st_size > 0)
    result = training.end(number)
    said = result.succeeds("Stopping after this step", "nothing is lost. Start the same command again to continue.")
    (checkpoint,) = (run / "checkpoints").iterdir()
    step = int(checkpoint.name.removeprefix("step-"))
    assert f"Stopped at step {step:,};" in said
    assert "Traceback" not in said
    again = command("train", recipe, "--out", run, "--set", f"training.steps={step + 2}")
    again.succeeds(f"Continuing from step {step:,} ", f"Finished at step {step + 2:,}.")
    steps = [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert steps == [*range(1, step + 3), step + 2], "each step once, and the validation at the end"


def test_a_trained_run_is_left_alone(command: Command, copy_run: Path, contents: Callable[[Path], dict[str, bytes]]):
    before = contents(copy_run)
    command("train", copy_run / "recipe.yaml", "--out", copy_run).succeeds("Already at step 400 of 400: nothing to do.")
    assert contents(copy_run) == before


def test_the_folder_is_named_by_the_recipe(
    command: Command, sprint: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    command("train", sprint({"training.steps": 1, "name": "mine"})).succeeds("Finished at step 1.")
    assert (tmp_path / "runs" / "mine" / "model.safetensors").exists()


def test_time_ends_training_with_a_model(command: Command, sprint: Callable[..., Path], tmp_path: Path):
    recipe = sprint({"validation.every": 1000, "training.steps": 1000})
    command("train", recipe, "--out", tmp_path / "run", "--max-minutes", 0).succeeds("Stopped at step 1;")
    command("translate", "--model", tmp_path / "run", "a b").succeeds()


def test_training_is_quiet_outside_a_terminal(process: Command, sprint: Callable[..., Path], tmp_path: Path):
    result = process("train", sprint(), "--out", tmp_path / "run")
    assert result.out == ""
    lines = result.succeeds().splitlines()
    assert "\r" not in result.err
    assert "\x1b" not in result.err
    steps = [line.split(" ·")[0] for line in lines if line.startswith("step") and "validation" in line]
    assert steps == ["step 6 of 12", "step 12 of 12"]  # a slow machine says something before


# --- translate -------------------------------------------------------------------------------------------------------


def test_translate_takes_texts(command: Command, copy_run: Path):
    result = command("translate", "--model", copy_run, "a b c", "h g")
    result.succeeds()
    assert result.out == "a b c\nh g\n"


def test_translate_takes_standard_input(process: Command, copy_run: Path):
    result = process("translate", "--model", copy_run, "--beam", 1, stdin="c b a\n\n  \nd\r\na a a a a a")
    assert result.code == 0, result.err
    assert result.out == "c b a\n\n\nd\na a a a a a\n"


def test_translate_keeps_lines_and_their_order(command: Command, copy_run: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "FIRST_BLOCK", 5)  # bytes, so that lines are cut between blocks
    pairs = open_corpus(CorpusSettings(task="copy", count=30, options={"max_length": 6, "symbols": 8}), split="valid")
    lines = [pair.source if i % 4 else "" for i, pair in enumerate(pairs.pairs())]
    for batch in (1, 3, 64):
        result = command("translate", "--model", copy_run, "--batch", batch, "--beam", 1, stdin="\n".join(lines) + "\n")
        result.succeeds()
        assert result.out.split("\n") == [*lines, ""]


def test_nothing_in_nothing_out(command: Command, copy_run: Path):
    result = command("translate", "--model", copy_run, stdin="")
    result.succeeds()
    assert result.out == ""


def test_n_best_prints_candidates_best_first(command: Command, copy_run: Path):
    result = command("translate", "--model", copy_run, "a b c", "", "d e", "--n-best", 3, "--beam", 5)
    result.succeeds()
    lines = result.out.split("\n")
    first, empty, second = lines[:3], lines[3], lines[4:7]
    assert empty == ""
    for found, text in ((first, "a b c"), (second, "d e")):
        scores = [float(line.split("\t")[0]) for line in found]
        texts = [line.split("\t")[1] for line in found]
        assert texts[0] == text
        assert scores == sorted(scores, reverse=True)
        assert len(set(texts)) == 3


def test_json_has_everything(command: Command, copy_run: Path, translator: Translator):
    result = command("translate", "--model", copy_run, "--json", "--n-best", 2, "a b c", "")
    result.succeeds()
    first, empty = map(json.loads, result.out.splitlines())
    assert (first["source"], first["text"]) == ("a b c", "a b c")
    assert empty == {"source": "", "text": "", "candidates": []}
    assert first["candidates"][0]["text"] == "a b c"
    assert len(first["candidates"]) == 2
    likely = sum(translator.score(["a b c"], ["a b c"])[0])
    assert first["candidates"][0]["log_probability"] == pytest.approx(likely, abs=1e-4)


@pytest.mark.parametrize("beam", [1, 4])
def test_a_prefix_is_how_every_output_begins(command: Command, copy_run: Path, beam: int):
    result = command("translate", "--model", copy_run, "--prefix", "h g", "--beam", beam, "a b c d", "e f")
    result.succeeds()
    lines = result.out.splitlines()
    assert len(lines) == 2
    assert all(line.split()[:2] == ["h", "g"] for line in lines)


@pytest.mark.parametrize("beam", [2, 4, 8])
def test_a_beam_finds_no_worse_than_greedy(translator: Translator, beam: int):
    # A search that stops at its first few short outputs misses the long one that is nearly certain.
    monotonous = [" ".join(symbol * 6) for symbol in "abcdefgh"]
    pairs = open_corpus(CorpusSettings(task="copy", count=300, options={"max_length": 6, "symbols": 8}), split="test")
    texts = [*monotonous, *(pair.source for pair in pairs.pairs())]
    greedy, found = (translator.translations(texts, beam=size) for size in (1, beam))
    worse = [
        (one.source, other.text, other.candidates[0].score)
        for one, other in zip(greedy, found, strict=True)
        if other.candidates[0].score < one.candidates[0].score - 1e-3
    ]
    assert worse == []


def test_samples_follow_from_their_seed(command: Command, copy_run: Path):
    words = ["translate", "--model", copy_run, "--sample", "--temperature", 5, "--n-best", 5, "a b c d e"]
    first, again, other = (command(*words, "--seed", seed) for seed in (1, 1, 2))
    assert first.code == again.code == other.code == 0
    assert first.out == again.out
    assert first.out != other.out
    assert len(first.out.splitlines()) == 5


def test_safe_samples_are_the_best_output(command: Command, copy_run: Path):
    for cut in (["--top-k", 1], ["--top-p", 0.01], ["--temperature", 0.01]):
        result = command("translate", "--model", copy_run, "--sample", *cut, "a b c")
        result.succeeds()
        assert result.out == "a b c\n"


@pytest.mark.parametrize("beam", [1, 4])
def test_an_output_that_has_no_end_is_told(command: Command, copy_run: Path, beam: int):
    """A beam may hold something shorter that ends, and says then that something longer would have been better."""
    words = ["--extra-length", 0, "--beam", beam, "--json"]
    result = command("translate", "--model", copy_run, "a b c", "d e f", *words)
    result.succeeds()
    for number, (line, warning) in enumerate(zip(result.out.splitlines(), result.err.splitlines(), strict=True), 1):
        found = json.loads(line)
        shorter = found["text"] != found["source"]
        assert found["source"].startswith(found["text"])
        assert beam > 1 or not shorter
        told = "a longer output would have been more probable" if shorter else "cut off after 3 tokens without an end"
        assert warning.startswith(f"line {number}: {told}")
        assert told in found["warning"]


def test_no_repeat_ngram_forbids_repetition(command: Command, copy_run: Path):
    result = command("translate", "--model", copy_run, "--no-repeat-ngram", 1, "--beam", 1, "a a b")
    result.succeeds()
    written = result.out.split()
    assert len(set(written)) == len(written)


def test_the_library_and_the_command_agree(command: Command, copy_run: Path, translator: Translator):
    texts = ["a", "b c", "h h h", "", "f e d c b a"]
    result = command("translate", "--model", copy_run, *texts, "--beam", 3, "--length-penalty", 0)
    result.succeeds()
    assert result.out.split("\n")[:-1] == translator.translate(texts, beam=3, length_penalty=0.0)
    assert translator.translate("a b") == "a b"


# --- evaluate --------------------------------------------------------------------------------------------------------


def test_evaluate_takes_the_unseen_split_of_its_task(command: Command, copy_run: Path):
    result = command("evaluate", copy_run, "--count", 50, "--beam", 1)
    result.succeeds()
    assert [line.split() for line in result.out.splitlines()] == [["exact_match", "100.00"], ["perplexity", "1.00"]]


def test_evaluate_takes_files(command: Command, copy_run: Path, tmp_path: Path):
    sources = ["a b c d e", "h g f e d", "b b a a c", "d a d a d"]
    source = write(tmp_path / "s", sources)
    target = write(tmp_path / "t", ["a b c d e", "h g f e d", "b b a a c", "a d a d a"])
    save = tmp_path / "outputs"
    words = ["--metric", "exact_match", "--metric", "bleu", "--metric", "chrf", "--save", save, "--beam", 1]
    result = command("evaluate", copy_run, "--source", source, "--target", target, *words, "--json")
    result.succeeds()
    found = json.loads(result.out)
    scores = {score["name"]: score for score in found["scores"]}
    assert list(scores) == ["exact_match", "bleu", "chrf"]
    assert scores["exact_match"]["value"] == 75
    assert 0 < scores["bleu"]["value"] < 100
    assert "tok:13a" in scores["bleu"]["signature"]
    assert save.read_text().splitlines() == sources
    assert found["pairs"] == 4
    assert found["perplexity"] > 1.1
    assert found["run"] == str(copy_run)


@pytest.mark.parametrize(
    ("recipe", "words", "tokenizer"),
    [
        ({}, [], "zh"),
        ({}, ["--tokenizer", "13a"], "13a"),
        ({"data.target_language": "de"}, [], "13a"),
        ({"data.target_language": "de"}, ["--tokenizer", "auto"], "13a"),
        ({"validation.bleu_tokenizer": "none"}, [], "none"),
        ({"validation.bleu_tokenizer": "none"}, ["--tokenizer", "auto"], "zh"),
        ({"validation.bleu_tokenizer": "auto"}, [], "zh"),
    ],
)
def test_evaluate_counts_the_words_of_the_language(
    command: Command, copy_run: Path, tmp_path: Path, recipe: dict[str, str], words: list[str], tokenizer: str
):
    shutil.copytree(copy_run, tmp_path / "run")
    file = tmp_path / "run" / "recipe.yaml"
    file.write_text(yaml.safe_dump(laid_over(yaml.safe_load(file.read_text()), recipe)))
    pairs = write(tmp_path / "p.tsv", ["a b\t我爱中国。", "c d\t他在家。"])
    result = command("evaluate", tmp_path / "run", "--pairs", pairs, "--metric", "bleu", "--beam", 1, *words)
    result.succeeds()
    assert f"|tok:{tokenizer}|" in result.out


def test_evaluate_takes_pairs(command: Command, copy_run: Path, tmp_path: Path):
    tsv = write(tmp_path / "p.tsv", ["a b\ta b", "c d\tc d"])
    jsonl = write(tmp_path / "p.json", ['{"source": "a b", "target": "a b"}', '{"source": "c", "target": "d"}'])
    for words, value in (([tsv], 100), ([jsonl, "--format", "jsonl"], 50)):
        result = command("evaluate", copy_run, "--pairs", *words, "--beam", 1, "--json")
        result.succeeds()
        assert json.loads(result.out)["scores"][0]["value"] == value


def test_evaluate_takes_another_task(command: Command, copy_run: Path):
    result = command("evaluate", copy_run, "--task", "sort", "--count", 20, "--beam", 1, "--json")
    result.succeeds()
    assert json.loads(result.out)["scores"][0]["value"] < 50


def test_evaluate_changes_the_options_of_the_task(command: Command, copy_run: Path, tmp_path: Path):
    save = tmp_path / "outputs"
    words = ["--count", 5, "--beam", 1, "--set", "min_length=3", "--set", "max_length=3"]
    command("evaluate", copy_run, *words, "--save", save).succeeds()
    assert {len(line.split()) for line in save.read_text().splitlines()} == {3}
    assert "Did you mean 'max_length'" in command("evaluate", copy_run, "--set", "max_lenght=3").refuses()
    tsv = write(tmp_path / "p.tsv", ["a b\ta b"])
    said = command("evaluate", copy_run, "--pairs", tsv, "--set", "max_length=3").refuses()
    assert "options are for generated tasks" in said


def compared(result: Any) -> list[dict[str, Any]]:
    """Return the systems of the only metric that was compared by."""
    result.succeeds()
    (comparison,) = json.loads(result.out)["comparisons"]
    systems: list[dict[str, Any]] = comparison["systems"]
    return systems


def test_evaluate_compares_two_runs_by_the_tasks_own_metric(command: Command, copy_run: Path, reverse_run: Path):
    words = ["evaluate", copy_run, "--against", reverse_run, "--count", 60, "--beam", 1]
    result = command(*words, "--json")
    own, rival = compared(result)
    found = json.loads(result.out)
    assert found["against"] == [str(reverse_run)]
    assert (found["comparisons"][0]["metric"], found["comparisons"][0]["test"]) == (
        "exact_match",
        "McNemar's exact test",
    )
    assert (own["run"], rival["run"]) == (str(copy_run), str(reverse_run))
    assert own["value"] == own["low"] == own["high"] == 100
    assert rival["low"] <= rival["value"] <= rival["high"] < 100
    assert (own["p_value"], own["significant"]) == (None, None)
    assert rival["p_value"] == rival["corrected"] < 0.05
    assert rival["significant"] is True
    assert found["over_seeds"] is None
    assert command(*words, "--json").out == result.out, "a p-value can be reproduced"


def test_evaluate_prints_a_table_of_all_rivals(command: Command, copy_run: Path, reverse_run: Path):
    against = ["--against", reverse_run, "--against", copy_run]
    words = [
        "evaluate",
        copy_run,
        *against,
        "--metric",
        "exact_match",
        "--metric",
        "bleu",
        "--metric",
        "symbol_error_rate",
    ]
    said = command(*words, "--count", 40, "--beam", 1).out
    table = said[said.index("\nmetric") :].splitlines()[1:]
    assert "95 % interval" in table[0] and "Holm" in table[0]
    for name in ("exact_match", "bleu", "symbol_error_rate"):
        own, worse, same = [line for line in table[1:] if line.startswith(f"{name} ")]
        assert own.endswith(f"  {copy_run}") and "significant" not in own
        assert worse.endswith(f"significant     {reverse_run}")
        assert same.endswith(f"could be chance {copy_run}")
    assert (
        "exact_match by McNemar's exact test, bleu by paired bootstrap, symbol_error_rate by paired bootstrap" in said
    )
    assert "corrected for 2 comparisons" in said


def test_a_run_is_not_better_than_itself(command: Command, copy_run: Path):
    for words in ([], ["--metric", "chrf"], ["--metric", "symbol_error_rate"]):
        result = command("evaluate", copy_run, "--against", copy_run, "--count", 30, "--beam", 1, *words, "--json")
        own, same = compared(result)
        assert own["value"] == same["value"]
        assert same["p_value"] == 1.0
        assert same["significant"] is False


def test_runs_that_differ_in_their_seed_alone_have_a_mean(command: Command, copy_run: Path, tmp_path: Path):
    for seed in (2, 3):
        run = shutil.copytree(copy_run, tmp_path / str(seed))
        values = yaml.safe_load((run / "recipe.yaml").read_text())
        (run / "recipe.yaml").write_text(yaml.safe_dump({**values, "seed": seed, "name": f"copy-{seed}"}))
    against = ["--against", tmp_path / "2", "--against", tmp_path / "3"]
    words = ["evaluate", copy_run, *against, "--count", 20, "--beam", 1]
    assert "mean and standard deviation over 3 seeds" in command(*words).out
    found = json.loads(command(*words, "--json").out)["over_seeds"]
    assert found == {"runs": 3, "scores": [{"metric": "exact_match", "mean": 100.0, "standard_deviation": 0.0}]}
    other = tmp_path / "3" / "recipe.yaml"
    other.write_text(other.read_text().replace("label_smoothing: 0.0", "label_smoothing: 0.1"))
    assert json.loads(command(*words, "--json").out)["over_seeds"] is None


# --- score -----------------------------------------------------------------------------------------------------------


def test_score_is_the_librarys(command: Command, copy_run: Path, tmp_path: Path, translator: Translator):
    sources, targets = ["a b c", "d", "e f", "a"], ["a b c", "e", "f e", ""]
    files = ["--source", write(tmp_path / "s", sources), "--target", write(tmp_path / "t", targets)]
    expected = translator.score(sources, targets)
    plain = command("score", copy_run, *files)
    plain.succeeds()
    found = [float(line) for line in plain.out.splitlines()]
    assert found == pytest.approx([sum(row) for row in expected], abs=1e-5)
    assert found[0] > -0.1 > found[1]
    as_json = command("score", copy_run, *files, "--json", "--tokens")
    rows = [json.loads(line) for line in as_json.out.splitlines()]
    assert [row["tokens"] for row in rows] == expected
    assert [len(row["tokens"]) for row in rows] == [4, 2, 3, 1], "the end token is counted"
    counted = command("score", copy_run, *files, "--json")
    assert [json.loads(line)["tokens"] for line in counted.out.splitlines()] == [4, 2, 3, 1]


def test_a_score_depends_on_the_language_to_write(command: Command, tmp_path: Path):
    files = ["--source", write(tmp_path / "s", ["Thank you."]), "--target", write(tmp_path / "t", ["Merci."])]
    into = {to: command("score", "tatoeba", *files, "--to", to) for to in ("fr", "de")}
    assert float(into["fr"].out) > float(into["de"].out)


# --- describe, validate, recipe, data --------------------------------------------------------------------------------


def test_describe_a_run(command: Command, copy_run: Path):
    result = command("describe", copy_run, "--json")
    result.succeeds()
    found = json.loads(result.out)
    parameters = sum(array.size for array in read_weights(copy_run / "model.safetensors").values())
    assert found["parameters"] == found["trainable_parameters"] == parameters
    assert (found["name"], found["source_vocabulary"], found["target_vocabulary"]) == ("copy", 12, 12)
    assert found["steps"] == 400
    assert found["memory_bytes"] > 16 * parameters
    assert all(machine["hours"] > 0 for machine in found["machines"])
    distances = RunFolder.open(copy_run).config().model.distances(found["length"])
    assert (found["sequential_operations"], found["longest_path"]) == distances
    assert found["length"] == RunFolder.open(copy_run).recipe().data.max_length
    assert f"{parameters:,}" in command("describe", copy_run).out


def test_describe_a_recipe(command: Command, sprint: Callable[..., Path]):
    recipe = sprint({"tokenizer": {"kind": "bpe", "vocabulary": 1000}})
    small, large = (
        json.loads(command("describe", recipe, "--json", "--set", f"model.width={width}").out) for width in (16, 32)
    )
    assert large["parameters"] - small["parameters"] > 16 * 1000
    assert large["flops_per_update"] > 1.5 * small["flops_per_update"]
    assert small["training_flops"] == small["flops_per_update"] * small["steps"]


def test_describe_tells_how_far_apart_the_ends_of_a_sequence_are(command: Command, tmp_path: Path):
    length = 1000

    def rows(**model: Any) -> tuple[str, ...] | None:
        recipe = {"data": {"train": {"task": "copy"}, "max_length": length}, "model": {"width": 16, **model}}
        (tmp_path / "recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
        said = command("describe", tmp_path / "recipe.yaml").out
        found = [re.search(rf"{label} +(.+)", said) for label in ("sequential", "longest path")]
        return tuple(one[1] for one in found if one) or None

    layers = {"encoder_layers": 2, "decoder_layers": 2}
    full = {"heads": 2, "feed_forward": 16, **layers}
    assert rows(**full) == (f"4 operations one after another, for sequences of {length:,} tokens", "2 operations")
    steps, above = length - 1, 2 + 1  # from position to position, then the layers and the attention at the last one
    assert rows(kind="recurrent", **layers)[1] == f"{steps + above:,} operations"
    assert rows(**full, attention={"kind": "window", "window": 9})[1] == "none: too few layers for this length"
    assert rows(**full, attention={"kind": "hashing"}) is None


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "less than 1 s on"), (40, "40 s on"), (90, "1 min 30 s on"), (7200, "2 h 00 min on")]
)
def test_describe_tells_times_in_units_that_suit_them(
    command: Command, sprint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, seconds: float, words: str
):
    recipe = sprint()
    flops = json.loads(command("describe", recipe, "--json").out)["training_flops"]
    peak = flops / seconds / costs.UTILISATION
    monkeypatch.setattr(costs, "matrix_product_peak", lambda: peak)
    said = command("describe", recipe).out
    assert f" {words} this computer" in said
    assert " hours" not in said


def test_describe_says_what_it_assumes(command: Command, sprint: Callable[..., Path]):
    said = command("describe", sprint({"tokenizer": {"kind": "characters"}})).out
    assert "64 source and 64 target pieces (assumed" in said
    assert "50% of peak assumed; the peak measured here is" in said
    assert "(assumed" not in command("describe", sprint({"tokenizer": {"kind": "bpe", "vocabulary": 99}})).out


def test_validate_prints_the_resolved_recipe(command: Command, sprint: Callable[..., Path]):
    recipe = sprint()
    result = command("validate", recipe, "--set", "seed=7")
    result.succeeds(f"{recipe} is valid.")
    assert parse_recipe(result.out) == load_recipe(recipe, ["seed=7"])
    as_json = command("validate", recipe, "--json")
    assert json.loads(as_json.out)["training"]["steps"] == 12


def test_validate_looks_for_the_files(command: Command, sprint: Callable[..., Path]):
    recipe = sprint({"data.train": {"source": "/nowhere/a", "target": "/nowhere/b"}})
    command("validate", recipe).refuses("/nowhere/a", "there is no such file for the source")
    command("validate", recipe, "--no-files").succeeds("is valid.")


def test_a_new_recipe_is_valid_once_its_files_are_there(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    printed = command("recipe", "new")
    printed.succeeds()
    command("recipe", "new", "mine.yaml").succeeds("manyheads train mine.yaml")
    assert (tmp_path / "mine.yaml").read_text() == printed.out
    for value in yaml.safe_load(printed.out)["data"].values():
        if isinstance(value, dict) and "source" in value:
            write(tmp_path / value["source"], ["a"])
            write(tmp_path / value["target"], ["b"])
    command("validate", "mine.yaml").succeeds("mine.yaml is valid.")
    assert load_recipe(Path("mine.yaml")).data.train.source == "train.en"


def test_data_list_is_a_catalogue(command: Command):
    result = command("data", "list", "--json")
    result.succeeds()
    listed = json.loads(result.out)
    assert listed
    assert all(corpus["licence"] for corpus in listed)
    plain = command("data", "list")
    assert all(corpus["name"] in plain.out for corpus in listed)


def test_a_run_may_be_moved(command: Command, copy_run: Path, tmp_path: Path):
    shutil.copytree(copy_run, tmp_path / "elsewhere")
    for unneeded in ("checkpoints", "events"):
        shutil.rmtree(tmp_path / "elsewhere" / unneeded)
    result = command("translate", "--model", tmp_path / "elsewhere", "a b c", "--beam", 1)
    result.succeeds()
    assert result.out == "a b c\n"
