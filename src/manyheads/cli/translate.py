"""`manyheads translate`: texts from the command line, from files or from standard input, or a document."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from manyheads.cli.outputs import Overwrite
from manyheads.cli.texts import AsText, Source, Texts, in_utf8, sources_of, text_chunks
from manyheads.cli.translate_document import (
    DocumentFormat,
    DocumentOptions,
    DryRun,
    Everything,
    MarkUnsure,
    OnlyEmpty,
    Out,
    document_file,
    is_document,
    translate_document,
)
from manyheads.errors import ManyheadsError

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
NBest = Annotated[int | None, typer.Option(help="Number of candidates to print for each text.")]
Prefix = Annotated[str | None, typer.Option(help="Text that every output must begin with.")]
ExtraLength = Annotated[int | None, typer.Option(help="Tokens by which an output may exceed its source.")]
TopK = Annotated[int | None, typer.Option(help="Sample only from this many most probable tokens.")]
Shortlist = Annotated[
    bool, typer.Option("--shortlist", help="Allow only likely tokens (see manyheads shortlist): faster.")
]


def translate(
    text: Texts = None,
    as_text: AsText = False,
    to: To = None,
    source_language: From = None,
    model: Model = None,
    out: Out = None,
    format: DocumentFormat = None,
    only_empty: OnlyEmpty = False,
    everything: Everything = False,
    mark_unsure: MarkUnsure = False,
    dry_run: DryRun = False,
    overwrite: Overwrite = False,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    n_best: NBest = None,
    prefix: Prefix = None,
    no_repeat_ngram: NoRepeat = None,
    extra_length: ExtraLength = None,
    split_above: SplitAbove = None,
    sample: Annotated[bool, typer.Option("--sample", help="Sample outputs instead of searching.")] = False,
    temperature: Temperature = None,
    top_k: TopK = None,
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
    """Translate texts, one line of output for each line of input, or a document with --out."""
    machine = {"engine": engine, "device": device, "precision": precision}
    search = {"beam": beam, **length_penalty_options(length_penalty), "shortlist": shortlist, "batch_sentences": batch}
    limits = {"extra_length": extra_length, "no_repeat_ngram": no_repeat_ngram, "split_above": split_above}
    sampling = {"sample": sample or None, "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    options = {"to": to, "source": source_language, **search, **limits, **sampling}
    document = DocumentOptions(out, format, only_empty, everything, mark_unsure, dry_run, overwrite)
    if document.are_given or (not as_text and is_document(text)):
        _refuse({"--n-best": n_best, "--prefix": prefix, "--alignments": alignments, "--text": as_text})
        path = document_file(text, document)
        translate_document(_translator(model, **machine), path, document, options, as_json=as_json)
        return
    start = None if prefix is None else in_utf8(prefix)
    options |= {"n_best": n_best, "prefix": start, "alignments": alignments, "scores": as_json or n_best is not None}
    sources = sources_of(text, as_text=as_text)
    _translate_lines(_translator(model, **machine), sources, options, as_json=as_json)


def _translator(model: Path | None, **options: str) -> Translator:
    """Open the model."""
    from manyheads.decoding.translator import Translator

    return Translator(model, **options)


def _refuse(options: Mapping[str, object]) -> None:
    """Raise an error for an option that does not go together with a document."""
    for name, value in options.items():
        if value not in (None, False):
            raise ManyheadsError("this option is for lines of text, and not for a document.", where=name)


def _translate_lines(
    translator: Translator, sources: Sequence[Source], options: Mapping[str, Any], *, as_json: bool
) -> None:
    """Print the translation of each line, and warnings about it."""
    pivoted = 0
    for number, one in enumerate(translator.stream_chunks(text_chunks(sources), **options), start=1):
        aligned = _pharaoh(translator, one) if options["alignments"] else None
        many = options["n_best"] is not None
        sys.stdout.write(_json_line(one, aligned) if as_json else _plain_lines(one, aligned, many=many))
        sys.stdout.flush()
        pivoted += one.pivot is not None
        if one.warning:
            print(f"line {number}: {one.warning}", file=sys.stderr)
    if pivoted:
        way = "by way of 'en', since the model has no direction of its own for them"
        print(f"{pivoted:,} of the texts were translated {way}.", file=sys.stderr)


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
    if translation.pivot:
        values["pivot"] = translation.pivot
    if translation.warning:
        values["warning"] = translation.warning
    return json.dumps(values, ensure_ascii=False) + "\n"
