"""`manyheads translate`: texts from the command line, from files or from standard input, one line out for each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from manyheads.cli.options import (
    AsJson,
    BatchSentences,
    Beam,
    Device,
    Engine,
    From,
    LengthPenalty,
    Model,
    Precision,
    To,
    length_penalty_options,
)
from manyheads.cli.texts import AsText, Texts, in_utf8, sources_of, text_chunks

if TYPE_CHECKING:
    from manyheads.decoding.translator import Translation, Translator
    from manyheads.inspection.alignment import Alignment


SplitAbove = Annotated[
    int | None,
    typer.Option(
        help="Split sentences of more tokens than this at clauses; by default, the longest in training. 0 translates "
        "every text as a whole, without splitting it into sentences."
    ),
]
Alignments = Annotated[
    bool, typer.Option("--alignments", help="Also print which source word each word comes from: text ||| 0-0 1-2.")
]
NoRepeat = Annotated[int | None, typer.Option(help="Forbid repeating any n-gram of this many tokens.")]
Temperature = Annotated[float | None, typer.Option(help="Below 1 sharpens the distribution, above 1 flattens it.")]
TopP = Annotated[
    float | None, typer.Option(help="Sample only from the most probable tokens with this total probability.")
]
Shortlist = Annotated[
    bool, typer.Option("--shortlist", help="Allow only likely tokens (see manyheads shortlist): faster.")
]


def translate(
    text: Texts = None,
    as_text: AsText = False,
    to: To = None,
    source_language: From = None,
    model: Model = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    n_best: Annotated[int | None, typer.Option(help="Number of candidates to print for each text.")] = None,
    prefix: Annotated[str | None, typer.Option(help="Text that every output must begin with.")] = None,
    no_repeat_ngram: NoRepeat = None,
    extra_length: Annotated[int | None, typer.Option(help="Tokens by which an output may exceed its source.")] = None,
    split_above: SplitAbove = None,
    sample: Annotated[bool, typer.Option("--sample", help="Sample outputs instead of searching.")] = False,
    temperature: Temperature = None,
    top_k: Annotated[int | None, typer.Option(help="Sample only from this many most probable tokens.")] = None,
    top_p: TopP = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the sampling.")] = None,
    alignments: Alignments = False,
    shortlist: Shortlist = False,
    batch: BatchSentences = None,
    engine: Engine = "auto",
    precision: Precision = "float32",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Translate texts, sentence by sentence. Output has one line per input line, in order, empty ones included."""
    from manyheads.decoding.translator import Translator

    sources = sources_of(text, as_text=as_text)
    translator = Translator(model, engine=engine, device=device, precision=precision)
    translations = translator.stream_chunks(
        text_chunks(sources),
        to=to,
        source=source_language,
        beam=beam,
        **length_penalty_options(length_penalty),
        n_best=n_best,
        prefix=None if prefix is None else in_utf8(prefix),
        no_repeat_ngram=no_repeat_ngram,
        extra_length=extra_length,
        split_above=split_above,
        alignments=alignments,
        scores=as_json or n_best is not None,
        shortlist=shortlist,
        sample=sample or None,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
        batch_sentences=batch,
    )
    for number, one in enumerate(translations, start=1):
        aligned = _pharaoh(translator, one) if alignments else None
        sys.stdout.write(_json_line(one, aligned) if as_json else _plain_lines(one, aligned, many=n_best is not None))
        sys.stdout.flush()
        if one.warning:
            print(f"line {number}: {one.warning}", file=sys.stderr)


def _pharaoh(translator: Translator, translation: Translation) -> str:
    """Return which source word each word of the best output comes from, counted through all sentences."""
    from manyheads.inspection.alignment import pharaoh

    return pharaoh(_aligned(translator, part) for part in translation.parts or (translation,))


def _aligned(translator: Translator, sentence: Translation) -> Alignment:
    """Return the alignment of the best output for a sentence; text without letters is aligned word by word."""
    import numpy as np

    from manyheads.data.tokens.tokenizers import SPACE
    from manyheads.inspection.alignment import END, Alignment

    best = sentence.candidates[0] if sentence.candidates else None
    if best is None or best.attention is None:
        words = [SPACE + word for word in sentence.text.split()]
        return Alignment(words, words, np.eye(len(words), dtype=np.float32))
    source, target = translator.tokenizers.source, translator.tokenizers.target
    read = [*source.pieces(source.encode(sentence.source)), END]
    return Alignment(read, target.pieces(best.tokens), np.asarray(best.attention, dtype=np.float32))


def _plain_lines(translation: Translation, aligned: str | None, *, many: bool) -> str:
    """Return the best output, or every candidate with its score."""
    if not many:
        return translation.text + ("\n" if aligned is None else f" ||| {aligned}\n")
    return "".join(f"{one.score:.4f}\t{one.text}\n" for one in translation.candidates) or "\n"


def _json_line(translation: Translation, aligned: str | None) -> str:
    """Return a translation as one line of JSON."""
    import json

    candidates = [
        {"text": one.text, "score": one.score, "log_probability": one.log_probability} for one in translation.candidates
    ]
    values = {"source": translation.source, "text": translation.text, "candidates": candidates}
    if aligned is not None:
        values["alignment"] = aligned
    if translation.warning:
        values["warning"] = translation.warning
    return json.dumps(values, ensure_ascii=False) + "\n"
