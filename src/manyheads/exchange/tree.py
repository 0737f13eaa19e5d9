"""The names and shapes of the weights that a Transformer's run folder must have, computed without torch.

Every conversion is based on this tree: what a format calls `q_proj` or `linear_0` is a part of one of these arrays.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from manyheads.config.tasks.translation import TranslationConfig
from manyheads.runs.weights import Arrays, check_names, read_weights, shapes

Shapes = dict[str, tuple[int, ...]]


def weight_tree(config: TranslationConfig) -> Shapes:
    """Return the shape of every array in `model.safetensors`; a tied matrix is stored once, as `output`."""
    model = config.transformer
    tree = _embeddings(config)
    for index in range(model.encoder_layers):
        name = f"encoder.layers.{index}"
        tree |= _layer(name, ("attention",), model.width, model.feed_forward)
        tree |= _relative_positions(f"{name}.attention", config)
    for index in range(model.decoder_layers):
        name = f"decoder.layers.{index}"
        tree |= _layer(name, ("self_attention", "cross_attention"), model.width, model.feed_forward)
        tree |= _relative_positions(f"{name}.self_attention", config)
    if model.norm == "pre":
        for stack in ("encoder", "decoder"):
            tree |= _pair(f"{stack}.final_norm", (model.width,))
    return tree


def unsupported_keys(config: TranslationConfig, *, positions: Collection[str]) -> list[str]:
    """Return the keys, with their values, that a format with full attention and these positions does not support."""
    if config.model.kind != "transformer":
        return [f"model.kind: {config.model.kind}"]
    model = config.transformer
    kind = model.positions.kind
    found = [] if kind in positions else [f"model.positions.kind: {kind}"]
    if model.attention.kind != "dot_product":
        found.append(f"model.attention.kind: {model.attention.kind}")
    if model.decoder_attention is not None and model.decoder_attention.kind != "dot_product":
        found.append(f"model.decoder_attention.kind: {model.decoder_attention.kind}")
    return found


def read_checked(path: Path, config: TranslationConfig) -> Arrays:
    """Read a run's weights; one error lists everything that is missing, unknown or of the wrong shape."""
    arrays = read_weights(path)
    check_names(shapes(arrays.items()), weight_tree(config), where=str(path))
    return arrays


def source_vectors(config: TranslationConfig) -> str:
    """Return the name of the matrix that embeds the source [V, D]."""
    return "output" if config.transformer.tie == "all" else "source.vectors"


def target_vectors(config: TranslationConfig) -> str:
    """Return the name of the matrix that embeds the target [V, D]."""
    return "target.vectors" if config.transformer.tie == "none" else "output"


def _embeddings(config: TranslationConfig) -> Shapes:
    """Return the shapes of the embeddings, the output layer and learned positions."""
    model = config.transformer
    tree: Shapes = {"output": (config.target_vocabulary, model.width)}
    if model.output_bias:
        tree["bias"] = (config.target_vocabulary,)
    tree[source_vectors(config)] = (config.source_vocabulary, model.width)
    tree[target_vectors(config)] = (config.target_vocabulary, model.width)
    if model.positions.kind == "learned":
        for side in ("source", "target"):
            tree[f"{side}.positions.table"] = (model.positions.maximum, model.width)
    return tree


def _layer(name: str, attentions: tuple[str, ...], width: int, inner: int) -> Shapes:
    """Return the shapes of one layer: its attentions, its feed-forward network, and a norm for each of them."""
    tree: Shapes = {}
    for attention in attentions:
        tree[f"{name}.{attention}.inputs"] = (3 * width, width)
        tree[f"{name}.{attention}.inputs_bias"] = (3 * width,)
        tree |= _pair(f"{name}.{attention}.output", (width, width))
    tree |= _pair(f"{name}.feed_forward.widen", (inner, width))
    tree |= _pair(f"{name}.feed_forward.narrow", (width, inner))
    for sublayer in (*attentions, "feed_forward"):
        tree |= _pair(f"{name}.{sublayer}_norm.norm", (width,))
    return tree


def _relative_positions(attention: str, config: TranslationConfig) -> Shapes:
    """Return the shapes of the relative position vectors of a self-attention, if it has them."""
    model = config.transformer
    if model.positions.kind != "relative":
        return {}
    shape = (2 * model.positions.clip + 1, model.width // model.heads)
    return {f"{attention}.positions.{name}": shape for name in ("keys", "values")}


def _pair(name: str, shape: tuple[int, ...]) -> Shapes:
    """Return the shapes of a weight and its bias."""
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
