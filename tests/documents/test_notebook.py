"""The notebook: a kernel runs it as it is, progress is updated in place, and results show themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

import manyheads
from commands import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recipes beside that of the notebook, as in the repository."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "docs").mkdir()
    (folder / "recipes").symlink_to(ROOT / "recipes")
    return folder


@pytest.fixture(scope="module")
def cells(folder: Path) -> dict[str, NotebookNode]:
    """The cells after a kernel ran them, by their ids."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):  # not those of the user
            patch.setenv(name, str(folder / name))
        NotebookClient(notebook, timeout=PATIENCE, resources={"metadata": {"path": str(folder / "docs")}}).execute()
    return {cell.id: cell for cell in notebook.cells}


def html(cell: NotebookNode) -> str:
    """Return the HTML of a cell's only output."""
    (output,) = cell.outputs
    return str(output.data["text/html"])


def test_it_is_stored_without_outputs():
    stored = [cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    assert stored
    assert not any(cell.outputs or cell.execution_count for cell in stored)


def test_progress_is_one_line_that_is_updated_and_a_line_for_each_validation(
    cells: dict[str, NotebookNode], folder: Path
):
    outputs = cells["train"].outputs
    assert {output.output_type for output in outputs} == {"display_data"}  # and nothing on standard error
    steps = [output.data["text/plain"] for output in outputs if output.data["text/plain"].startswith("step ")]
    settings = manyheads.validate(folder / "runs" / "notebook" / "recipe.yaml").recipe
    last = settings.training.steps
    status, *validations = [[part.strip() for part in line.split(" · ")] for line in steps]
    assert status[0] == f"step {last} of {last}" and status[1].startswith("rate ")
    assert [line[0] for line in validations] == [
        f"step {step} of {last}" for step in range(settings.validation.every, last + 1, settings.validation.every)
    ]
    assert all(line[1].startswith("exact_match ") for line in validations)


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("evaluate", manyheads.evaluate),
        ("look", lambda run: manyheads.Inspector(run).attention("s t o n e", kind="cross")),
        ("steps", lambda run: manyheads.Inspector(run).steps("s t o n e", candidates=3)),
        ("beam", lambda run: manyheads.Inspector(run).beam("s t o n e", beam=2)),
    ],
)
def test_a_result_shows_itself(
    cells: dict[str, NotebookNode], folder: Path, name: str, result: Callable[[Path], manyheads.Evaluation]
):
    assert html(cells[name]) == result(folder / "runs" / "notebook")._repr_html_()


def test_its_links_lead_somewhere(cells: dict[str, NotebookNode]):
    links = [link for cell in cells.values() for link in re.findall(r"\]\((.*?)\)", cell.source)]
    assert links
    assert all((ROOT / "docs" / link).exists() for link in links)
