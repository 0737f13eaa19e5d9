"""A run as CTranslate2's model: the binary file, its settings and its vocabularies, written without that package.

CTranslate2's own converters import torch; its format is plain. `model.bin` (version 6, little-endian, strings ended by
a zero and preceded by their length in 16 bits) holds

    version · name and revision of the specification · number of arrays ·
    for each array its name, number of axes, axes, type, bytes, content · number of aliases · each alias and its array

Nothing is permuted: the paper's interleaved positional encodings are written as a table. A tied matrix is written once,
and its other uses are aliases.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyheads.config.models.transformer import TransformerSettings
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.errors import ManyheadsError
from manyheads.exchange.sinusoids import sinusoid_table
from manyheads.exchange.tags import exported_page
from manyheads.exchange.tree import read_checked, source_vectors, target_vectors, unsupported
from manyheads.runs.atomic import fresh_folder
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import Arrays

Quantization = Literal["float32", "int8"]
Array = NDArray[np.generic] | np.generic
Parts = dict[str, Array | str]
"""What a model file holds, by name; a string is the name of the array that this one is an alias of."""

BINARY_VERSION = 6
SPECIFICATION, REVISION = "TransformerSpec", 7
TYPES = ("float32", "int8", "int16", "int32", "float16", "bfloat16")  # a type's place is its number
ACTIVATIONS = {"relu": 0, "swish": 2, "gelu": 3}
EPSILON = 1e-5  # of torch's LayerNorm
POSITIONS = 4096  # in an exported table; the engine makes a longer one when it needs to
# Its encoder has no ALiBi and ignores the flag for it. Before version 4.8.3 it added the first layer's T5 bias in every
# layer; nothing in the format can refuse such a version, so our models with a table per layer would be wrong silently.
KINDS_OF_POSITIONS = ("sinusoidal", "learned", "relative", "rotary")
ROTARY_BASE = 10_000.0  # of `positions.rotary`
# The largest 8-bit weight. Processors without instructions for 8-bit products (AVX2 alone) add pairs of them in 16
# bits, and 2 · 255 · 64 is the most that fits: with 127, a trained model was five times as far from float32 as with 63.
# A folder may go to any processor.
PORTABLE, WHOLE = 63, 127
SOURCE, TARGET, OUTPUT = "encoder/embeddings_0/weight", "decoder/embeddings/weight", "decoder/projection/weight"


def obstacles(config: TranslationConfig) -> list[str]:
    """Return the keys, with their values, of what CTranslate2 cannot hold."""
    return unsupported(config, positions=KINDS_OF_POSITIONS)


def export_ctranslate2(run: RunFolder, out: Path, *, quantization: Quantization = "float32") -> None:
    """Write a run's model for CTranslate2, with the SentencePiece models beside it."""
    config, tokenizers = run.config_for(TranslationConfig), run.tokenizers()
    if refused := obstacles(config):
        raise ManyheadsError(
            f"CTranslate2 cannot hold a model with {' and '.join(refused)}.",
            where=str(run.path),
            cure="The torch engine runs it.",
        )
    arrays = read_checked(run.weights_file, config)
    vocabularies = tokenizers.source.vocabulary(), tokenizers.target.vocabulary()
    files = model_files(arrays, config, vocabularies, positions=POSITIONS, quantization=quantization)
    page = exported_page(run, run.recipe_for(TranslationRecipe))
    with fresh_folder(out) as draft:
        for name, content in (*files.items(), *tokenizers.files().items(), *([("README.md", page)] if page else [])):
            (draft / name).write_bytes(content)


def model_files(
    arrays: Arrays,
    config: TranslationConfig,
    vocabularies: tuple[Sequence[str], Sequence[str]],
    *,
    positions: int,
    quantization: Quantization = "float32",
    largest: int = PORTABLE,
) -> dict[str, bytes]:
    """Return the files of a CTranslate2 model by name.

    A sinusoidal table has so many positions, and 8-bit weights are at most as `largest` says.
    """
    source, target = vocabularies
    parts = quantized(model_parts(arrays, config, positions=positions), quantization, largest=largest)
    same = list(source) == list(target)
    names = {"shared_vocabulary.json": source} if same else _both(source, target)
    return {
        "model.bin": binary(parts),
        "config.json": _json(_settings(config, target)),
        **{name: _json(list(tokens)) for name, tokens in names.items()},
    }


def _both(source: Sequence[str], target: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the files of two vocabularies."""
    return {"source_vocabulary.json": source, "target_vocabulary.json": target}


def _settings(config: TranslationConfig, target: Sequence[str]) -> dict[str, Any]:
    """Return CTranslate2's `config.json`; it knows special tokens by their names."""
    return {
        "unk_token": target[config.unknown],
        "bos_token": target[config.start],
        "eos_token": target[config.end],
        "decoder_start_token": target[config.start],
        "add_source_bos": False,
        "add_source_eos": False,  # whoever calls adds it, as for our own engine
        "layer_norm_epsilon": EPSILON,
        "multi_query_attention": False,
    }


# --- The arrays ------------------------------------------------------------------------------------------------------


def model_parts(arrays: Arrays, config: TranslationConfig, *, positions: int) -> Parts:
    """Return our weights under CTranslate2's names."""
    model = config.transformer
    parts: Parts = {**_stack_settings(config), **_embeddings(arrays, config), **_positions(arrays, config, positions)}
    for index in range(model.encoder_layers):
        ours, theirs = f"encoder.layers.{index}", f"encoder/layer_{index}"
        parts |= _self_attention(arrays, f"{ours}.attention", f"{theirs}/self_attention", model)
        parts |= _feed_forward(arrays, ours, theirs)
    for index in range(model.decoder_layers):
        ours, theirs = f"decoder.layers.{index}", f"decoder/layer_{index}"
        parts |= _self_attention(arrays, f"{ours}.self_attention", f"{theirs}/self_attention", model)
        parts |= _cross_attention(arrays, f"{ours}.cross_attention", f"{theirs}/attention", model.width)
        parts |= _feed_forward(arrays, ours, theirs)
    if model.norm == "pre":
        for stack in ("encoder", "decoder"):
            parts |= _norm(arrays, f"{stack}.final_norm", f"{stack}/layer_norm")
    return parts


def _stack_settings(config: TranslationConfig) -> Parts:
    """Return the numbers that stand among the arrays."""
    parts: Parts = {
        "encoder/embeddings_merge": np.int8(0),
        "encoder/multi_query_attention": np.int8(0),
        "decoder/alibi": np.int8(0),
        "decoder/alibi_use_positive_positions": np.int8(0),
        "decoder/scale_alibi": np.int8(0),
        "decoder/start_from_zero_embedding": np.int8(0),
        "decoder/alignment_layer": np.int16(-1),
        "decoder/alignment_heads": np.int16(config.transformer.heads),
    }
    for stack in ("encoder", "decoder"):
        parts |= {
            f"{stack}/num_heads": np.int16(config.transformer.heads),
            f"{stack}/pre_norm": np.int8(config.transformer.norm == "pre"),
            f"{stack}/activation": np.int8(ACTIVATIONS[config.transformer.activation]),
            f"{stack}/scale_embeddings": np.int8(1),
        }
    return parts


def _embeddings(arrays: Arrays, config: TranslationConfig) -> Parts:
    """Return the embeddings and the output layer, a tied matrix once."""
    parts: Parts = {TARGET: arrays[target_vectors(config)]}
    parts[SOURCE] = TARGET if config.transformer.tie == "all" else arrays[source_vectors(config)]
    parts[OUTPUT] = arrays["output"] if config.transformer.tie == "none" else TARGET
    if config.transformer.output_bias:
        parts["decoder/projection/bias"] = arrays["bias"]
    return parts


def _positions(arrays: Arrays, config: TranslationConfig, positions: int) -> Parts:
    """Return the tables of positions: learned ones, or so many sinusoids. Positions by distance are in the layers."""
    if not config.transformer.positions.absolute:
        return {}
    names = {side: f"{stack}/position_encodings/encodings" for side, stack in _STACKS.items()}
    if config.transformer.positions.kind == "learned":
        return {name: arrays[f"{side}.positions.table"] for side, name in names.items()}
    return {names["target"]: sinusoid_table(positions, config.transformer.width), names["source"]: names["target"]}


_STACKS = {"source": "encoder", "target": "decoder"}


def _self_attention(arrays: Arrays, ours: str, theirs: str, model: TransformerSettings) -> Parts:
    """Queries, keys and values are one matrix [3D, D] there as here."""
    return {
        f"{theirs}/linear_0/weight": arrays[f"{ours}.inputs"],
        f"{theirs}/linear_0/bias": arrays[f"{ours}.inputs_bias"],
        **_linear(arrays, f"{ours}.output", f"{theirs}/linear_1"),
        **_norm(arrays, f"{ours}_norm.norm", f"{theirs}/layer_norm"),
        **_distances(arrays, ours, theirs, model),
    }


def _distances(arrays: Arrays, ours: str, theirs: str, model: TransformerSettings) -> Parts:
    """Return how a self-attention knows distances, if it does: by vectors for them, or by turning queries and keys."""
    if model.positions.kind == "relative":
        return {f"{theirs}/relative_position_{one}": arrays[f"{ours}.positions.{one}"] for one in ("keys", "values")}
    if model.positions.kind == "rotary":
        return {
            f"{theirs}/rotary_dim": np.int32(model.width // model.heads),
            f"{theirs}/rotary_interleave": np.int8(1),  # turned are neighbours, x_2i with x_2i+1
            f"{theirs}/rotary_base": np.float32(ROTARY_BASE),
        }
    return {}


def _cross_attention(arrays: Arrays, ours: str, theirs: str, width: int) -> Parts:
    """Queries are one matrix [D, D], keys and values another [2D, D]."""
    weight, bias = arrays[f"{ours}.inputs"], arrays[f"{ours}.inputs_bias"]
    return {
        f"{theirs}/linear_0/weight": weight[:width],
        f"{theirs}/linear_0/bias": bias[:width],
        f"{theirs}/linear_1/weight": weight[width:],
        f"{theirs}/linear_1/bias": bias[width:],
        **_linear(arrays, f"{ours}.output", f"{theirs}/linear_2"),
        **_norm(arrays, f"{ours}_norm.norm", f"{theirs}/layer_norm"),
    }


def _feed_forward(arrays: Arrays, ours: str, theirs: str) -> Parts:
    """Two linear layers and their norm."""
    return {
        **_linear(arrays, f"{ours}.feed_forward.widen", f"{theirs}/ffn/linear_0"),
        **_linear(arrays, f"{ours}.feed_forward.narrow", f"{theirs}/ffn/linear_1"),
        **_norm(arrays, f"{ours}.feed_forward_norm.norm", f"{theirs}/ffn/layer_norm"),
    }


def _linear(arrays: Arrays, ours: str, theirs: str) -> Parts:
    """A matrix and its bias."""
    return {f"{theirs}/weight": arrays[f"{ours}.weight"], f"{theirs}/bias": arrays[f"{ours}.bias"]}


def _norm(arrays: Arrays, ours: str, theirs: str) -> Parts:
    """LayerNorm's γ and β."""
    return {f"{theirs}/gamma": arrays[f"{ours}.weight"], f"{theirs}/beta": arrays[f"{ours}.bias"]}


def quantized(parts: Parts, quantization: Quantization, *, largest: int) -> Parts:
    """Return the matrices of linear layers and embeddings as 8-bit numbers, each with the scale of its rows."""
    if quantization == "float32":
        return parts
    result: Parts = {}
    for name, part in parts.items():
        if not name.endswith("/weight"):
            result[name] = part
        elif isinstance(part, str):
            result |= {name: part, f"{name}_scale": f"{part}_scale"}
        else:
            result[name], result[f"{name}_scale"] = _to_int8(part, largest)
    return result


def _to_int8(matrix: Array, largest: int) -> tuple[Array, Array]:
    """Scale each row [D] so that its largest number becomes `largest`; a row of zeros keeps the scale 1."""
    numbers = np.asarray(matrix, dtype=np.float32)
    extent = np.abs(numbers).max(axis=1)
    scale = (largest / np.where(extent == 0.0, largest, extent)).astype(np.float32)
    return np.rint(numbers * scale[:, None]).astype(np.int8), scale


# --- The file --------------------------------------------------------------------------------------------------------


def binary(parts: Mapping[str, Array | str]) -> bytes:
    """Return the content of `model.bin`."""
    return b"".join(_chunks(parts))


def _chunks(parts: Mapping[str, Array | str]) -> Iterator[bytes]:
    """Yield the file's content piece by piece, arrays and aliases in order of their names."""
    stored = {name: part for name, part in sorted(parts.items()) if not isinstance(part, str)}
    aliases = {name: part for name, part in sorted(parts.items()) if isinstance(part, str)}
    yield struct.pack("<I", BINARY_VERSION) + _string(SPECIFICATION) + struct.pack("<II", REVISION, len(stored))
    for name, array in stored.items():
        yield _string(name) + struct.pack(f"<B{array.ndim}I", array.ndim, *array.shape)
        yield struct.pack("<BI", TYPES.index(array.dtype.name), array.nbytes)
        yield array.tobytes()
    yield struct.pack("<I", len(aliases))
    for name, part in aliases.items():
        yield _string(name) + _string(part)


def _string(text: str) -> bytes:
    """Return a text with its length before it and a zero behind it."""
    content = text.encode("ascii") + b"\0"
    return struct.pack("<H", len(content)) + content


def _json(values: Any) -> bytes:  # noqa: ANN401
    """Return values as a JSON file."""
    return json.dumps(values, ensure_ascii=False, indent=2).encode("utf-8")
