"""Converts the weights and settings of our Transformer to those of Hugging Face's Marian and back, without loss.

Marian is the paper's post-norm Transformer. Two things are stored differently:

- Marian's positional encodings have all sines first, then all cosines; the paper interleaves them. This is a
  permutation of the model's width, so every axis of a weight that has this width is permuted.
- Query, key and value projections are three matrices in Marian and one in our model.

Settings that Marian does not support (`unsupported_by_marian`), and settings of Marian that our model does not support
(`config_from_marian`), are errors that name the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyheads.config.messages import build
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.errors import ManyheadsError
from manyheads.exchange.sinusoids import halves, sinusoid_table
from manyheads.exchange.tree import source_vectors, target_vectors, unsupported_keys, weight_tree
from manyheads.runs.weights import Arrays, check_names, shapes

POSITIONS = 1024  # in Marian's table; our sinusoids have no limit
BIAS = "final_logits_bias"
SHARED, SOURCE, TARGET, OUTPUT = (
    "model.shared.weight",
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
    "lm_head.weight",
)
# The parts that Marian has, by their keys.
PLAIN = {
    "norm": "post",
    "norm_kind": "layer",
    "gated": False,
    "biases": True,
    "query_key_norm": "none",
}
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}  # Marian's names to our names
REQUIRED = (
    *("vocab_size", "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads"),
    *("encoder_ffn_dim", "activation_function", "pad_token_id", "eos_token_id", "decoder_start_token_id"),
)
# Keys of older folders; with any other value they describe a model that we do not support.
FIXED_VALUES = {
    "scale_embedding": True,
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
    "static_position_embeddings": True,
}


@dataclass(frozen=True)
class WeightMapping:
    """The name of one of our arrays, and how Marian stores it.

    Stacked along the first axis, the Marian arrays are our array. `width_axes` are its axes of the model's width.
    """

    name: str
    marian_names: tuple[str, ...]
    width_axes: tuple[int, ...]


def weight_mappings(config: TranslationConfig) -> list[WeightMapping]:
    """Return the mapping of each array, except for the output bias: Marian always has one, our model may not."""
    model = config.transformer
    mappings = _embedding_mappings(config)
    for index in range(model.encoder_layers):
        mappings += _layer_mappings(f"encoder.layers.{index}", {"attention": "self_attn"})
    for index in range(model.decoder_layers):
        attentions = {"self_attention": "self_attn", "cross_attention": "encoder_attn"}
        mappings += _layer_mappings(f"decoder.layers.{index}", attentions)
    return mappings


def _embedding_mappings(config: TranslationConfig) -> list[WeightMapping]:
    """Return the mappings of the one, two or three embedding matrices [V, D]."""
    if config.transformer.tie == "all":
        return [WeightMapping("output", (SHARED,), (1,))]
    mappings = [
        WeightMapping(source_vectors(config), (SOURCE,), (1,)),
        WeightMapping(target_vectors(config), (TARGET,), (1,)),
    ]
    return [*mappings, WeightMapping("output", (OUTPUT,), (1,))] if config.transformer.tie == "none" else mappings


def _layer_mappings(layer: str, attentions: Mapping[str, str]) -> list[WeightMapping]:
    """Return the mappings of one layer; `attentions` has Marian's name of each of its attentions."""
    mappings = []
    for name, marian_name in attentions.items():
        base = f"model.{layer}.{marian_name}"
        projections = [f"{base}.{letter}_proj" for letter in "qkv"]
        mappings += [
            WeightMapping(f"{layer}.{name}.inputs", tuple(f"{one}.weight" for one in projections), (1,)),
            WeightMapping(f"{layer}.{name}.inputs_bias", tuple(f"{one}.bias" for one in projections), ()),
            *_pair(f"{layer}.{name}.output", f"{base}.out_proj", (0,), (0,)),
            *_pair(f"{layer}.{name}_norm.norm", f"{base}_layer_norm", (0,), (0,)),
        ]
    return [
        *mappings,
        *_pair(f"{layer}.feed_forward.widen", f"model.{layer}.fc1", (1,), ()),
        *_pair(f"{layer}.feed_forward.narrow", f"model.{layer}.fc2", (0,), (0,)),
        *_pair(f"{layer}.feed_forward_norm.norm", f"model.{layer}.final_layer_norm", (0,), (0,)),
    ]


def _pair(name: str, marian_name: str, weight_axes: tuple[int, ...], bias_axes: tuple[int, ...]) -> list[WeightMapping]:
    """Return the mappings of a weight and its bias, with the axes of each that have the model's width."""
    return [
        WeightMapping(f"{name}.weight", (f"{marian_name}.weight",), weight_axes),
        WeightMapping(f"{name}.bias", (f"{marian_name}.bias",), bias_axes),
    ]


# --- Export ----------------------------------------------------------------------------------------------------------


def unsupported_by_marian(config: TranslationConfig) -> list[str]:
    """Return the keys, with their values, that Marian does not support."""
    keys = unsupported_keys(config, positions=("sinusoidal",))
    if config.model.kind != "transformer":
        return keys
    model = config.transformer
    found = {name: getattr(model, name) for name in PLAIN}
    return [f"model.{name}: {str(value).lower()}" for name, value in found.items() if value != PLAIN[name]] + keys


def to_marian(arrays: Arrays, config: TranslationConfig) -> Arrays:
    """Return Marian's arrays for those of a run."""
    order = halves(config.transformer.width)
    bias = arrays.get("bias", np.zeros(config.target_vocabulary, dtype=np.float32))
    marian_arrays: Arrays = {BIAS: bias[None]}
    for mapping in weight_mappings(config):
        permuted = _permuted(arrays[mapping.name], mapping.width_axes, order)
        parts = np.split(permuted, len(mapping.marian_names))
        marian_arrays |= zip(mapping.marian_names, parts, strict=True)
    return marian_arrays


def marian_config(config: TranslationConfig) -> dict[str, Any]:
    """Return Marian's `config.json` for the configuration of a run."""
    model = config.transformer
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "is_encoder_decoder": True,
        "vocab_size": config.source_vocabulary,
        "decoder_vocab_size": config.target_vocabulary,
        "share_encoder_decoder_embeddings": model.tie == "all",
        "tie_word_embeddings": model.tie != "none",
        "d_model": model.width,
        "encoder_layers": model.encoder_layers,
        "decoder_layers": model.decoder_layers,
        "encoder_attention_heads": model.heads,
        "decoder_attention_heads": model.heads,
        "encoder_ffn_dim": model.feed_forward,
        "decoder_ffn_dim": model.feed_forward,
        "activation_function": model.activation,
        "dropout": model.dropout,
        "attention_dropout": getattr(model.attention, "dropout", 0.0),
        "activation_dropout": 0.0,
        "scale_embedding": True,
        "static_position_embeddings": True,
        "max_position_embeddings": POSITIONS,
        "pad_token_id": config.pad,
        "eos_token_id": config.end,
        "bos_token_id": None,
        "decoder_start_token_id": config.start,
        "forced_eos_token_id": config.end,
        "torch_dtype": "float32",
    }


# --- Import ----------------------------------------------------------------------------------------------------------


def config_from_marian(values: Mapping[str, Any], *, where: str) -> TranslationConfig:
    """Return the configuration for Marian's `config.json`; `from_marian` adds an output bias where there is one."""
    _check_supported(values, where)
    tied = values.get("tie_word_embeddings", True)
    shared = values.get("share_encoder_decoder_embeddings", True)
    source = values["vocab_size"]
    model = {
        "width": values["d_model"],
        "heads": values["encoder_attention_heads"],
        "encoder_layers": values["encoder_layers"],
        "decoder_layers": values["decoder_layers"],
        "feed_forward": values["encoder_ffn_dim"],
        "dropout": values.get("dropout", 0.1),
        "activation": ACTIVATIONS[values["activation_function"]],
        "tie": "none" if not tied else "all" if shared else "target",
        "attention": {"dropout": values.get("attention_dropout", 0.0)},
    }
    whole = {
        "model": model,
        "source_vocabulary": source,
        "target_vocabulary": source if shared else values.get("decoder_vocab_size") or source,
        "pad": values["pad_token_id"],
        "start": values["decoder_start_token_id"],
        "end": values["eos_token_id"],
    }
    return build(TranslationConfig, whole, origin=where)


def _check_supported(values: Mapping[str, Any], where: str) -> None:
    """Raise an error for another architecture, and one that lists all missing keys or all unsupported values."""
    if values.get("model_type") != "marian":
        raise ManyheadsError(
            f"a model of type '{values.get('model_type', 'unknown')}' cannot be imported.",
            where=where,
            cure="Marian models (OPUS-MT) can.",
        )
    missing = [key for key in REQUIRED if values.get(key) is None]
    if missing:
        raise ManyheadsError(f"these keys are missing: {', '.join(missing)}.", where=where)
    wrong = [f"{key}: {values[key]}" for key, only in FIXED_VALUES.items() if values.get(key, only) != only]
    if "scale_embedding" not in values:
        wrong.append("scale_embedding: false")  # Hugging Face's default
    wrong += [
        f"decoder_{part}: {values[f'decoder_{part}']} beside encoder_{part}: {values[f'encoder_{part}']}"
        for part in ("attention_heads", "ffn_dim")
        if values.get(f"decoder_{part}", values[f"encoder_{part}"]) != values[f"encoder_{part}"]
    ]
    if values.get("share_encoder_decoder_embeddings", True) and not values.get("tie_word_embeddings", True):
        wrong.append("share_encoder_decoder_embeddings: true beside tie_word_embeddings: false")
    if str(values["activation_function"]) not in ACTIVATIONS:
        wrong.append(f"activation_function: {values['activation_function']}")
    if isinstance(values["eos_token_id"], list):
        wrong.append(f"eos_token_id: {values['eos_token_id']}")
    if wrong:
        raise ManyheadsError(f"a model with these settings cannot be imported: {'; '.join(wrong)}.", where=where)


def from_marian(marian_arrays: Arrays, config: TranslationConfig, *, where: str) -> tuple[Arrays, TranslationConfig]:
    """Return the arrays of a run for Marian's, and the configuration: with an output bias if Marian's is not zero."""
    marian_arrays = _canonical(
        {name: np.asarray(array, dtype=np.float32) for name, array in marian_arrays.items()}, config, where
    )
    check_names(shapes(marian_arrays.items()), _marian_tree(config), where=where)
    order = np.argsort(halves(config.transformer.width))
    arrays = {}
    for mapping in weight_mappings(config):
        stacked = np.concatenate([marian_arrays[name] for name in mapping.marian_names])
        arrays[mapping.name] = _permuted(stacked, mapping.width_axes, order)
    if marian_arrays[BIAS].any():
        arrays["bias"] = marian_arrays[BIAS][0]
        config = config.model_copy(update={"model": config.transformer.model_copy(update={"output_bias": True})})
    return arrays, config


def _marian_tree(config: TranslationConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array of a Marian model with this configuration; tied arrays occur once."""
    run_tree = weight_tree(config)
    tree: dict[str, tuple[int, ...]] = {BIAS: (1, config.target_vocabulary)}
    for mapping in weight_mappings(config):
        first, *rest = run_tree[mapping.name]
        tree |= {name: (first // len(mapping.marian_names), *rest) for name in mapping.marian_names}
    return tree


def _canonical(arrays: Arrays, config: TranslationConfig, where: str) -> Arrays:
    """Return Marian's arrays in a canonical form: no copies of tied arrays, no position tables, and an output bias."""
    arrays = dict(arrays)
    for name, others in _copies(config).items():
        copies = [arrays.pop(other) for other in (name, *others) if other in arrays]
        if any(not np.array_equal(copies[0], copy) for copy in copies[1:]):
            raise ManyheadsError(
                f"these arrays should be the same, as the configuration ties them: {', '.join((name, *others))}.",
                where=where,
            )
        if copies:
            arrays[name] = copies[0]
    for side in ("encoder", "decoder"):
        table = arrays.pop(f"model.{side}.embed_positions.weight", None)
        if table is not None and not _is_sinusoidal(table):
            raise ManyheadsError(f"the positions of the {side} are not Marian's sinusoids.", where=where)
    arrays.setdefault(BIAS, np.zeros((1, config.target_vocabulary), dtype=np.float32))
    return arrays


def _copies(config: TranslationConfig) -> dict[str, tuple[str, ...]]:
    """Return, for each tied embedding matrix, the other names under which a file may have it."""
    if config.transformer.tie == "all":
        return {SHARED: (SOURCE, TARGET, OUTPUT)}
    return {TARGET: (OUTPUT,)} if config.transformer.tie == "target" else {}


def _is_sinusoidal(table: NDArray[np.generic]) -> bool:
    """Return whether a table [positions, D] has all sines, then all cosines, up to the precision of float16."""
    positions, width = table.shape
    return bool(np.allclose(table, sinusoid_table(positions, width)[:, halves(width)], atol=2e-3))


def _permuted(array: NDArray[np.generic], axes: tuple[int, ...], order: NDArray[np.int64]) -> NDArray[np.generic]:
    """Return an array whose given axes, which have the model's width, are reordered."""
    for axis in axes:
        array = np.take(array, order, axis=axis)
    return np.ascontiguousarray(array)
