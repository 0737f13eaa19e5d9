"""Continue the run folders of earlier versions with the earlier code and with the present code, and compare all bytes.

    python benchmarks/earlier_version.py [--commit f6e83e4]

Each run folder in `tests/fixtures/runs` is copied twice. One copy is continued to the last step of its recipe with the
code of the commit that made it, the other with the code of this folder, on one thread of the same machine. The model
and the arrays of the newest checkpoint must then be equal, byte for byte. With --commit, the earlier code is that of
another commit; a run that this commit is too old to read is continued with the commit that made it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "fixtures"))

from earlier import PRESENT, REPOSITORY, RUNS, code_of, git, manyheads  # noqa: E402

TRAIN = ("train", "run/recipe.yaml", "--out", "run", "--device", "cpu")
MODEL = "model.safetensors"


def commit_for(name: str, asked: str | None) -> str:
    """Return the commit whose code continues a fixture: the one asked for, unless the run is newer than it."""
    made_with: str = json.loads((RUNS / name / "expected.json").read_text(encoding="utf-8"))["commit"]
    if asked is None:
        return made_with
    commit = git("rev-parse", f"{asked}^{{commit}}")
    is_old = ["git", "-C", str(REPOSITORY), "merge-base", "--is-ancestor", made_with, commit]
    return commit if subprocess.run(is_old).returncode == 0 else made_with


def checksums(run: Path) -> dict[str, str]:
    """Return the checksums of the model and of the arrays in the newest checkpoint."""
    newest = max((run / "checkpoints").glob("step-*"))
    files = [run / MODEL, *sorted(newest.glob("*.safetensors"))]
    return {str(file.relative_to(run)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def continued(name: str, code: Path) -> dict[str, str]:
    """Continue a copy of a fixture to its last step; return the checksums of what it became."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(RUNS / name, Path(folder) / name)
        manyheads(code, *TRAIN, cwd=copy)
        return checksums(copy / "run")


def compare(name: str, asked: str | None) -> dict[str, Any]:
    """Continue a fixture with both versions of the code; return which files differ."""
    commit = commit_for(name, asked)
    with code_of(commit) as code:
        earlier = continued(name, code)
    present = continued(name, PRESENT)
    differing = sorted(file for file in {*earlier, *present} if earlier.get(file) != present.get(file))
    published = present[MODEL] != checksums(RUNS / name / "run")[MODEL]
    return {"commit": commit, "differing": differing, "new_model": published, "earlier": earlier, "present": present}


def main() -> None:
    """Compare every fixture, print one line for each, and record the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", help="the earlier code; by default the commit that made each run")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "earlier_version.json")
    options = parser.parse_args()
    results = {}
    for name in sorted(path.parent.name for path in RUNS.glob("*/expected.json")):
        results[name] = found = compare(name, options.commit)
        verdict = f"differs in {', '.join(found['differing'])}" if found["differing"] else "same"
        model = "a new model" if found["new_model"] else "the model of before"
        print(f"{name}: {verdict} ({len(found['present'])} files, {model}; earlier code: {found['commit'][:7]})")
    same = not any(found["differing"] for found in results.values())
    record = {"present": git("describe", "--always", "--dirty"), "same": same, "runs": results}
    options.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    raise SystemExit(0 if same else 1)


if __name__ == "__main__":
    main()
