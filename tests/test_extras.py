"""The package without its extras: what works, and what the rest says."""

import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import manyheads
from commands import run_outside
from manyheads.errors import ManyheadsError
from manyheads.extras import EXTRAS, naming_extras
from served import serving

ROOT = Path(__file__).resolve().parents[1]
HIDE = f"import sys\nsys.modules.update(dict.fromkeys({sorted(EXTRAS)}))\n"


@pytest.fixture
def light(tmp_path, monkeypatch) -> None:
    """Processes that are started find no package of an extra."""
    (tmp_path / "sitecustomize.py").write_text(HIDE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


@pytest.fixture
def without_training(monkeypatch) -> Iterator[None]:
    """In this process, no package of the extra `train` can be imported again."""
    for name in [name for name in sys.modules if name.startswith("manyheads.inspection.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("torch", "babel", "sacrebleu"):
        monkeypatch.setitem(sys.modules, name, None)
    yield


def test_translate_works_without_extras(light):
    done = run_outside("translate", "--to", "en", "Je suis étudiant.")
    assert done.code == 0, done.err
    assert done.out == run_outside("translate", "--to", "en", "Je suis étudiant.", env={}).out


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["train", str(ROOT / "recipes" / "copy.yaml"), "--out", "run"], "train"),
        (["evaluate", "tatoeba"], "train"),
        (["translate", "--engine", "torch", "--to", "en", "Je suis étudiant."], "train"),
        (["translate", "--sample", "--to", "en", "Je suis étudiant."], "train"),
        (["serve"], "serve"),
    ],
)
def test_a_verb_that_needs_an_extra_names_it(light, tmp_path, words, extra):
    run_outside(*words, cwd=tmp_path).refuses(f"pip install 'manyheads[{extra}]'")


def test_a_server_without_torch_translates_and_says_what_looking_inside_needs(without_training):
    with serving(["tatoeba"]) as running:
        asked = {"q": "Je suis étudiant.", "source": "fr", "target": "en"}
        assert running.post("/translate", json=asked).status_code == 200
        assert running.get("/languages").status_code == running.get("/frontend/settings").status_code == 200
        refused = running.post("/inspect", json={**asked, "kind": "cross"})
        assert (refused.status_code, "manyheads[train]" in refused.json()["error"]) == (501, True)


def test_a_name_of_the_library_says_which_extra_it_needs(monkeypatch):
    monkeypatch.delitem(sys.modules, "manyheads.training.train", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ManyheadsError, match=r"manyheads\.train needs .*'torch'.*manyheads\[train\]"):
        _ = manyheads.train


def test_another_missing_module_is_no_matter_of_extras():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), naming_extras():
        import no_such_module  # noqa: F401


def test_each_package_is_installed_by_the_extra_that_is_named():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {
        extra: {canonicalize_name(Requirement(one).name) for one in needed}
        for extra, needed in project["optional-dependencies"].items()
    }
    for package, extra in EXTRAS.items():
        assert named[extra] & set(map(canonicalize_name, packages_distributions().get(package, [package])))
