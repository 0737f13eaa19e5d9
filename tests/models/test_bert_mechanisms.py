"""An encoder for long documents may have any attention; padding changes nothing, and neither do saving and loading."""

from pathlib import Path

import pytest
import torch

from helpers import greatest_difference, stir
from manyheads.attention.longformer import LongformerAttention
from manyheads.config.bert import BertConfig, BertSettings
from manyheads.config.messages import build
from manyheads.data.tokens.wordpiece import FILE, WordPiece
from manyheads.encoding.bert import Bert
from manyheads.errors import ManyheadsError
from manyheads.models.bert import BertInputs, BertModel
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import parameter_arrays
from manyheads.runs.weights import weights_bytes

SIZES = {"width": 16, "heads": 4, "layers": 2, "feed_forward": 32, "positions": 48, "dropout": 0.0, "pooler": False}
KINDS = {
    "window": {"kind": "window", "window": 2},
    "longformer": {"kind": "window", "window": 2, "global_tokens": 1},
    "bigbird": {"kind": "bigbird", "block": 3, "random_blocks": 1},
    "performer": {"kind": "performer", "features": 12},
    "linear": {"kind": "linear"},
    "linformer": {"kind": "linformer", "rank": 6, "length": 48},
    "hashing": {"kind": "hashing", "chunk": 64},
}


def inputs_of(row: list[int], length: int) -> BertInputs:
    ids = torch.tensor([[*row, *[5] * (length - len(row))]])  # padding is not even padding
    return BertInputs(ids, (torch.arange(length) < len(row))[None].long(), torch.zeros_like(ids))


@pytest.mark.parametrize("name", KINDS)
def test_padding_changes_nothing(name: str):
    settings = BertSettings(**SIZES, attention=KINDS[name])
    model = stir(BertModel.from_settings(settings, vocabulary=11), seed=4).eval()
    row = [1 + i * i % 9 for i in range(29)]
    with torch.inference_mode():
        alone, padded = (model(inputs_of(row, length))[0, : len(row)] for length in (29, 47))
    assert greatest_difference(alone, padded) < 2e-5
    has_global = any(isinstance(part, LongformerAttention) for part in model.modules())
    assert has_global == (name == "longformer")


@pytest.mark.parametrize("name", KINDS)
def test_a_run_folder_gives_the_model_back(name: str, tmp_path: Path):
    tokenizer = WordPiece.train(["a b c d e f g"] * 9, vocabulary=30)
    settings = BertSettings(**SIZES, attention=KINDS[name])
    model = stir(BertModel.from_settings(settings, vocabulary=len(tokenizer)), seed=4).eval()
    run = RunFolder(tmp_path)
    run.tokenizer_folder.mkdir()
    (run.tokenizer_folder / FILE).write_text(tokenizer.text(), encoding="utf-8")
    run.config_file.write_text(BertConfig(model=settings, vocabulary=len(tokenizer)).model_dump_json())
    run.weights_file.write_bytes(weights_bytes(parameter_arrays(model)))
    loaded = Bert.from_folder(tmp_path, device="cpu")
    text = "a b c d e f g a b c d e f g a b c"
    with torch.inference_mode():
        assert torch.equal(loaded.encode([text]).last_hidden_state, model(loaded.tokenize([text])))


def test_linformer_must_reach_as_far_as_the_positions():
    with pytest.raises(ManyheadsError, match=r"attention.length 32 is below the 48 positions"):
        build(BertSettings, {**SIZES, "attention": {"kind": "linformer", "length": 32, "rank": 8}}, origin="x")
