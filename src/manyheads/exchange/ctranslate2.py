"""Exports a run as a CTranslate2 model: the binary file, its settings and its vocabularies, without that package.

CTranslate2's own converters import torch, and its format is simple. `model.bin` (version 6, little-endian; a string is
its length in 16 bits, its bytes and a zero byte) contains

    version · name and revision of the specification · number of arrays ·
    for each array its name, number of axes, axes, type, bytes, content · number of aliases · each alias and its array

The paper's interleaved positional encodings are written as a table, so that nothing along the width is permuted. A tied
matrix is written once, and its other uses are aliases. CTranslate2 returns the mean attention of the first heads of one
layer; so the heads that align are written before the other heads of their layer.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyheads.config.alignment import AligningHeads, AlignmentSettings
from manyheads.config.models.positions import T5Settings
from manyheads.config.models.transformer import TransformerSettings
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.errors import ManyheadsError
from manyheads.exchange.sinusoids import sinusoid_table
from manyheads.exchange.tags import exported_readme
from manyheads.exchange.tree import read_checked, source_vectors, target_vectors, unsupported_keys
from manyheads.runs.atomic import fresh_folder
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import Arrays

Quantization = Literal["float32", "int8"]
Array = NDArray[np.generic] | np.generic
Parts = dict[str, Array | str]
"""The content of a model file by name: an array, or (for an alias) the name of another array."""

BINARY_VERSION = 6
SPECIFICATION, REVISION = "TransformerSpec", 7
TYPES = ("float32", "int8", "int16", "int32", "float16", "bfloat16")  # the index of a type is its number in the file
ACTIVATIONS = {"relu": 0, "swish": 2, "gelu": 3}
EPSILON = 1e-5  # of torch's LayerNorm
POSITIONS = 4096  # in an exported table; our engine builds a longer one when it needs to
# CTranslate2's encoder has no ALiBi and ignores the flag for it. T5 biases need version 4.8.3: before it, the first
# layer's table was used in every layer, without an error.
SUPPORTED_POSITIONS = ("sinusoidal", "learned", "relative", "rotary", "t5")
ROTARY_BASE = 10_000.0  # of `positions.rotary`
# The largest 8-bit weight. CPUs without instructions for 8-bit products (AVX2 only) add pairs of products in 16 bits,
# where 2 · 255 · 64 is the largest sum that fits: with 127, a trained model differed from float32 five times as much as
# with 63. An exported folder may be used on any CPU, so it is limited to 63.
PORTABLE_INT8_MAXIMUM, INT8_MAXIMUM = 63, 127
SOURCE, TARGET, OUTPUT = "encoder/embeddings_0/weight", "decoder/embeddings/weight", "decoder/projection/weight"


def unsupported_by_ctranslate2(config: TranslationConfig) -> list[str]:
    """Return the keys, with their values, that CTranslate2 does not support."""
    keys = unsupported_keys(config, positions=SUPPORTED_POSITIONS)
    if config.model.kind == "transformer" and config.transformer.query_key_norm == "all":
        keys.append("model.query_key_norm: all")  # its normalisation is wrong in attention over the encoder's output
    return keys


def export_ctranslate2(run: RunFolder, out: Path, *, quantization: Quantization = "float32") -> None:
    """Write a folder with a run's model for CTranslate2 and its SentencePiece models."""
    config, tokenizers = run.config_for(TranslationConfig), run.tokenizers()
    if keys := unsupported_by_ctranslate2(config):
        raise ManyheadsError(
            f"CTranslate2 does not support a model with {' and '.join(keys)}.",
            where=str(run.path),
            cure="The torch engine runs it.",
        )
    arrays, recipe = read_checked(run.weights_file, config), run.recipe_for(TranslationRecipe)
    model = config.transformer
    files = model_files(
        arrays,
        config,
        (tokenizers.source.vocabulary(), tokenizers.target.vocabulary()),
        positions=POSITIONS,
        alignment=recipe.decoding.alignment.resolved(layers=model.decoder_layers, heads=model.heads),
        quantization=quantization,
    )
    files |= tokenizers.files()
    if readme := exported_readme(run, recipe):
        files["README.md"] = readme
    with fresh_folder(out) as draft:
        for name, content in files.items():
            (draft / name).write_bytes(content)


def model_files(
    arrays: Arrays,
    config: TranslationConfig,
    vocabularies: tuple[Sequence[str], Sequence[str]],
    *,
    positions: int,
    alignment: AligningHeads | None = None,
    quantization: Quantization = "float32",
    int8_maximum: int = PORTABLE_INT8_MAXIMUM,
) -> dict[str, bytes]:
    """Return the content of each file of a CTranslate2 model, by name.

    `positions` is the length of a sinusoidal table, `alignment` the heads whose attention is returned, by default those
    of `AlignmentSettings`, and `int8_maximum` the largest 8-bit weight.
    """
    source, target = vocabularies
    parts = model_parts(arrays, config, positions=positions, alignment=alignment)
    parts = quantized(parts, quantization, int8_maximum=int8_maximum)
    same = list(source) == list(target)
    separate = {"source_vocabulary.json": source, "target_vocabulary.json": target}
    names = {"shared_vocabulary.json": source} if same else separate
    return {
        "model.bin": binary(parts),
        "config.json": _json(_settings(config, target)),
        **{name: _json(list(tokens)) for name, tokens in names.items()},
    }


def _settings(config: TranslationConfig, target: Sequence[str]) -> dict[str, Any]:
    """Return CTranslate2's `config.json`, which has the names of special tokens."""
    return {
        "unk_token": target[config.unknown],
        "bos_token": target[config.start],
        "eos_token": target[config.end],
        "decoder_start_token": target[config.start],
        "add_source_bos": False,
        "add_source_eos": False,  # the caller adds it, as for our own engine
        "layer_norm_epsilon": EPSILON,
        "multi_query_attention": False,
    }


# --- The arrays ------------------------------------------------------------------------------------------------------


def model_parts(
    arrays: Arrays, config: TranslationConfig, *, positions: int, alignment: AligningHeads | None = None
) -> Parts:
    """Return the weights of a run under CTranslate2's names (`exported` below)."""
    model = config.transformer
    alignment = alignment or AlignmentSettings().resolved(layers=model.decoder_layers, heads=model.heads)
    arrays = _with_heads_first(arrays, alignment, model.heads)
    parts: Parts = {
        **_stack_settings(config),
        **_alignment(alignment),
        **_embeddings(arrays, config),
        **_positions(arrays, config, positions),
    }
    for index in range(model.encoder_layers):
        name, exported = f"encoder.layers.{index}", f"encoder/layer_{index}"
        parts |= _self_attention(arrays, f"{name}.attention", f"{exported}/self_attention", model)
        parts |= _feed_forward(arrays, name, exported)
    for index in range(model.decoder_layers):
        name, exported = f"decoder.layers.{index}", f"decoder/layer_{index}"
        parts |= _self_attention(arrays, f"{name}.self_attention", f"{exported}/self_attention", model)
        parts |= _cross_attention(arrays, f"{name}.cross_attention", f"{exported}/attention", model.width)
        parts |= _feed_forward(arrays, name, exported)
    if model.norm == "pre":
        for stack in ("encoder", "decoder"):
            parts |= _norm(arrays, f"{stack}.final_norm", f"{stack}/layer_norm")
    return parts


def _stack_settings(config: TranslationConfig) -> Parts:
    """Return the settings that the format stores as arrays without axes."""
    parts: Parts = {
        "encoder/embeddings_merge": np.int8(0),
        "encoder/multi_query_attention": np.int8(0),
        "decoder/alibi": np.int8(0),
        "decoder/alibi_use_positive_positions": np.int8(0),
        "decoder/scale_alibi": np.int8(0),
        "decoder/start_from_zero_embedding": np.int8(0),
    }
    for stack in ("encoder", "decoder"):
        parts |= {
            f"{stack}/num_heads": np.int16(config.transformer.heads),
            f"{stack}/pre_norm": np.int8(config.transformer.norm == "pre"),
            f"{stack}/activation": np.int8(ACTIVATIONS[config.transformer.activation]),
            f"{stack}/scale_embeddings": np.int8(1),
        }
    return parts


def _alignment(alignment: AligningHeads) -> Parts:
    """Return the layer whose attention is returned, and how many of its heads, the first, are averaged."""
    return {
        "decoder/alignment_layer": np.int16(alignment.layer),
        "decoder/alignment_heads": np.int16(len(alignment.heads)),
    }


def _with_heads_first(arrays: Arrays, alignment: AligningHeads, heads: int) -> Arrays:
    """Return the arrays with the heads that align before the others of their layer, which changes no output."""
    name = f"decoder.layers.{alignment.layer}.cross_attention"
    order = [*alignment.heads, *(head for head in range(heads) if head not in alignment.heads)]
    if order == sorted(order):
        return arrays
    moved: Arrays = {f"{name}.output.weight": _permuted(arrays[f"{name}.output.weight"].T, heads, order).T}
    for inputs in (f"{name}.inputs", f"{name}.inputs_bias"):
        if inputs in arrays:  # queries, keys and values one below the other
            moved[inputs] = np.concatenate([_permuted(part, heads, order) for part in np.split(arrays[inputs], 3)])
    return {**arrays, **moved}


def _permuted(rows: NDArray[np.generic], heads: int, order: Sequence[int]) -> NDArray[np.generic]:
    """Return rows [D, …] with those of the heads in another order."""
    parts = np.split(rows, heads)
    return np.concatenate([parts[head] for head in order])


def _embeddings(arrays: Arrays, config: TranslationConfig) -> Parts:
    """Return the embeddings and the output layer; a tied matrix occurs once, and as aliases."""
    parts: Parts = {TARGET: arrays[target_vectors(config)]}
    parts[SOURCE] = TARGET if config.transformer.tie == "all" else arrays[source_vectors(config)]
    parts[OUTPUT] = arrays["output"] if config.transformer.tie == "none" else TARGET
    if config.transformer.output_bias:
        parts["decoder/projection/bias"] = arrays["bias"]
    return parts


def _positions(arrays: Arrays, config: TranslationConfig, positions: int) -> Parts:
    """Return the position tables: learned ones, or sinusoids of this length. Relative positions are in the layers."""
    if not config.transformer.positions.absolute:
        return {}
    names = {side: f"{stack}/position_encodings/encodings" for side, stack in _STACKS.items()}
    if config.transformer.positions.kind == "learned":
        return {name: arrays[f"{side}.positions.table"] for side, name in names.items()}
    return {names["target"]: sinusoid_table(positions, config.transformer.width), names["source"]: names["target"]}


_STACKS = {"source": "encoder", "target": "decoder"}


def _self_attention(arrays: Arrays, name: str, exported: str, model: TransformerSettings) -> Parts:
    """Return a self-attention. Queries, keys and values are one matrix [3D, D], as in our model."""
    return {
        **_rows(arrays, f"{name}.inputs", f"{exported}/linear_0", slice(None)),
        **_linear(arrays, f"{name}.output", f"{exported}/linear_1"),
        **_norm(arrays, f"{name}_norm.norm", f"{exported}/layer_norm"),
        **_query_key_norm(arrays, name, exported),
        **_positions_of_attention(arrays, name, exported, model),
    }


def _query_key_norm(arrays: Arrays, name: str, exported: str) -> Parts:
    """Return the norms of queries and keys, if there are any."""
    if f"{name}.query_key_norm.queries.weight" not in arrays:
        return {}
    return {
        **_norm(arrays, f"{name}.query_key_norm.queries", f"{exported}/q_norm"),
        **_norm(arrays, f"{name}.query_key_norm.keys", f"{exported}/k_norm"),
    }


def _positions_of_attention(arrays: Arrays, name: str, exported: str, model: TransformerSettings) -> Parts:
    """Return the positions of a self-attention: relative position vectors, T5's table, rotary settings, or nothing."""
    if isinstance(model.positions, T5Settings):
        return {
            f"{exported}/relative_attention_bias": arrays[f"{name}.positions.table"],
            f"{exported}/relative_attention_max_distance": np.int32(model.positions.reach),
        }
    if model.positions.kind == "relative":
        return {
            f"{exported}/relative_position_{side}": arrays[f"{name}.positions.{side}"] for side in ("keys", "values")
        }
    if model.positions.kind == "rotary":
        return {
            f"{exported}/rotary_dim": np.int32(model.width // model.heads),
            f"{exported}/rotary_interleave": np.int8(1),  # pairs of neighbours are rotated, x_2i with x_2i+1
            f"{exported}/rotary_base": np.float32(ROTARY_BASE),
        }
    return {}


def _cross_attention(arrays: Arrays, name: str, exported: str, width: int) -> Parts:
    """Return a cross-attention. Queries are one matrix [D, D], keys and values another [2D, D]."""
    return {
        **_rows(arrays, f"{name}.inputs", f"{exported}/linear_0", slice(None, width)),
        **_rows(arrays, f"{name}.inputs", f"{exported}/linear_1", slice(width, None)),
        **_linear(arrays, f"{name}.output", f"{exported}/linear_2"),
        **_norm(arrays, f"{name}_norm.norm", f"{exported}/layer_norm"),
    }


def _feed_forward(arrays: Arrays, name: str, exported: str) -> Parts:
    """Return the linear layers of a feed-forward network, and their norm; `linear_0` is the one that is activated."""
    gated = f"{name}.feed_forward.gate.weight" in arrays
    widen = f"{exported}/ffn/linear_0_noact" if gated else f"{exported}/ffn/linear_0"
    return {
        **(_linear(arrays, f"{name}.feed_forward.gate", f"{exported}/ffn/linear_0") if gated else {}),
        **_linear(arrays, f"{name}.feed_forward.widen", widen),
        **_linear(arrays, f"{name}.feed_forward.narrow", f"{exported}/ffn/linear_1"),
        **_norm(arrays, f"{name}.feed_forward_norm.norm", f"{exported}/ffn/layer_norm"),
    }


def _rows(arrays: Arrays, name: str, exported: str, rows: slice) -> Parts:
    """Return some rows of the input projections, and of their bias if there is one."""
    parts: Parts = {f"{exported}/weight": arrays[name][rows]}
    return parts | ({f"{exported}/bias": arrays[f"{name}_bias"][rows]} if f"{name}_bias" in arrays else {})


def _linear(arrays: Arrays, name: str, exported: str) -> Parts:
    """Return a matrix, and its bias if there is one."""
    parts: Parts = {f"{exported}/weight": arrays[f"{name}.weight"]}
    return parts | ({f"{exported}/bias": arrays[f"{name}.bias"]} if f"{name}.bias" in arrays else {})


def _norm(arrays: Arrays, name: str, exported: str) -> Parts:
    """Return LayerNorm's γ and β, or RMSNorm's γ: CTranslate2 takes a norm without β for RMSNorm."""
    parts: Parts = {f"{exported}/gamma": arrays[f"{name}.weight"]}
    return parts | ({f"{exported}/beta": arrays[f"{name}.bias"]} if f"{name}.bias" in arrays else {})


def quantized(parts: Parts, quantization: Quantization, *, int8_maximum: int) -> Parts:
    """Return the parts with the matrices of linear layers and embeddings in 8 bits, each with a scale per row."""
    if quantization == "float32":
        return parts
    result: Parts = {}
    for name, part in parts.items():
        if not name.endswith("/weight"):
            result[name] = part
        elif isinstance(part, str):
            result |= {name: part, f"{name}_scale": f"{part}_scale"}
        else:
            result[name], result[f"{name}_scale"] = _to_int8(part, int8_maximum)
    return result


def _to_int8(matrix: Array, int8_maximum: int) -> tuple[Array, Array]:
    """Scale each row [D] so that its largest absolute value becomes `int8_maximum`; the scale of a zero row is 1."""
    numbers = np.asarray(matrix, dtype=np.float32)
    largest = np.abs(numbers).max(axis=1)
    scale = (int8_maximum / np.where(largest == 0.0, int8_maximum, largest)).astype(np.float32)
    return np.rint(numbers * scale[:, None]).astype(np.int8), scale


# --- The file --------------------------------------------------------------------------------------------------------


def binary(parts: Mapping[str, Array | str]) -> bytes:
    """Return the content of `model.bin`."""
    return b"".join(_chunks(parts))


def _chunks(parts: Mapping[str, Array | str]) -> Iterator[bytes | memoryview]:
    """Yield the content of the file in chunks, arrays and aliases in the order of their names."""
    stored = {name: part for name, part in sorted(parts.items()) if not isinstance(part, str)}
    aliases = {name: part for name, part in sorted(parts.items()) if isinstance(part, str)}
    yield struct.pack("<I", BINARY_VERSION) + _string(SPECIFICATION) + struct.pack("<II", REVISION, len(stored))
    for name, array in stored.items():
        yield _string(name) + struct.pack(f"<B{array.ndim}I", array.ndim, *array.shape)
        yield struct.pack("<BI", TYPES.index(array.dtype.name), array.nbytes)
        yield np.ascontiguousarray(array).reshape(-1).view(np.uint8).data  # copied only when the chunks are joined
    yield struct.pack("<I", len(aliases))
    for name, part in aliases.items():
        yield _string(name) + _string(part)


def _string(text: str) -> bytes:
    """Return a string as its length, its bytes and a zero byte."""
    content = text.encode("ascii") + b"\0"
    return struct.pack("<H", len(content)) + content


def _json(values: Any) -> bytes:  # noqa: ANN401
    """Return values as the content of a JSON file."""
    return json.dumps(values, ensure_ascii=False, indent=2).encode("utf-8")
