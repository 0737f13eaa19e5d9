"""JoeyNMT 2.3.0 with its own trainer, stopped when its time is over.

Its validations are off: weights are kept by the clock instead, and scored afterwards. Two things keep it from running
with current packages. It requires a protobuf that current packages do not accept, so it is installed without its
requirements. And PyTorch's ReduceLROnPlateau has no argument `verbose` any more, so that is dropped.
"""

from __future__ import annotations

from typing import Any

import joeynmt.builders
import joeynmt.training
import torch
from joeynmt.batch import Batch
from joeynmt.config import parse_global_args
from joeynmt.prediction import predict, prepare
from timed_part import OUTPUT, Clock, Part, run, train_pieces, write_lines
from torch.optim.lr_scheduler import ReduceLROnPlateau

NEVER = 10**9
LONGEST = 100  # tokens; longer pairs are not trained on, longer outputs are cut
SETTINGS: dict[str, dict[str, Any]] = {
    # The Transformer of notebooks/joey_demo.ipynb in JoeyNMT's repository, its introduction to training on Tatoeba with
    # 4,000 BPE pieces, in the words of version 2.3.0 (1.4, for which it was written, had only layer normalisation
    # first). Its validations are 2,000 updates apart: in 20 minutes on two cores its schedule changes nothing. It skips
    # pairs of more than 30 pieces and advises to extend that, which is done.
    "tutorial": {
        "layers": 6,
        "width": 256,
        "feed_forward": 1024,
        "dropout": 0.3,
        "embedding_dropout": 0.2,
        "layer_norm": "pre",
        "training": {
            "scheduling": "plateau",
            "patience": 5,
            "decrease_factor": 0.7,
            "learning_rate": 0.0003,
            "batch_size": 4096,
        },
    },
    # Half as deep, smaller batches and three times the rate, with a warm-up.
    "shallow": {
        "layers": 3,
        "width": 256,
        "feed_forward": 1024,
        "dropout": 0.1,
        "embedding_dropout": 0.1,
        "layer_norm": "pre",
        "training": {
            "scheduling": "warmupinversesquareroot",
            "learning_rate": 0.001,
            "learning_rate_warmup": 400,
            "batch_size": 1024,
            "clip_grad_norm": 1.0,
        },
    },
    # Half as wide as well: more updates in the same time, at a higher rate.
    "narrow": {
        "layers": 3,
        "width": 128,
        "feed_forward": 512,
        "dropout": 0.1,
        "embedding_dropout": 0.1,
        "layer_norm": "pre",
        "training": {
            "scheduling": "warmupinversesquareroot",
            "learning_rate": 0.003,
            "learning_rate_warmup": 400,
            "batch_size": 1024,
            "clip_grad_norm": 1.0,
        },
    },
    # The shallow one with batches twice as large and the schedule of the paper.
    "noam": {
        "layers": 3,
        "width": 256,
        "feed_forward": 1024,
        "dropout": 0.1,
        "embedding_dropout": 0.1,
        "layer_norm": "pre",
        "training": {
            "scheduling": "noam",
            "learning_rate_factor": 0.5,  # at most 0.0016
            "learning_rate_warmup": 400,
            "adam_betas": [0.9, 0.98],
            "batch_size": 2048,
        },
    },
}


def configuration(part: Part) -> dict[str, Any]:
    """Return the configuration that a user would write as YAML."""
    setting = SETTINGS[part.setting]
    half = {
        "type": "transformer",
        "num_layers": setting["layers"],
        "num_heads": 4,
        "embeddings": {"embedding_dim": setting["width"], "scale": True, "dropout": setting["embedding_dropout"]},
        "hidden_size": setting["width"],
        "ff_size": setting["feed_forward"],
        "dropout": setting["dropout"],
        "layer_norm": setting["layer_norm"],
    }
    side = {
        "level": "bpe",
        "max_length": LONGEST,
        "voc_file": str(part.folder / "vocabulary.txt"),
        "tokenizer_type": "sentencepiece",
        "tokenizer_cfg": {"model_file": str(part.folder / "pieces.model")},
    }
    texts = {name: part.texts[f"{name}.source"].removesuffix(".source") for name in ("train", "valid")}
    return {
        "name": part.setting,
        "model_dir": str(part.folder / "model"),
        "use_cuda": False,
        "data": {
            "train": texts["train"],
            "dev": texts["valid"],
            "dataset_type": "plain",
            "src": {"lang": "source", **side},
            "trg": {"lang": "target", **side},
        },
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.999],
            "learning_rate_min": 1e-8,
            "normalization": "tokens",
            "label_smoothing": 0.1,
            "batch_type": "token",
            "early_stopping_metric": "ppl",
            "epochs": NEVER,
            "validation_freq": NEVER,
            "logging_freq": 100,
            **setting["training"],
        },
        "testing": {
            "beam_size": part.beam,
            "beam_alpha": 1.0,
            "batch_size": 2048,
            "batch_type": "token",
            "max_output_length": LONGEST,
        },
        "model": {
            "initializer": "xavier_uniform",
            "bias_initializer": "zeros",
            "embed_initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": half,
            "decoder": half,
        },
    }


def plateau(*, verbose: bool, **settings: Any) -> ReduceLROnPlateau:  # noqa: ANN401
    """Return PyTorch's scheduler, which has no argument `verbose` any more."""
    return ReduceLROnPlateau(**settings)


class Timed(joeynmt.training.TrainManager):
    """JoeyNMT's trainer, which keeps weights by a clock, and which the clock interrupts as Ctrl-C would."""

    part: Part

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **named)
        self.clock = Clock(self.part)

    def _train_step(self, batch: Batch) -> tuple[float, int]:
        """Look at the clock before each batch."""
        if self.clock.is_due():
            torch.save(self.model.state_dict(), self.part.keep(self.clock.seconds) / "weights.pt")
        if self.clock.is_over:
            parameters = sum(parameter.numel() for parameter in self.model.parameters())
            self.part.facts(parameters=parameters, vocabulary=len(self.model.trg_vocab), updates=self.stats.steps)
            raise KeyboardInterrupt
        answer: tuple[float, int] = super()._train_step(batch)
        return answer


def train(part: Part) -> None:
    """Train the tokenizer and the model."""
    import sentencepiece

    train_pieces(part, part.folder / "pieces", unk_id=0, pad_id=1, bos_id=2, eos_id=3)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(part.folder / "pieces.model"))
    words = [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]
    (part.folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    (part.folder / "model").mkdir()
    joeynmt.builders.ReduceLROnPlateau = plateau
    Timed.part, joeynmt.training.TrainManager = part, Timed
    joeynmt.training.train(rank=0, world_size=0, cfg=configuration(part), skip_test=True)


def translate(part: Part) -> None:
    """Translate the validation source with all weights that were kept."""
    arguments = parse_global_args(configuration(part), rank=0, mode="train")
    model, _, valid, _ = prepare(arguments, rank=0, mode="train")
    for kept in part.kept():
        model.load_state_dict(torch.load(kept / "weights.pt", map_location="cpu"))
        outputs = predict(
            model=model,
            data=valid,
            device=torch.device("cpu"),
            n_gpu=0,
            args=arguments.test,
            autocast=arguments.autocast,
        )[2]
        write_lines(kept / OUTPUT, outputs)


if __name__ == "__main__":
    run(train, translate)
