"""From a configuration to a model, of the kind that it names."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import nn

from manyheads.bounded.machine import require_memory
from manyheads.config.model_config import ConfigBase
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
from manyheads.models.bert import BertModel
from manyheads.models.bytenet import ByteNet
from manyheads.models.compressive import CompressiveTransformer
from manyheads.models.conv_s2s import ConvS2S
from manyheads.models.language_model import TransformerLanguageModel
from manyheads.models.memory_network import MemoryNetwork
from manyheads.models.neural_gpu import NeuralGPU
from manyheads.models.recurrent import Recurrent
from manyheads.models.transformer import Transformer
from manyheads.models.transformer_xl import TransformerXL
from manyheads.models.universal import Universal
from manyheads.models.universal_facts import UniversalFacts
from manyheads.models.universal_language_model import UniversalLanguageModel

M = TypeVar("M", bound=nn.Module)


def build_model(config: ConfigBase, *, device: torch.device | str = "cpu") -> nn.Module:
    """Build the configured model with fresh weights; on the device "meta" it takes no memory."""
    source, target = config.vocabulary_sizes
    if str(device) == "cpu":
        what = "the weights of this model"
        require_memory(config.model.bytes_needed(source, target), what, cure="Lower its sizes.")
    with torch.device(device):
        match config.model:
            case TransformerSettings() as settings:
                return Transformer.from_settings(settings, source_vocabulary=source, target_vocabulary=target)
            case RecurrentSettings() as settings:
                return Recurrent.from_settings(settings, source_vocabulary=source, target_vocabulary=target)
            case UniversalSettings() as settings:
                return Universal.from_settings(settings, source_vocabulary=source, target_vocabulary=target)
            case ConvS2SSettings() as settings:
                return ConvS2S.from_settings(settings, source_vocabulary=source, target_vocabulary=target)
            case ByteNetSettings() as settings:
                return ByteNet.from_settings(settings, source_vocabulary=source, target_vocabulary=target)
            case NeuralGPUSettings() as settings:
                return NeuralGPU.from_settings(settings, source_vocabulary=source, target_vocabulary=target)
            case LanguageModelSettings() as settings:
                return TransformerLanguageModel.from_settings(settings, vocabulary=source)
            case TransformerXLSettings() as settings:
                return TransformerXL.from_settings(settings, vocabulary=source)
            case CompressiveSettings() as settings:
                return CompressiveTransformer.from_settings(settings, vocabulary=source)
            case UniversalLanguageModelSettings() as settings:
                return UniversalLanguageModel.from_settings(settings, vocabulary=source)
            case BertSettings() as settings:
                return BertModel.from_settings(settings, vocabulary=source)
            case MemoryNetworkSettings() as settings:
                return MemoryNetwork.from_settings(settings, vocabulary=source)
            case UniversalFactsSettings() as settings:
                return UniversalFacts.from_settings(settings, vocabulary=source)
    raise AssertionError(f"no model is built from {config.model.kind} settings")


def build(kind: type[M], config: ConfigBase, *, device: torch.device | str = "cpu") -> M:
    """Build the configured model, which is of a kind such as `SequenceToSequence`."""
    model = build_model(config, device=device)
    assert isinstance(model, kind), f"a {config.model.kind} is no {kind.__name__}"
    return model
