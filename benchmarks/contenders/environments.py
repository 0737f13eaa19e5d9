"""The virtual environments of time_to_quality.py's peers, made when they are needed.

PyTorch comes first, and nothing that follows may change it: another request could fetch gigabytes for graphics cards.
The versions are those that were tried together.
"""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

TORCH = "torch==2.13.0"
PEERS = {  # what is installed without its requirements, and what with them
    "joeynmt": (
        ["joeynmt==2.3.0"],
        [
            "importlib_metadata==10.2.0",
            "matplotlib==3.11.2",
            "numpy==2.4.6",
            "packaging==26.3",
            "pyyaml==6.0.3",
            "sacrebleu==2.6.0",
            "sacremoses==0.2.0",
            "sentencepiece==0.2.0",
            "setuptools==80.10.2",
            "subword-nmt==0.3.8",
            "tensorboard==2.21.0",
            "tqdm==4.70.1",
        ],
    ),
    "huggingface": (
        [],
        ["accelerate==1.15.0", "numpy==2.4.6", "sacremoses==0.2.0", "sentencepiece==0.2.2", "transformers==5.22.2"],
    ),
}


def python_of(peer: str, folder: Path) -> Path:
    """Return the Python of a peer's environment, which is made if it is missing or not finished."""
    place = folder / peer
    python, finished = place / "bin" / "python", place / "finished"
    if finished.exists():
        return python
    venv.create(place, with_pip=True, clear=True)
    constraints = place / "constraints.txt"
    constraints.write_text(f"{TORCH}\n", encoding="utf-8")
    alone, others = PEERS[peer]
    install = [str(python), "-m", "pip", "install", "-q", "-c", str(constraints)]
    subprocess.run([*install, TORCH], check=True)
    if alone:
        subprocess.run([*install, "--no-deps", *alone], check=True)
    subprocess.run([*install, TORCH, *others], check=True)
    finished.touch()
    return python
