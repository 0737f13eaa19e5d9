"""Our Transformer's weights and settings as Hugging Face's Marian has them, and back, exactly both ways.

Marian is the paper's post-norm Transformer. Two things differ in form only:

- Marian's positional encodings have all sines first, then all cosines; the paper interleaves them. That is a
  permutation of the model's width, so every axis of a weight that lies along the width is permuted.
- Query, key and value projections are three matrices there and one here.

What Marian cannot hold (`obstacles`), and what of Marian we cannot (`settings_from`), is refused by its key.
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
from manyheads.exchange.tree import source_vectors, target_vectors, unsupported, weight_tree
from manyheads.runs.weights import Arrays, check_names, shapes

POSITIONS = 1024  # in Marian's table; ours has no end
BIAS = "final_logits_bias"
SHARED, SOURCE, TARGET, OUTPUT = (
    "model.shared.weight",
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
    "lm_head.weight",
)
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}  # theirs to ours
NEEDED = (
    *("vocab_size", "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads"),
    *("encoder_ffn_dim", "activation_function", "pad_token_id", "eos_token_id", "decoder_start_token_id"),
)
# Keys of older folders that describe another model when they have another value.
FIXED = {
    "scale_embedding": True,
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
    "static_position_embeddings": True,
}


@dataclass(frozen=True)
class Match:
    """One of our arrays, the arrays it is there (stacked on the first axis), and its axes along the model's width."""

    ours: str
    theirs: tuple[str, ...]
    wide: tuple[int, ...]


def matches(config: TranslationConfig) -> list[Match]:
    """Return where each array of ours is in Marian; the output bias, which Marian always has, is told apart."""
    model = config.transformer
    found = _embedding_matches(config)
    for index in range(model.encoder_layers):
        found += _layer(f"encoder.layers.{index}", {"attention": "self_attn"})
    for index in range(model.decoder_layers):
        found += _layer(f"decoder.layers.{index}", {"self_attention": "self_attn", "cross_attention": "encoder_attn"})
    return found


def _embedding_matches(config: TranslationConfig) -> list[Match]:
    """Return the matches of the one, two or three embedding matrices [V, D]."""
    if config.transformer.tie == "all":
        return [Match("output", (SHARED,), (1,))]
    found = [Match(source_vectors(config), (SOURCE,), (1,)), Match(target_vectors(config), (TARGET,), (1,))]
    return [*found, Match("output", (OUTPUT,), (1,))] if config.transformer.tie == "none" else found


def _layer(name: str, attentions: Mapping[str, str]) -> list[Match]:
    """Return the matches of one layer."""
    found = []
    for ours, theirs in attentions.items():
        base = f"model.{name}.{theirs}"
        inputs = [f"{base}.{letter}_proj" for letter in "qkv"]
        found += [
            Match(f"{name}.{ours}.inputs", tuple(f"{one}.weight" for one in inputs), (1,)),
            Match(f"{name}.{ours}.inputs_bias", tuple(f"{one}.bias" for one in inputs), ()),
            *_pair(f"{name}.{ours}.output", f"{base}.out_proj", (0,), (0,)),
            *_pair(f"{name}.{ours}_norm.norm", f"{base}_layer_norm", (0,), (0,)),
        ]
    return [
        *found,
        *_pair(f"{name}.feed_forward.widen", f"model.{name}.fc1", (1,), ()),
        *_pair(f"{name}.feed_forward.narrow", f"model.{name}.fc2", (0,), (0,)),
        *_pair(f"{name}.feed_forward_norm.norm", f"model.{name}.final_layer_norm", (0,), (0,)),
    ]


def _pair(ours: str, theirs: str, weight: tuple[int, ...], bias: tuple[int, ...]) -> list[Match]:
    """Return the matches of a weight and its bias, with the axes of each along the width."""
    return [Match(f"{ours}.weight", (f"{theirs}.weight",), weight), Match(f"{ours}.bias", (f"{theirs}.bias",), bias)]


# --- From us to Marian -----------------------------------------------------------------------------------------------


def obstacles(config: TranslationConfig) -> list[str]:
    """Return the keys, with their values, of what Marian cannot hold."""
    norm = config.transformer.norm
    found = [] if norm == "post" else [f"model.norm: {norm}"]
    return found + unsupported(config, positions=("sinusoidal",))


def to_marian(arrays: Arrays, config: TranslationConfig) -> Arrays:
    """Return Marian's arrays for ours."""
    order = halves(config.transformer.width)
    bias = arrays.get("bias", np.zeros(config.target_vocabulary, dtype=np.float32))
    theirs: Arrays = {BIAS: bias[None]}
    for match in matches(config):
        permuted = _permuted(arrays[match.ours], match.wide, order)
        theirs |= zip(match.theirs, np.split(permuted, len(match.theirs)), strict=True)
    return theirs


def marian_settings(config: TranslationConfig) -> dict[str, Any]:
    """Return Marian's `config.json` for our configuration."""
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


# --- From Marian to us -----------------------------------------------------------------------------------------------


def settings_from(values: Mapping[str, Any], *, where: str) -> TranslationConfig:
    """Return our configuration for Marian's `config.json`, as yet without an output bias, or refuse it by its key."""
    _check_kind(values, where)
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


def _check_kind(values: Mapping[str, Any], where: str) -> None:
    """Refuse another architecture, missing keys, and values that our model has no place for, all at once."""
    if values.get("model_type") != "marian":
        raise ManyheadsError(
            f"a model of type '{values.get('model_type', 'unknown')}' cannot be imported.",
            where=where,
            cure="Marian models (OPUS-MT) can.",
        )
    missing = [key for key in NEEDED if values.get(key) is None]
    if missing:
        raise ManyheadsError(f"these keys are missing: {', '.join(missing)}.", where=where)
    wrong = [f"{key}: {values[key]}" for key, only in FIXED.items() if values.get(key, only) != only]
    if "scale_embedding" not in values:
        wrong.append("scale_embedding: false")  # Hugging Face's default
    wrong += [
        f"decoder_{part}: {values[f'decoder_{part}']} beside encoder_{part}: {values[f'encoder_{part}']}"
        for part in ("attention_heads", "ffn_dim")
        if values.get(f"decoder_{part}", values[f"encoder_{part}"]) != values[f"encoder_{part}"]
    ]
    if values.get("share_encoder_decoder_embeddings", True) and not values.get("tie_word_embeddings", True):
        wrong.append("share_encoder_decoder_embeddings: true beside tie_word_embeddings: false")
    if values["activation_function"] not in ACTIVATIONS:
        wrong.append(f"activation_function: {values['activation_function']}")
    if isinstance(values["eos_token_id"], list):
        wrong.append(f"eos_token_id: {values['eos_token_id']}")
    if wrong:
        raise ManyheadsError(f"a model with this cannot be imported: {'; '.join(wrong)}.", where=where)


def from_marian(theirs: Arrays, config: TranslationConfig, *, where: str) -> tuple[Arrays, TranslationConfig]:
    """Return our arrays for Marian's, and the configuration, with an output bias where Marian's is not zero."""
    theirs = _canonical({name: np.asarray(array, dtype=np.float32) for name, array in theirs.items()}, config, where)
    check_names(shapes(theirs.items()), _marian_tree(config), where=where)
    back = np.argsort(halves(config.transformer.width))
    ours = {
        match.ours: _permuted(np.concatenate([theirs[name] for name in match.theirs]), match.wide, back)
        for match in matches(config)
    }
    if theirs[BIAS].any():
        ours["bias"] = theirs[BIAS][0]
        config = config.model_copy(update={"model": config.transformer.model_copy(update={"output_bias": True})})
    return ours, config


def _marian_tree(config: TranslationConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array that a Marian of this configuration has, tied ones once."""
    ours = weight_tree(config)
    tree: dict[str, tuple[int, ...]] = {BIAS: (1, config.target_vocabulary)}
    for match in matches(config):
        first, *rest = ours[match.ours]
        tree |= {name: (first // len(match.theirs), *rest) for name in match.theirs}
    return tree


def _canonical(theirs: Arrays, config: TranslationConfig, where: str) -> Arrays:
    """Bring the ways to spell the same model into one: without copies of tied arrays, without tables, with a bias."""
    theirs = dict(theirs)
    for name, others in _copies(config).items():
        same = [theirs.pop(other) for other in (name, *others) if other in theirs]
        if any(not np.array_equal(same[0], one) for one in same[1:]):
            raise ManyheadsError(
                f"these arrays should be the same, as the configuration ties them: {', '.join((name, *others))}.",
                where=where,
            )
        if same:
            theirs[name] = same[0]
    for side in ("encoder", "decoder"):
        table = theirs.pop(f"model.{side}.embed_positions.weight", None)
        if table is not None and not _is_sinusoidal(table):
            raise ManyheadsError(f"the positions of the {side} are not Marian's sinusoids.", where=where)
    theirs.setdefault(BIAS, np.zeros((1, config.target_vocabulary), dtype=np.float32))
    return theirs


def _copies(config: TranslationConfig) -> dict[str, tuple[str, ...]]:
    """Return, for each embedding matrix, the other names under which it may stand."""
    if config.transformer.tie == "all":
        return {SHARED: (SOURCE, TARGET, OUTPUT)}
    return {TARGET: (OUTPUT,)} if config.transformer.tie == "target" else {}


def _is_sinusoidal(table: NDArray[np.generic]) -> bool:
    """Whether a table [positions, D] holds sines, then cosines (to the precision of a 16-bit number)."""
    positions, width = table.shape
    return bool(np.allclose(table, sinusoid_table(positions, width)[:, halves(width)], atol=2e-3))


def _permuted(array: NDArray[np.generic], axes: tuple[int, ...], order: NDArray[np.int64]) -> NDArray[np.generic]:
    """Return an array with the given axes, which lie along the model's width, in another order."""
    for axis in axes:
        array = np.take(array, order, axis=axis)
    return np.ascontiguousarray(array)
