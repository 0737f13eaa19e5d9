"""A BERT from Hugging Face (config.json, model.safetensors, tokenizer files) as a run folder.

`required_weights` lists the required weights by their Hugging Face names. One error names all weights that are missing,
unknown or of another shape, before anything is written. The query, key and value projections become one packed matrix.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from manyheads.bounded.files import MOST_SETTINGS, read_bytes
from manyheads.bounded.json_text import parse_settings
from manyheads.config.messages import build
from manyheads.config.models.attention import DotProductSettings
from manyheads.config.models.bert import BertSettings
from manyheads.config.tasks.reading import ReadingConfig
from manyheads.data.tokens.wordpiece import FILE, FIRST, MASK, PAD, SEPARATOR, UNKNOWN, WordPiece
from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import new_folder
from manyheads.runs.card import text_of
from manyheads.runs.checksums import cover
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import Arrays, check_names, read_float32, shapes, weights_bytes

Shapes = dict[str, tuple[int, ...]]

POOLER = "pooler.dense."
WORD_HEAD = "cls.predictions."
TIED = {"cls.predictions.decoder.weight": "embeddings.word_embeddings.weight"}
TIED_BIAS = {"cls.predictions.decoder.bias": "cls.predictions.bias"}
# Heads that are not imported: sentence order of pretraining, and any head that was fine-tuned on top.
OTHER_HEADS = ("cls.seq_relationship.", "classifier.", "qa_outputs.")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


class HuggingFaceBert(BaseModel):
    """The keys of Hugging Face's config.json that are read, with the values that are supported."""

    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=(), allow_inf_nan=False)

    vocab_size: int = Field(ge=1)
    hidden_size: int = Field(ge=1)
    num_hidden_layers: int = Field(ge=1)
    num_attention_heads: int = Field(ge=1)
    intermediate_size: int = Field(ge=1)
    hidden_act: Literal["gelu", "relu", "silu", "swish"] = "gelu"
    hidden_dropout_prob: float = Field(0.1, ge=0.0, lt=1.0)
    attention_probs_dropout_prob: float = Field(0.1, ge=0.0, lt=1.0)
    max_position_embeddings: int = Field(512, ge=3)
    type_vocab_size: int = Field(2, ge=1)
    layer_norm_eps: float = Field(1e-12, gt=0.0)
    position_embedding_type: Literal["absolute"] = "absolute"
    is_decoder: Literal[False] = False
    add_cross_attention: Literal[False] = False

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        """The width of a head must be whole."""
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(f"hidden_size {self.hidden_size} is not divisible by {self.num_attention_heads} heads")
        return self

    def settings(self, *, pooler: bool, word_head: bool, origin: str) -> BertSettings:
        """Return the same settings as in a recipe."""
        values = {
            "width": self.hidden_size,
            "heads": self.num_attention_heads,
            "layers": self.num_hidden_layers,
            "feed_forward": self.intermediate_size,
            "positions": self.max_position_embeddings,
            "segments": self.type_vocab_size,
            "dropout": self.hidden_dropout_prob,
            "attention": DotProductSettings(dropout=self.attention_probs_dropout_prob),
            "activation": "swish" if self.hidden_act in ("silu", "swish") else self.hidden_act,
            "norm_epsilon": self.layer_norm_eps,
            "pooler": pooler,
            "word_head": word_head,
        }
        return build(BertSettings, values, origin=origin)


@dataclass(frozen=True)
class ImportedBert:
    """An imported BERT: its configuration, its weights by the names of this package, its tokenizer, and omissions."""

    config: ReadingConfig
    weights: Arrays
    tokenizer: WordPiece
    left_out: tuple[str, ...]


def import_bert(folder: Path, out: Path) -> ImportedBert:
    """Write a Hugging Face folder as a run folder, completely or not at all."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ManyheadsError("there is something already.", where=str(out), cure="Choose another folder with --out.")
    bert = read_bert(folder)
    with new_folder(out) as draft:
        run = RunFolder(draft)
        run.config_file.write_text(bert.config.model_dump_json(indent=2) + "\n", encoding="utf-8")
        run.weights_file.write_bytes(weights_bytes(bert.weights))
        run.tokenizer_folder.mkdir()
        (run.tokenizer_folder / FILE).write_text(bert.tokenizer.text(), encoding="utf-8")
        run.card_file.write_text(_card(bert, folder), encoding="utf-8")
        cover(draft)
    return bert


def read_bert(folder: Path) -> ImportedBert:
    """Read a Hugging Face folder; one error names all problems of a kind."""
    hugging_face = _config(folder)
    arrays, left_out = _plain_names(read_float32(_weights_file(folder)))
    settings = hugging_face.settings(
        pooler=any(name.startswith(POOLER) for name in arrays),
        word_head=any(name.startswith(WORD_HEAD) for name in arrays),
        origin=str(folder / "config.json"),
    )
    required = required_weights(settings, vocabulary=hugging_face.vocab_size)
    check_names(shapes(arrays.items()), required, where=str(folder))
    tokenizer = WordPiece.load(folder)
    if len(tokenizer) > hugging_face.vocab_size:
        raise ManyheadsError(
            f"the tokenizer has {len(tokenizer):,} pieces but the model has {hugging_face.vocab_size:,} tokens.",
            where=str(folder),
        )
    special = tokenizer.special
    config = ReadingConfig(
        model=settings,
        vocabulary=hugging_face.vocab_size,
        pad=special[PAD],
        unknown=special[UNKNOWN],
        first=special[FIRST],
        separator=special[SEPARATOR],
        mask=special[MASK],
    )
    return ImportedBert(config, _renamed(arrays, settings), tokenizer, left_out)


def is_hugging_face(folder: Path) -> bool:
    """Whether a folder is a Hugging Face model of any kind: its config.json has a model_type."""
    return hugging_face_type(folder) is not None


def hugging_face_type(folder: Path) -> str | None:
    """Return the model_type in a folder's config.json, if there is one."""
    try:
        values = parse_settings(read_bytes(folder / "config.json", most=MOST_SETTINGS))
    except (OSError, ValueError, ManyheadsError):
        return None
    return str(values["model_type"]) if isinstance(values, dict) and "model_type" in values else None


def required_weights(settings: BertSettings, *, vocabulary: int) -> Shapes:
    """Return the shape of every weight of such a model, by its Hugging Face name."""
    width = settings.width
    tree: Shapes = {
        "embeddings.word_embeddings.weight": (vocabulary, width),
        "embeddings.position_embeddings.weight": (settings.positions, width),
        "embeddings.token_type_embeddings.weight": (settings.segments, width),
        **_norm("embeddings.LayerNorm.", width),
    }
    for number in range(settings.layers):
        tree |= _layer(f"encoder.layer.{number}.", width, settings.feed_forward)
    if settings.pooler:
        tree |= _linear(POOLER, width, width)
    if settings.word_head:
        tree |= _linear(f"{WORD_HEAD}transform.dense.", width, width)
        tree |= _norm(f"{WORD_HEAD}transform.LayerNorm.", width)
        tree[f"{WORD_HEAD}bias"] = (vocabulary,)
    return tree


def _layer(prefix: str, width: int, inner: int) -> Shapes:
    """Return the weights of one encoder layer."""
    attention = f"{prefix}attention."
    return {
        **_linear(f"{attention}self.query.", width, width),
        **_linear(f"{attention}self.key.", width, width),
        **_linear(f"{attention}self.value.", width, width),
        **_linear(f"{attention}output.dense.", width, width),
        **_norm(f"{attention}output.LayerNorm.", width),
        **_linear(f"{prefix}intermediate.dense.", width, inner),
        **_linear(f"{prefix}output.dense.", inner, width),
        **_norm(f"{prefix}output.LayerNorm.", width),
    }


def _linear(prefix: str, inputs: int, outputs: int) -> Shapes:
    """Return the weights of a linear layer."""
    return {f"{prefix}weight": (outputs, inputs), f"{prefix}bias": (outputs,)}


def _norm(prefix: str, width: int) -> Shapes:
    """Return the weights of a LayerNorm."""
    return {f"{prefix}weight": (width,), f"{prefix}bias": (width,)}


def _renamed(arrays: Arrays, settings: BertSettings) -> Arrays:
    """Return checked weights by the names of this package."""
    renamed: Arrays = {}
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.position_embeddings.weight", "embedding.positions.table"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        *_both("embeddings.LayerNorm", "embedding.norm"),
    ]
    for number in range(settings.layers):
        layer, own = f"encoder.layer.{number}", f"encoder.layers.{number}"
        pairs += _both(f"{layer}.attention.output.dense", f"{own}.attention.output")
        pairs += _both(f"{layer}.attention.output.LayerNorm", f"{own}.attention_norm.norm")
        pairs += _both(f"{layer}.intermediate.dense", f"{own}.feed_forward.widen")
        pairs += _both(f"{layer}.output.dense", f"{own}.feed_forward.narrow")
        pairs += _both(f"{layer}.output.LayerNorm", f"{own}.feed_forward_norm.norm")
        for kind, name in (("weight", "inputs"), ("bias", "inputs_bias")):
            parts = [arrays[f"{layer}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            renamed[f"{own}.attention.{name}"] = np.concatenate(parts)
    if settings.pooler:
        pairs += _both("pooler.dense", "pooler.layer")
    if settings.word_head:
        pairs += _both("cls.predictions.transform.dense", "word_head.layer")
        pairs += _both("cls.predictions.transform.LayerNorm", "word_head.norm")
        pairs += [("cls.predictions.bias", "word_head.bias")]
    return renamed | {own: arrays[name] for name, own in pairs}


def _both(old: str, new: str) -> list[tuple[str, str]]:
    """Return the names of a layer's weight and bias in Hugging Face and in this package."""
    return [(f"{old}.{kind}", f"{new}.{kind}") for kind in ("weight", "bias")]


def _plain_names(arrays: Arrays) -> tuple[Arrays, tuple[str, ...]]:
    """Return the weights as a bare BertModel names them, and the names of the heads that were left out.

    A model with a head has `bert.` before the encoder's names, old models call a norm's weights gamma and beta, tied
    weights may occur twice, and position_ids are not weights.
    """
    plain: Arrays = {}
    left_out = []
    for name, array in arrays.items():
        own = re.sub(r"gamma$", "weight", re.sub(r"beta$", "bias", name.removeprefix("bert.")))
        if own.startswith(OTHER_HEADS):
            left_out.append(own)
        elif own != "embeddings.position_ids":
            plain[own] = array
    for copy, original in (TIED | TIED_BIAS).items():
        if copy in plain and original in plain and np.array_equal(plain[copy], plain[original]):
            del plain[copy]
    return plain, tuple(sorted(left_out))


def _weights_file(folder: Path) -> Path:
    """Return the safetensors file of a folder; a pickle is an error, since reading one can run any code."""
    path = folder / "model.safetensors"
    if path.exists():
        return path
    pickles = sorted(file.name for pattern in PICKLES for file in folder.glob(pattern))
    if pickles:
        raise ManyheadsError(
            f"the weights are there as a pickle only ({', '.join(pickles)}), and reading a pickle can run any program.",
            where=str(folder),
            cure="Get the model's model.safetensors, or make one with transformers' save_pretrained.",
        )
    raise ManyheadsError("there is no model.safetensors.", where=str(folder))


def _config(folder: Path) -> HuggingFaceBert:
    """Return the folder's config.json, if it is that of a BERT."""
    values = _read_json(folder)
    if values.get("model_type") != "bert":
        raise ManyheadsError(
            f"this is not a BERT: its model_type is {values.get('model_type')!r}.",
            where=str(folder / "config.json"),
            cure="Of encoders, model_type 'bert' can be imported.",
        )
    return build(HuggingFaceBert, values, origin=str(folder / "config.json"))


def _read_json(folder: Path) -> dict[str, Any]:
    """Return what a folder's config.json says."""
    path = folder / "config.json"
    if not folder.is_dir():
        raise ManyheadsError("there is no such folder.", where=str(folder))
    try:
        values = parse_settings(read_bytes(path, most=MOST_SETTINGS))
    except FileNotFoundError:
        raise ManyheadsError("this folder has no config.json, so it is not a model.", where=str(folder)) from None
    except (OSError, ValueError) as error:
        raise ManyheadsError(f"this is not JSON: {error}.", where=str(path)) from None
    if not isinstance(values, dict):
        raise ManyheadsError("this is not a configuration: it must be a JSON object.", where=str(path))
    return values


def _card(bert: ImportedBert, folder: Path) -> str:
    """Return the card of an imported model."""
    model = bert.config.model
    facts = {
        "model": f"bert, {sum(array.size for array in bert.weights.values()):,} parameters",
        "size": f"{model.layers} layers, width {model.width}, {model.heads} heads",
        "imported from": folder.name,
        "left out": ", ".join(bert.left_out) or "nothing",
    }
    return text_of(folder.name, facts=facts)
