"""Draw the README's picture: what each head of the dates model looks at while it writes a date (needs matplotlib).

python docs/draw_attention.py runs/dates docs/pictures/dates-attention.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt

from manyheads import Translator, record_attention
from manyheads.decoding.torch_engine import TorchEngine
from manyheads.models.interface import Tokens

TEXTS = ("15 novembre 2026", "Sunday, November 15, 2026", "15 ноября 2026 г.")


def cross_attention(translator: Translator, text: str) -> tuple[list[str], list[str], list[list[float]]]:
    """Return source and output characters, and for each pair the strongest weight of any head of the last layer."""
    engine = translator.engine
    assert isinstance(engine, TorchEngine)
    best = translator.translations([text])[0].candidates[0].tokens
    source = [*translator.tokenizers.source.encode(text), engine.special.end]
    with record_attention(engine.model) as recording:
        memory = engine.model.encode(Tokens.pad([source], padding=engine.special.pad))
        engine.model.decode(Tokens.pad([[engine.special.start, *best[:-1]]], padding=engine.special.pad).ids, memory)
    last = [name for name in recording if "cross_attention" in name][-1]
    return (
        translator.tokenizers.source.pieces(source),
        translator.tokenizers.target.pieces(best),
        recording[last][0].amax(dim=0).tolist(),
    )


def shown(piece: str) -> str:
    """Return a piece as a short label: a blank as a dot, the end token as a square."""
    return piece.replace("▁", "·").replace("</s>", "∎")


def main(run: str, out: str) -> None:
    """Draw one matrix per text, side by side."""
    translator = Translator(run, engine="torch", device="cpu")
    figure, axes = plt.subplots(1, len(TEXTS), figsize=(13, 4.2), layout="constrained")
    for axis, text in zip(axes, TEXTS, strict=True):
        source, output, weights = cross_attention(translator, text)
        axis.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axis.set_xticks(range(len(source)), [shown(piece) for piece in source], fontsize=9)
        axis.set_yticks(range(len(output)), [shown(piece) for piece in output], fontsize=9)
        axis.set_title(text, fontsize=11)
    figure.supylabel("what it writes", fontsize=10)
    figure.savefig(Path(out), dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
