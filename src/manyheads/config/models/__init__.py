"""The models of recipes: the settings of each, and which models a kind of task can use.

| file | what it is |
|---|---|
| `base` | what the settings of every model have |
| `layers` | what the settings of every stack of Transformer layers have |
| `attention`, `positions` | the parts that several models have, by kind |
| `transformer` | the paper's encoder–decoder |
| `bert` | the encoder alone |
| `recurrent` | LSTMs with attention |
| `language_model` | the decoder alone |
"""

from __future__ import annotations

from typing import Annotated

from manyheads.config.models.bert import BertSettings
from manyheads.config.models.language_model import LanguageModelSettings
from manyheads.config.models.recurrent import RecurrentSettings
from manyheads.config.models.transformer import TransformerSettings
from manyheads.config.unions import Kinds

TranslationModel = Annotated[TransformerSettings | RecurrentSettings, Kinds("transformer", noun="models")]
"""Models that read one sequence and write another."""

LanguageModelChoice = Annotated[LanguageModelSettings, Kinds("language_model", noun="models")]
"""Models that continue a text."""

EncoderSettings = BertSettings
EncoderModel = Annotated[EncoderSettings, Kinds("bert", noun="models")]
"""Models that read a text, or a pair of texts, in both directions."""
