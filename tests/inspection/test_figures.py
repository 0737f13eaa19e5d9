"""Pictures show the numbers they are made from, in fonts that have the letters."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib import font_manager

from manyheads.config.training import ScheduleSettings, TrainingSettings
from manyheads.errors import ManyheadsError, Notice
from manyheads.inspection.alignment import align
from manyheads.inspection.figures import fonts
from manyheads.inspection.figures.alignment import alignment_figure
from manyheads.inspection.figures.attention import head_figure, layer_figure, layers_figure
from manyheads.inspection.figures.canvas import new_figure, save
from manyheads.inspection.figures.curves import curves_figure
from manyheads.inspection.figures.masks import masks_figure
from manyheads.inspection.figures.positions import positions_figure
from manyheads.inspection.figures.schedule import schedule_figure
from manyheads.inspection.figures.smoothing import smoothed_target, smoothing_figure
from manyheads.inspection.inspector import Inspector, position_table
from manyheads.inspection.views import Everything
from manyheads.runs.folder import RunFolder
from manyheads.tasks.loss import smoothed_loss
from manyheads.training.optimisation.schedule import learning_rate
from run_folders import make_run

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
TEXT = "15 décembre 2026"


@pytest.fixture(scope="module")
def seen(tmp_path_factory) -> Everything:
    run = make_run(tmp_path_factory.mktemp("runs") / "random", decoder_layers=2)
    return Inspector(run.path, device="cpu").everything(TEXT)


def drawn(axes) -> np.ndarray:
    """Return the matrix that a panel shows."""
    (image,) = axes.get_images()
    return np.asarray(image.get_array())


def labels(ticks) -> list[str]:
    return [one.get_text() for one in ticks]


def test_one_head_is_drawn_with_its_tokens(seen):
    axes = head_figure(seen.view("cross", 2), 3).axes[0]
    assert np.array_equal(drawn(axes), seen.attention["cross"][1, 2])
    assert axes.get_title() == "cross-attention, layer 2, head 3"
    assert len(labels(axes.get_xticklabels())) == len(seen.source_tokens)
    assert labels(axes.get_xticklabels())[-1] == "∎"
    assert len(labels(axes.get_yticklabels())) == len(seen.target_tokens)


def test_all_heads_of_a_layer_are_drawn(seen):
    panels = layer_figure(seen.view("encoder", 1)).axes
    assert np.array_equal(np.stack([drawn(one) for one in panels]), seen.attention["encoder"][0])
    assert [one.get_title() for one in panels] == ["head 1", "head 2", "head 3", "head 4"]


def test_all_layers_are_drawn_the_last_one_on_top(seen):
    panels = layers_figure(seen, "decoder").axes
    assert [one.get_ylabel() for one in panels if one.get_ylabel()] == ["layer 2", "layer 1"]
    expected = seen.attention["decoder"][::-1].reshape(-1, *seen.attention["decoder"].shape[2:])
    assert np.array_equal(np.stack([drawn(one) for one in panels]), expected)


def test_an_alignment_frames_what_is_looked_at_most(seen):
    aligned = align(seen)
    first, second = alignment_figure([aligned, aligned]).axes
    assert np.array_equal(drawn(first), aligned.weights)
    framed = {(round(one.get_x() + 0.5), round(one.get_y() + 0.5)) for one in second.patches}
    assert framed == set(aligned.pairs("token"))
    assert drawn(alignment_figure([aligned], level="word").axes[0]).shape == aligned.word_weights().shape


def test_the_positions_are_the_papers_fifty_by_a_hundred_and_twenty_eight():
    table, products = positions_figure(position_table()).axes[:2]
    assert drawn(table).shape == (50, 128) and drawn(products).shape == (50, 50)


def test_the_masks_show_what_padding_and_the_future_hide():
    padding, ahead, both = (drawn(axes) for axes in masks_figure(length=5, padding=2).axes)
    assert np.array_equal(both, padding & ahead)
    assert not padding[:, 3:].any() and padding[:, :3].all()
    assert np.array_equal(ahead, np.tri(5, dtype=bool))


@pytest.mark.parametrize("kind", ["paper", "cosine", "constant"])
def test_the_schedule_is_the_trainers(kind):
    training = TrainingSettings(steps=3000, schedule=ScheduleSettings(kind=kind, warmup=400, rate=0.5))
    steps, rates = schedule_figure(training, width=64).axes[0].lines[0].get_data()
    assert steps[0] == 1 and steps[-1] == 3000 and 400 in steps
    expected = [learning_rate(training.schedule, int(step), width=64, steps=3000) for step in steps]
    assert np.array_equal(rates, expected)


def test_the_smoothed_target_is_the_one_that_the_loss_compares_with():
    target = smoothed_target(torch.tensor([2]), classes=5, smoothing=0.2)
    logits = torch.tensor([[0.3, -1.0, 2.0, 0.5, 0.1]])
    assert float(-(target * logits.log_softmax(dim=-1)).sum()) == pytest.approx(
        float(smoothed_loss(logits, torch.tensor([2]), smoothing=0.2)), abs=1e-6
    )
    assert float(target.sum()) == pytest.approx(1.0)
    assert np.allclose(drawn(smoothing_figure(smoothing=0.2).axes[0]).sum(axis=1), 1.0)


def test_the_curves_of_several_runs_share_their_panels(copy_run: Path, reverse_run: Path):
    runs = [RunFolder(copy_run), RunFolder(reverse_run)]
    panels = {axes.get_title(): axes for axes in curves_figure(runs).axes}
    assert list(panels) == ["loss", "exact_match", "learning rate"]
    trained = [line for line in panels["loss"].lines if "train" in line.get_label()]
    assert [line.get_label() for line in trained] == ["copy, train", "reverse, train"]
    for run, line in zip(runs, trained, strict=True):
        measured = [entry["loss"] for entry in run.metrics() if entry["kind"] == "train"]
        assert line.get_ydata().tolist() == measured


def test_a_run_without_measurements_is_told_of(tmp_path):
    with pytest.raises(ManyheadsError, match="nothing was measured"):
        curves_figure([make_run(tmp_path / "fresh")])


# --- Files and fonts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_a_picture_is_the_same_file_every_time(seen, tmp_path, name):
    files = []
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        save(head_figure(seen.view("cross", 1), 1), tmp_path / folder / name)
        files.append((tmp_path / folder / name).read_bytes())
    assert files[0] == files[1]


def test_tokens_that_look_like_markup_or_formulas_are_drawn_as_they_are(tmp_path):
    evil = ["</script>", "$\\frac$", "--><x>", "a_b^", "\x00\x1b"]
    weights = np.full((1, 1, 5, 5), 0.2, dtype=np.float32)
    nothing = np.zeros((0, 0), dtype=np.float32)
    odd = Everything("$x$", "", 0.0, 0.0, evil, [], [], [], {"encoder": weights}, {}, nothing)
    for number, figure in enumerate([head_figure(odd.view("encoder", 1), 1), layers_figure(odd, "encoder")]):
        save(figure, tmp_path / f"{number}.svg")
        names = {one.tag.split("}")[-1] for one in ElementTree.parse(tmp_path / f"{number}.svg").iter()}
        assert not {"script", "x"} & names


def test_a_picture_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ManyheadsError, match=r"\.png or \.svg"):
        save(new_figure(1, 1), tmp_path / "a.gif")


def test_without_matplotlib_the_extra_is_named(seen, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ManyheadsError, match=r"pip install 'manyheads\[plots\]'"):
        head_figure(seen.view("cross", 1), 1)


@pytest.fixture
def installed(monkeypatch):
    """`installed({"Some Font": "年月"})`: besides matplotlib's own, only these fonts are there."""
    fonts.note_missing.cache_clear()

    def install(made_up: dict[str, str]) -> None:
        real = fonts.characters_of
        monkeypatch.setattr(fonts, "installed_fonts", lambda: [(name, name) for name in made_up])
        monkeypatch.setattr(
            fonts, "characters_of", lambda path: frozenset(map(ord, made_up[path])) if path in made_up else real(path)
        )

    return install


def test_accents_need_no_other_font(installed, recwarn):
    installed({"Never": "é"})
    assert fonts.font_families(["décembre", "ноября", "ß"]) == [fonts.DEFAULT]
    assert not recwarn.list


def test_fonts_are_added_until_every_character_has_one(installed, recwarn):
    installed({"Useless": "x", "Chinese": "年月日", "Korean": "년월", "Never": "年"})
    assert fonts.font_families(["2026年", "2026년"]) == [fonts.DEFAULT, "Chinese", "Korean"]
    assert not recwarn.list


def test_characters_that_no_font_has_are_noted_once(installed, recwarn):
    installed({"Chinese": "年"})
    for _ in range(2):
        assert fonts.font_families(["2026年11月"]) == [fonts.DEFAULT, "Chinese"]
    (notice,) = recwarn.list
    assert notice.category is Notice
    assert "月" in str(notice.message) and "年" not in str(notice.message)


@pytest.mark.parametrize(
    ("text", "packages"),
    [("月ひカ한", "fonts-noto-cjk'"), ("ꦗ", "install fonts-noto'"), ("月ꦗ", "fonts-noto-cjk fonts-noto'")],
)
def test_a_package_with_the_characters_is_named(installed, text, packages):
    installed({})
    with pytest.warns(Notice, match=packages):
        fonts.font_families([text])


def test_a_font_that_was_installed_since_the_last_start_is_found(monkeypatch, recwarn):
    manager = font_manager.fontManager
    system = set(font_manager.findSystemFonts())
    plain = [one for one in manager.ttflist if one.style == "normal" and one.weight == 400 and one.fname in system]
    new = next(iter(plain), None)
    if new is None:
        pytest.skip("there is no font but matplotlib's own")
    older = [one for one in manager.ttflist if one.fname != new.fname]
    monkeypatch.setattr(manager, "ttflist", older)
    characters = frozenset({ord("月")})
    monkeypatch.setattr(fonts, "characters_of", lambda path: characters if path == new.fname else frozenset())
    fonts.add_new_fonts.cache_clear()
    assert new.name in fonts.font_families(["月"])
    assert not recwarn.list


def test_a_font_with_a_box_for_everything_does_not_count():
    assert not any(name.startswith(fonts.EMPTY) for name, _ in fonts.installed_fonts())
