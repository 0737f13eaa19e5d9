"""The names and shapes of the weights that a Transformer's run folder must have, computed without torch.

Every conversion is based on this tree: what a format calls `q_proj` or `linear_0` is a part of one of these arrays.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from manyheads.config.models.positions import RelativeSettings, T5Settings
from manyheads.config.models.transformer import TransformerSettings
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.runs.weights import Arrays, check_names, read_weights, shapes

Shapes = dict[str, tuple[int, ...]]


def weight_tree(config: TranslationConfig) -> Shapes:
    """Return the shape of every array in `model.safetensors`; a tied matrix is stored once, as `output`."""
    model = config.transformer
    tree = _embeddings(config)
    for index in range(model.encoder_layers):
        name = f"encoder.layers.{index}"
        tree |= _layer(name, ("attention",), model)
        tree |= _positions_of_attention(f"{name}.attention", model)
    for index in range(model.decoder_layers):
        name = f"decoder.layers.{index}"
        tree |= _layer(name, ("self_attention", "cross_attention"), model)
        tree |= _positions_of_attention(f"{name}.self_attention", model)
    if model.norm == "pre":
        for stack in ("encoder", "decoder"):
            tree |= _norm(f"{stack}.final_norm", model)
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


def _layer(name: str, attentions: tuple[str, ...], model: TransformerSettings) -> Shapes:
    """Return the shapes of one layer: its attentions, its feed-forward network, and a norm for each of them."""
    tree: Shapes = {}
    for attention in attentions:
        tree |= _attention(f"{name}.{attention}", model, crosses=attention == "cross_attention")
    for matrix in ("gate", "widen") if model.gated else ("widen",):
        tree |= _linear(f"{name}.feed_forward.{matrix}", (model.feed_forward, model.width), model)
    tree |= _linear(f"{name}.feed_forward.narrow", (model.width, model.feed_forward), model)
    for sublayer in (*attentions, "feed_forward"):
        tree |= _norm(f"{name}.{sublayer}_norm.norm", model)
    return tree


def _attention(name: str, model: TransformerSettings, *, crosses: bool) -> Shapes:
    """Return the shapes of an attention: its projections, and the norms of queries and keys, if it has them."""
    tree: Shapes = {f"{name}.inputs": (3 * model.width, model.width)}
    if model.biases:
        tree[f"{name}.inputs_bias"] = (3 * model.width,)
    tree |= _linear(f"{name}.output", (model.width, model.width), model)
    if model.query_key_norm == "all" or (model.query_key_norm == "self" and not crosses):
        head = (model.width // model.heads,)
        tree |= {f"{name}.query_key_norm.{side}.weight": head for side in ("queries", "keys")}
    return tree


def _positions_of_attention(attention: str, model: TransformerSettings) -> Shapes:
    """Return the shapes of the trained positions of a self-attention, if it has any."""
    match model.positions:
        case RelativeSettings(clip=clip):
            shape = (2 * clip + 1, model.width // model.heads)
            return {f"{attention}.positions.{name}": shape for name in ("keys", "values")}
        case T5Settings(buckets=buckets):
            return {f"{attention}.positions.table": (buckets, model.heads)}
    return {}


def _linear(name: str, shape: tuple[int, ...], model: TransformerSettings) -> Shapes:
    """Return the shapes of a matrix, and of its bias if linear layers have one."""
    return {f"{name}.weight": shape} | ({f"{name}.bias": shape[:1]} if model.biases else {})


def _norm(name: str, model: TransformerSettings) -> Shapes:
    """Return the shapes of a norm's γ and, of LayerNorm, β."""
    parts = ("weight", "bias") if model.norm_kind == "layer" else ("weight",)
    return {f"{name}.{part}": (model.width,) for part in parts}
