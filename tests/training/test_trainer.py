"""The training loop: what it learns, what it writes, when it stops, and what it does when numbers go wrong."""

import json
import math
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from helpers import prepared
from manyheads.config.reading import load_recipe
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import Score
from manyheads.runs.checkpoints import OWN
from manyheads.runs.folder import RunFolder
from manyheads.tasks.interface import Validation
from manyheads.tasks.teacher_forcing import PairTensors, TranslationObjective
from manyheads.tasks.translation import TranslationValidator
from manyheads.training import progress
from manyheads.training.learner import step_seed
from manyheads.training.optimisation.schedule import learning_rate
from manyheads.training.progress import Reporter, duration
from manyheads.training.state.checkpoint import load_checkpoint
from manyheads.training.trainer import Trainer

CPU = torch.device("cpu")


class Listener(Reporter):
    """A reporter that remembers what it was told, and may act on a step."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[str] = []
        self.at_step: Callable[[int], None] = lambda step: None

    def note(self, text: str) -> None:
        self.notes.append(text)

    def update(self, step: int, facts: str) -> None:
        self.at_step(step)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


Make = Callable[..., Trainer]


@pytest.fixture
def make(sprint: Callable[..., Path], tmp_path: Path) -> Make:
    """`make({"training.steps": 3})` returns a trainer of the quick recipe, in the test's own run folder."""

    def trainer(
        changes: dict[str, Any] | None = None, *, max_minutes: float | None = None, reporter: Reporter | None = None
    ) -> Trainer:
        reporter = reporter or Listener()
        preparation = prepared(load_recipe(sprint(changes)), RunFolder(tmp_path / "run"), reporter.note)
        return Trainer(preparation, device=CPU, reporter=reporter, max_minutes=max_minutes)

    return trainer


def notes(trainer: Trainer) -> str:
    assert isinstance(trainer.reporter, Listener)
    return "\n".join(trainer.reporter.notes)


def listener(trainer: Trainer) -> Listener:
    assert isinstance(trainer.reporter, Listener)
    return trainer.reporter


def saved_steps(trainer: Trainer) -> list[int]:
    return sorted(int(path.name.removeprefix("step-")) for path in trainer.run.checkpoints.iterdir())


# --- Learning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["copy", "reverse"])
@pytest.mark.parametrize("beam", [1, 4])
def test_it_learns_without_a_mistake(request: pytest.FixtureRequest, command: Callable[..., Any], task: str, beam: int):
    run = request.getfixturevalue(f"{task}_run")
    result = command("evaluate", run, "--count", 500, "--beam", beam, "--json")
    result.succeeds()
    found = json.loads(result.out)
    assert found["pairs"] == 500
    assert {score["name"]: score["value"] for score in found["scores"]}["exact_match"] == 100
    assert found["perplexity"] < 1.05


# --- What it writes --------------------------------------------------------------------------------------------------


def test_a_run_folder_is_everything(make: Make):
    trainer = make()
    assert trainer.train() == "finished"
    names = {path.name for path in trainer.run.path.iterdir()}
    assert names == {
        "recipe.yaml",
        "begun.yaml",
        "config.json",
        "model.safetensors",
        "tokenizer",
        "checkpoints",
        "metrics.jsonl",
        "events",
        "card.md",
        "checksums.json",
        "copies",
        "inputs.json",
    }
    suffixes = {path.suffix for path in trainer.run.path.rglob("*") if path.is_file() and "events" not in path.parts}
    assert suffixes == {".yaml", ".json", ".jsonl", ".safetensors", ".model", ".md"}
    assert "Finished at step 12." in notes(trainer)
    assert f"The model is in {trainer.run.path}." in notes(trainer)


def test_every_step_is_in_the_journal(make: Make):
    trainer = make({"training.log_every": 2})
    trainer.train()
    entries = list(trainer.run.metrics())
    trained = [entry for entry in entries if entry["kind"] == "train"]
    assert [entry["step"] for entry in trained] == [2, 4, 6, 8, 10, 12]
    assert [entry["step"] for entry in entries if entry["kind"] == "validation"] == [6, 12]
    assert all(math.isfinite(value) for entry in entries for value in entry.values() if isinstance(value, float))
    schedule = trainer.recipe.training.schedule
    for entry in trained:
        assert entry["rate"] == learning_rate(schedule, entry["step"], width=16, steps=12)
    assert trained[-1]["loss"] < trained[0]["loss"]


def test_the_card_says_what_the_model_is(make: Make):
    trainer = make()
    trainer.train()
    card = trainer.run.card_file.read_text(encoding="utf-8")
    parameters = sum(parameter.numel() for parameter in trainer.model.parameters())
    assert f"transformer, {parameters:,} parameters" in card
    assert "copy task, 300 train pairs, seed 1" in card
    assert "| step | 12 of 12 |" in card
    assert "| loss | " in card


def test_checkpoints_are_the_newest_and_the_best(make: Make, scores: Callable[[list[float]], None]):
    scores([3.0, 2.0, 1.0, 4.0])  # losses: the third is the best
    trainer = make({"training.steps": 16, "training.checkpoint_every": 1, "validation.every": 4})
    trainer.train()
    assert trainer.progress.best_step == 12
    assert saved_steps(trainer) == [12, 15, 16]


# --- The best model --------------------------------------------------------------------------------------------------


@pytest.fixture
def scores(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[float]], None]:
    """`scores([3.0, 1.0])` decides what the next validations find."""

    def decide(values: list[float], *, higher_is_better: bool = False) -> None:
        left = iter(values)
        monkeypatch.setattr(
            TranslationValidator,
            "run",
            lambda self: Validation(Score("loss", next(left), higher_is_better=higher_is_better), [], []),
        )

    return decide


@pytest.mark.parametrize(("higher", "best"), [(False, 6), (True, 9)])
def test_the_best_model_is_published(make: Make, scores: Callable[..., None], higher: bool, best: int):
    scores([2.0, 1.0, 3.0, 2.5], higher_is_better=higher)
    trainer = make({"validation.every": 3})
    trainer.train()
    assert (trainer.progress.best_step, trainer.progress.without_improvement) == (best, (12 - best) // 3)
    weights = trainer.run.checkpoints / f"step-{best:08d}" / "model.safetensors"
    assert trainer.run.weights_file.read_bytes() == weights.read_bytes()
    assert f"| step | {best} of 12 |" in trainer.run.card_file.read_text()


def test_an_equal_score_is_no_better(make: Make, scores: Callable[..., None]):
    scores([2.0, 2.0, 2.0, 2.0])
    trainer = make({"validation.every": 3})
    trainer.train()
    assert trainer.progress.best_step == 3


def test_patience_ends_training(make: Make, scores: Callable[..., None]):
    scores([2.0, 1.0, 3.0, 4.0, 0.5])
    trainer = make({"validation.every": 2, "validation.patience": 2})
    assert trainer.train() == "stopped early"
    assert trainer.progress.step == 8
    assert "Finished at step 8 (no further improvement)." in notes(trainer)
    best = trainer.run.checkpoints / "step-00000004" / "model.safetensors"
    assert trainer.run.weights_file.read_bytes() == best.read_bytes()
    again = make({"validation.every": 2, "validation.patience": 2})
    assert again.train() == "nothing to do"
    assert "validation no longer improved (step 8): nothing to do." in notes(again)


def test_a_score_that_is_no_number_is_never_the_best(make: Make, scores: Callable[..., None]):
    scores([math.nan, 2.0, math.nan, 3.0])
    trainer = make({"validation.every": 3})
    trainer.train()
    assert trainer.progress.best_step == 6


# --- One update ------------------------------------------------------------------------------------------------------


def test_batches_of_one_update_are_added_up(make: Make):
    trainer = make({"training.accumulate": 3, "model.dropout": 0.0})
    step = 2
    batches = [trainer.task.stages[0][3 * step + i] for i in range(3)]
    losses = [trainer.learner.objective(PairTensors.move(batch, CPU)) for batch in batches]
    count = sum(tokens for _, tokens in losses)
    total = sum(loss for loss, _ in losses) / count
    expected = torch.autograd.grad(total, list(trainer.model.parameters()))
    loss, norm, _, tokens = trainer.learner.update(step, batches)
    assert tokens == count == sum(int(batch.target_lengths.sum()) for batch in batches)
    assert loss == pytest.approx(total.item(), rel=1e-5)
    found = [parameter.grad for parameter in trainer.model.parameters()]
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
    assert norm == pytest.approx(float(torch.cat([one.flatten() for one in expected]).norm()), rel=1e-4)


def test_gradients_are_clipped_where_it_is_asked(make: Make):
    trainer = make({"training.clip_norm": 0.01})
    norm = trainer.learner.update(0, [trainer.task.stages[0][0]]).norm
    clipped = torch.cat([parameter.grad.flatten() for parameter in trainer.model.parameters()]).norm()  # type: ignore[union-attr]
    assert norm > 0.1
    assert float(clipped) == pytest.approx(0.01, rel=1e-3)


def test_every_step_has_random_numbers_of_its_own():
    seeds = [step_seed(seed, step) for seed in range(-3, 4) for step in range(1000)]
    assert len(set(seeds)) == len(seeds)
    torch.manual_seed(step_seed(2**62, 10**9))  # is accepted


# --- Stopping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_after_the_step(make: Make, number: signal.Signals):
    before = signal.getsignal(number)
    trainer = make()
    listener(trainer).at_step = lambda step: signal.raise_signal(number) if step == 5 else None
    assert trainer.train() == "interrupted"
    assert saved_steps(trainer) == [3, 5]
    assert load_checkpoint(trainer.run.checkpoints / "step-00000005").progress.step == 5
    assert "Stopping after this step" in notes(trainer)
    assert "Stopped at step 5; nothing is lost. Start the same command again to continue." in notes(trainer)
    assert signal.getsignal(number) == before, "signals mean what they meant before"


def test_it_trains_in_another_thread_and_leaves_signals_alone(make: Make):
    trainer = make()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    during: list[bool] = []

    def note_handlers(step: int) -> None:
        during.append({number: signal.getsignal(number) for number in handlers} == handlers)

    listener(trainer).at_step = note_handlers
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(trainer.train).result() == "finished"
    assert during == [True] * 12
    assert trainer.run.weights_file.exists()


@pytest.fixture
def ctrl_c_interrupts() -> Iterator[None]:
    """What a terminal gives every program, and a shell takes from those in its background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_a_second_ctrl_c_ends_it_at_once(make: Make):
    trainer = make()

    def twice(step: int) -> None:
        if step == 5:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    listener(trainer).at_step = twice
    with pytest.raises(KeyboardInterrupt):
        trainer.train()
    assert saved_steps(trainer) == [3]
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
    assert make().train() == "finished"


def test_time_ends_it_with_a_model(make: Make):
    trainer = make({"validation.every": 1000}, max_minutes=0)
    assert trainer.train() == "out of time"
    assert saved_steps(trainer) == [1]
    assert trainer.run.weights_file.exists()
    assert trainer.run.card_file.exists()
    assert make({"validation.every": 1000}).train() == "finished"


def test_it_says_when_versions_have_changed(make: Make):
    make({"training.steps": 3}).train()
    state = RunFolder(make().run.path).checkpoints / "step-00000003" / "state.json"
    values = json.loads(state.read_text())
    values["versions"]["torch"] = "0.1"
    del values[OWN]  # as earlier versions wrote it, without a checksum of its own
    state.write_text(json.dumps(values))
    trainer = make()
    trainer.train()
    changed = f"torch 0.1 → {torch.__version__}"
    assert f"The environment has changed, so results may differ slightly: {changed}" in notes(trainer)


# --- Numbers that go wrong -------------------------------------------------------------------------------------------


def poisoned(monkeypatch: pytest.MonkeyPatch, update: int) -> None:
    """Make the loss of the given update (from 1), and of none before it, no number."""
    forward, calls = TranslationObjective.forward, iter(range(1, 1000))

    def wrong(self: TranslationObjective, batch: PairTensors) -> tuple[torch.Tensor, int]:
        loss, count = forward(self, batch)
        return (loss * math.nan if self.training and next(calls) == update else loss), count

    monkeypatch.setattr(TranslationObjective, "forward", wrong)


def test_a_loss_that_is_no_number_stops_it_and_names_the_batch(make: Make, monkeypatch: pytest.MonkeyPatch):
    trainer = make()
    batch = trainer.task.stages[0][7]
    first = trainer.task.tokenizers.source.decode(batch.source[0, : batch.source_lengths[0]].tolist())
    poisoned(monkeypatch, 8)
    with pytest.raises(ManyheadsError) as caught:
        trainer.train()
    assert f"(loss nan) at step 8, in a batch of {len(batch.pairs)} pairs whose first source is '{first}'" in str(
        caught.value
    )
    assert "training.schedule.rate" in str(caught.value.cure)
    assert saved_steps(trainer) == [3, 6]
    assert load_checkpoint(trainer.run.checkpoints / "step-00000006").progress.step == 6
    assert [entry["step"] for entry in trainer.run.metrics() if entry["kind"] == "train"] == [1, 2, 3, 4, 5, 6, 7]
    monkeypatch.undo()
    assert make().train() == "finished"


def test_the_batch_that_is_named_is_the_one_that_was_wrong(make: Make, monkeypatch: pytest.MonkeyPatch):
    trainer = make({"training.accumulate": 3})
    batch = trainer.task.stages[0][4]  # the second of the second update
    first = trainer.task.tokenizers.source.decode(batch.source[0, : batch.source_lengths[0]].tolist())
    poisoned(monkeypatch, 5)
    with pytest.raises(ManyheadsError, match=rf"at step 2, in a batch of {len(batch.pairs)} pairs .* '{first}'"):
        trainer.train()


def test_a_journal_that_cannot_be_written_is_told(make: Make):
    # The disk is full between two checkpoints: the few bytes of the journal no longer fit.
    trainer = make()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(step: int) -> None:
        if step == 4:
            size = trainer.run.metrics_file.stat().st_size
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))

    listener(trainer).at_step = fill
    try:
        with pytest.raises(ManyheadsError, match="cannot be written: File too large"):
            trainer.train()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert saved_steps(trainer) == [3]
    assert make().train() == "finished"


# --- What it is prepared from ----------------------------------------------------------------------------------------


def test_a_validation_sentence_that_is_too_long_is_not_translated(sprint_on: Callable[..., Path], tmp_path: Path):
    long = " ".join(["a"] * 5000)
    recipe = load_recipe(sprint_on(["a b", long, "b a"], ["a b", "a", "b a"]))
    preparation = prepared(recipe, RunFolder(tmp_path / "run"), lambda text: None)
    lengths = [len(preparation.tokenizers.source.encode(pair.source)) for pair in preparation.valid_pairs]
    assert max(lengths) <= recipe.data.max_length, "one bad line must not fill the memory in the middle of a training"


def test_the_line_of_a_fault_is_the_line_in_the_file(sprint_on: Callable[..., Path], tmp_path: Path):
    lines = [f"a b {'abcdefgh'[i % 8]} {'abcdefgh'[i // 8 % 8]} {'abcdefgh'[i // 64]}" for i in range(200)]
    lines[149] = ""
    recipe = load_recipe(sprint_on(lines, lines, {"data.valid": None, "data.held_out": 50}))
    said: list[str] = []
    prepared(recipe, RunFolder(tmp_path / "run"), said.append)
    assert any("1 pairs with an empty side were skipped (the first at line 150)" in one for one in said), said


def test_half_written_tokenizers_are_trained_again(make: Make):
    changes = {"tokenizer.shared": False, "model.tie": "none", "training.steps": 3}
    trainer = make(changes)
    (trainer.run.tokenizer_folder / "target.model").unlink()  # as if killed between the two
    assert make(changes).train() == "finished"


def settings_of(recipe: TranslationRecipe) -> dict[str, Any]:
    return recipe.model_dump(mode="json")


def test_a_run_can_be_started_from_its_own_recipe(make: Make):
    trainer = make()
    trainer.train()
    assert settings_of(load_recipe(trainer.run.recipe_file)) == settings_of(trainer.recipe)


@pytest.mark.parametrize(
    ("asked", "language", "tokenizer"),
    [("auto", None, "zh"), ("auto", "zh", "zh"), ("auto", "de", "13a"), ("13a", "zh", "13a"), ("none", None, "none")],
)
def test_validation_may_choose_the_tokenizer_of_bleu(
    make: Make, tmp_path: Path, asked: str, language: str | None, tokenizer: str
):
    files = {side: tmp_path / side for side in ("source", "target")}
    files["source"].write_text("a b\nc d\n" * 5)
    files["target"].write_text("我 爱 你\n他 在 家\n" * 5, encoding="utf-8")
    data = {side: str(path) for side, path in files.items()}
    changes = {"data.train": data, "data.valid": data, "data.target_language": language}
    trainer = make({**changes, "validation.metric": "bleu", "validation.bleu_tokenizer": asked})
    assert f"tok:{tokenizer}|" in trainer.validator.run().score.signature


# --- What people see -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min 00 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 00 min"),
        (90_000, "25 h 00 min"),
        (360_000, "100 h"),
        (3_600_000, "1,000 h"),
    ],
)
def test_times_are_told_as_people_say_them(seconds: float, text: str):
    assert duration(seconds) == text


@pytest.mark.parametrize("metric", ["loss", "exact_match", "bleu"])
def test_the_losses_of_training_and_validation_are_told_apart(
    make: Make, capsys: pytest.CaptureFixture[str], metric: str
):
    make({"validation.metric": metric}, reporter=Reporter()).train()
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("step 12 of 12")]
    facts = line.split(" · ")
    assert sum(fact.startswith("training loss ") for fact in facts) == 1
    assert sum(fact.startswith("validation loss ") for fact in facts) == 1
    assert not any(fact.startswith("loss") for fact in facts)


def first_news(
    make: Make, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], seconds: float, monkeypatch: Any
) -> list[str]:
    """Train, with the first news due after so many seconds; return the lines about steps in a log."""
    monkeypatch.setattr(progress, "FIRST_NEWS", seconds)
    make(changes, reporter=Reporter()).train()
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("step ")]


@pytest.mark.parametrize(("log_every", "seconds", "step"), [(4, math.inf, 4), (100, 0.0, 1), (4, 0.0, 1)])
def test_a_log_has_a_line_long_before_the_first_validation(
    make: Make,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    log_every: int,
    seconds: float,
    step: int,
):
    lines = first_news(make, capsys, {"training.log_every": log_every}, seconds, monkeypatch)
    assert [line.split(" · ")[0] for line in lines] == [f"step {one} of 12" for one in (step, 6, 12)]
    assert "training loss" in lines[0] and "tokens/s" in lines[0] and "left" in lines[0]


def test_a_validation_is_news_enough(make: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    lines = first_news(make, capsys, {"training.log_every": 100}, math.inf, monkeypatch)
    assert [line.split(" · ")[0] for line in lines] == ["step 6 of 12", "step 12 of 12"]


def test_a_terminal_shows_a_bar(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "xterm")
    shown = StringIO()
    make(reporter=Reporter(Console(file=shown, force_terminal=True, width=400, no_color=True))).train()
    without_codes = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", shown.getvalue())
    assert re.search(r"training .* 12/12 rate .* training loss .* left", without_codes)


def test_progress_does_not_import_ipython():
    code = "import sys; from manyheads.training.progress import Reporter; Reporter().begin(0, 9)"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'IPython' not in sys.modules"], check=True)


def test_a_note_is_one_line_however_long(capsys: pytest.CaptureFixture[str]):
    # Broken in two, a path or a command could not be copied out of a log.
    command = f"try: manyheads translate --model /{'folder/' * 40}run"
    Reporter().note(command)
    assert capsys.readouterr().err == f"{command}\n"


def test_a_note_may_look_like_markup(capsys: pytest.CaptureFixture[str]):
    Reporter().note("[bold] [/bold] [a.txt]")
    assert capsys.readouterr().err == "[bold] [/bold] [a.txt]\n"
