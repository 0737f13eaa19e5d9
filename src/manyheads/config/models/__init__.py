"""The models of recipes: the settings of each, and which models a kind of task can use.

| file | what it is |
|---|---|
| `base` | what the settings of every model have |
| `layers` | what the settings of every stack of Transformer layers have |
| `attention`, `positions` | the parts that several models have, by kind |
| `transformer` | the paper's encoder–decoder |
| `bert` | the encoder alone |
| `universal` | an encoder–decoder of one layer each, applied again and again |
| `universal_language_model` | the decoder alone, of one layer |
| `universal_facts` | the encoder alone, of one layer, over facts |
| `recurrent` | recurrent layers, with attention or without |
| `conv_s2s` | gated convolutions with attention |
| `bytenet` | dilated convolutions without attention |
| `language_model` | the decoder alone |
| `transformer_xl` | the decoder alone, with a memory of earlier text |
| `compressive` | the same, with a compressed memory of still earlier text |
| `remembering` | what the settings of the last two have |
| `neural_gpu` | repeated convolutions over an image of the source |
| `memory_network` | attention over facts, in several hops |
"""

from __future__ import annotations

from typing import Annotated

from manyheads.config.models.bert import BertSettings
from manyheads.config.models.bytenet import ByteNetSettings
from manyheads.config.models.compressive import CompressiveSettings
from manyheads.config.models.conv_s2s import ConvS2SSettings
from manyheads.config.models.language_model import LanguageModelSettings
from manyheads.config.models.memory_network import MemoryNetworkSettings
from manyheads.config.models.neural_gpu import NeuralGPUSettings
from manyheads.config.models.recurrent import RecurrentSettings
from manyheads.config.models.transformer import TransformerSettings
from manyheads.config.models.transformer_xl import TransformerXLSettings
from manyheads.config.models.universal import UniversalSettings
from manyheads.config.models.universal_facts import UniversalFactsSettings
from manyheads.config.models.universal_language_model import UniversalLanguageModelSettings
from manyheads.config.unions import Kinds

TranslationModel = Annotated[
    TransformerSettings | RecurrentSettings | ConvS2SSettings | ByteNetSettings | NeuralGPUSettings | UniversalSettings,
    Kinds("transformer", noun="models"),
]
"""Models that read one sequence and write another."""

LanguageModelChoice = Annotated[
    LanguageModelSettings | TransformerXLSettings | CompressiveSettings | UniversalLanguageModelSettings,
    Kinds("language_model", noun="models"),
]
"""Models that continue a text."""

MemoryModel = Annotated[MemoryNetworkSettings | UniversalFactsSettings, Kinds("memory_network", noun="models")]
"""Models that answer questions about facts."""

EncoderSettings = BertSettings
EncoderModel = Annotated[EncoderSettings, Kinds("bert", noun="models")]
"""Models that read a text, or a pair of texts, in both directions."""
