"""Manyheads: the Transformer of "Attention Is All You Need", complete.

    from manyheads import Translator
    Translator("runs/dates").translate("15 novembre 2026")  # '2026-11-15'

Names are loaded when they are first used, so that importing the package costs nothing.

| room | what is in it |
|---|---|
| `bounded/` | readers with limits |
| `errors` | the exception for mistakes of a user, with its cure |
| `extras` | packages that only some uses need |
| `processor`, `memory`, `disk` | the features of the processor, the handling of freed memory, waiting for the disk |
| `config/` | recipes: the typed description of a run |
| `documents/` | documents as people translate them |
| `positions/` | positional encodings |
| `attention/` | attention: mechanisms, masks, heads |
| `layers/` | the layers of the paper's figure 1 |
| `models/` | whole models |
| `data/` | from text files to batches |
| `metrics/` | BLEU, chrF, error rates, significance tests |
| `runs/` | the run folder |
| `exchange/` | import from, and export to, other toolkits |
| `decoding/` | from a model to text |
| `encoding/` | from text to vectors, labels and answers |
| `tasks/` | what is learned, and how it is measured |
| `training/` | the training loop |
| `evaluation/` | the evaluation and comparison of runs |
| `inspection/` | attention weights, decoding steps and the beam of a run, and pictures of them |
| `serving/` | the HTTP server and its web page |
| `studies/` | questions about models, answered by measurements |
| `cli/` | the command |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manyheads.attention.masks import Mask as Mask
    from manyheads.attention.multi_head import MultiHeadAttention as MultiHeadAttention
    from manyheads.attention.recording import record_attention as record_attention
    from manyheads.attention.switching import switch_off as switch_off
    from manyheads.decoding.generator import Generator as Generator
    from manyheads.decoding.translator import Translator as Translator
    from manyheads.encoding.encoder import Encoder as Encoder
    from manyheads.errors import ManyheadsError as ManyheadsError
    from manyheads.evaluation.evaluate import evaluate as evaluate
    from manyheads.evaluation.result import Evaluation as Evaluation
    from manyheads.inspection.inspector import Inspector as Inspector
    from manyheads.models.transformer import Transformer as Transformer
    from manyheads.studies.forecast import Forecast as Forecast
    from manyheads.studies.plan import plan as plan
    from manyheads.training.describe import Description as Description
    from manyheads.training.describe import describe as describe
    from manyheads.training.resolve import validate as validate
    from manyheads.training.train import train as train

__version__ = "0.1.0"

_PLACES = {
    "Description": "manyheads.training.describe",
    "Encoder": "manyheads.encoding.encoder",
    "Evaluation": "manyheads.evaluation.result",
    "Forecast": "manyheads.studies.forecast",
    "Generator": "manyheads.decoding.generator",
    "Inspector": "manyheads.inspection.inspector",
    "ManyheadsError": "manyheads.errors",
    "Mask": "manyheads.attention.masks",
    "MultiHeadAttention": "manyheads.attention.multi_head",
    "Transformer": "manyheads.models.transformer",
    "Translator": "manyheads.decoding.translator",
    "describe": "manyheads.training.describe",
    "evaluate": "manyheads.evaluation.evaluate",
    "plan": "manyheads.studies.plan",
    "record_attention": "manyheads.attention.recording",
    "switch_off": "manyheads.attention.switching",
    "train": "manyheads.training.train",
    "validate": "manyheads.training.resolve",
}
_RENAMED = {"Bert": "Encoder"}  # names of version 0.1.0

__all__ = [*_PLACES, "__version__"]


def __dir__() -> list[str]:
    """Return the names of the package, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    """Import a public name from its room on first use."""
    if name in _RENAMED:
        import warnings

        warnings.warn(f"manyheads.{name} is called manyheads.{_RENAMED[name]} now.", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name not in _PLACES:
        raise AttributeError(f"module 'manyheads' has no attribute '{name}'")
    from manyheads.extras import naming_extras

    with naming_extras(f"manyheads.{name}"):
        return getattr(import_module(_PLACES[name]), name)
