"""One contender of decoding_speed.py in a process of its own, so that its threads and its memory are its alone.

Reads requests as lines of JSON {"texts": …, "beam": …, "batch": …} and answers each with its outputs and seconds.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Translate = Callable[[Sequence[str], int, int], list[str]]
"""Texts, width of the beam and size of a batch to outputs, one for each text in order."""

PENALTY, EXTRA = 1.0, 50  # length^α as the two others have it; tokens an output may be longer than its source


def manyheads(folder: Path, engine: str, precision: str) -> Translate:
    """Ours, as a user calls it."""
    from manyheads import Translator

    translator = Translator(folder / "run", engine=engine, precision=precision)

    def translate(texts: Sequence[str], beam: int, batch: int) -> list[str]:
        penalty = {"length_penalty": PENALTY, "penalty_form": "power"}
        options = {"beam": beam, "batch_sentences": batch, "extra_length": EXTRA, **penalty}
        if batch == 1:
            return [translator.translate(text, **options) for text in texts]
        return translator.translate(texts, **options)

    return translate


def ctranslate2(folder: Path, threads: str, precision: str) -> Translate:
    """CTranslate2 itself: with its defaults, or with so many workers of so many threads."""
    import ctranslate2 as ct2
    import sentencepiece

    settings: dict[str, Any] = {"compute_type": precision}
    if threads != "default":
        workers, inside = map(int, threads.split("x"))
        settings |= {"inter_threads": workers, "intra_threads": inside}
    translator = ct2.Translator(str(folder / "ctranslate2"), device="cpu", **settings)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "ctranslate2" / "shared.model"))

    def some(texts: Sequence[str], beam: int, batch: int) -> list[str]:
        sources = [[*row, "</s>"] for row in pieces.encode(list(texts), out_type=str)]
        found = translator.translate_batch(
            sources,
            beam_size=beam,
            max_batch_size=batch,
            length_penalty=PENALTY,
            max_decoding_length=EXTRA + max(map(len, sources)),
        )
        return pieces.decode([one.hypotheses[0] for one in found])

    def translate(texts: Sequence[str], beam: int, batch: int) -> list[str]:
        if batch == 1:
            return [some([text], beam, 1)[0] for text in texts]
        return some(texts, beam, batch)

    return translate


def huggingface(folder: Path, _: str, __: str) -> Translate:
    """Hugging Face's generate, on batches of similar length."""
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    model = MarianMTModel.from_pretrained(folder / "huggingface").eval()
    tokenizer = MarianTokenizer.from_pretrained(folder / "huggingface")

    def translate(texts: Sequence[str], beam: int, batch: int) -> list[str]:
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i])) if batch > 1 else list(range(len(texts)))
        outputs: dict[int, str] = {}
        for begin in range(0, len(order), batch):
            rows = order[begin : begin + batch]
            inputs = tokenizer([texts[i] for i in rows], return_tensors="pt", padding=True)
            with torch.inference_mode():
                found = model.generate(
                    **inputs,
                    num_beams=beam,
                    do_sample=False,
                    length_penalty=PENALTY,
                    max_new_tokens=EXTRA + inputs["input_ids"].shape[1],
                )
            outputs.update(zip(rows, tokenizer.batch_decode(found, skip_special_tokens=True), strict=True))
        return [outputs[i] for i in range(len(texts))]

    return translate


CONTENDERS = {"manyheads": manyheads, "ctranslate2": ctranslate2, "huggingface": huggingface}


def main() -> None:
    """Serve requests until the input ends."""
    name, folder, setting, precision = sys.argv[1:]
    translate = CONTENDERS[name](Path(folder), setting, precision)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        begin = time.perf_counter()
        outputs = translate(request["texts"], request["beam"], request["batch"])
        seconds = time.perf_counter() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"outputs": outputs, "seconds": seconds, "peak_bytes": peak}), flush=True)


if __name__ == "__main__":
    main()
