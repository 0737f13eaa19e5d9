"""A BERT from Hugging Face: the same numbers here as there, and one sentence for each folder that is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bert import minilm, tiny_folder
from manyheads.encoding.encoder import Encoder
from manyheads.errors import ManyheadsError
from manyheads.exchange.bert import import_bert, read_bert
from manyheads.runs.weights import read_weights, weights_bytes

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

PARITY = 1e-4

TEXT = "the cat sat on a mat while rain fell quietly over old roofs and nobody came home that evening"
WORDS = TEXT.split()
ODD = [
    "", " ", "\t", ".", "😀 👩‍👩‍👧 🇩🇪", "中文没有空格", "日本語とEnglish混ざった", "Ünïcödé naïve café", "мир",
    "مرحبا بالعالم", "[MASK] [SEP] [CLS] [PAD]", "x" * 300, "word " * 700, "a\u200bb\u00a0c\ufeffd", "don't",
    "http://example.org/a?b=c&d=%20", "1,234.56 € + 7²", "\x00\x01 control", "ﬁ ligature", "e\u0301 combining",
    ("", ""), ("question?", ""), ("", "answer"), ("long " * 600, "short"), ("short", "long " * 600),
    ("so " * 400, "long " * 400), ("Wer?", "Niemand. 😀"), ("[SEP]", "[CLS]"),
]  # fmt: skip


def varied(count: int) -> list[Any]:
    """Return texts and pairs of every kind and length."""
    texts: list[Any] = list(ODD)
    for number in range(count - len(texts)):
        begin, length = number % 11, 1 + number * 7 % 60
        text = " ".join((WORDS * 6)[begin : begin + length])
        texts.append((text, text[::-1]) if number % 5 == 0 else text)
    return texts


def theirs(tokenizer: Any, texts: list[Any]) -> Any:
    """Tokenise texts and pairs as transformers does, one batch of each."""
    rows = [tokenizer([text], truncation=True) for text in texts]
    return tokenizer.pad([{name: row[name][0] for name in row} for row in rows], return_tensors="pt")


def test_real_weights_give_hugging_faces_numbers(tmp_path: Path):
    """200 varied sentences: the same tokens, and the same last hidden state to 1e-4."""
    import_bert(minilm(), tmp_path / "run")
    bert = Encoder.from_folder(tmp_path / "run", device="cpu")
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm())
    reference = transformers.BertModel.from_pretrained(minilm()).eval()
    texts = sorted(varied(200), key=lambda text: len(text if isinstance(text, str) else "".join(text)))
    for begin in range(0, 200, 20):
        batch = texts[begin : begin + 20]
        expected = theirs(tokenizer, batch)
        found = bert.tokenize(batch)
        for name in found._fields:
            assert torch.equal(getattr(found, name), expected[name]), name
        encoded = bert.encode(batch)
        assert torch.equal(encoded.attention_mask, expected["attention_mask"])
        with torch.inference_mode():
            states = reference(**expected).last_hidden_state
        assert float((encoded.last_hidden_state - states).abs().max()) < PARITY


@pytest.mark.parametrize("activation", ["gelu", "relu", "silu"])
def test_a_tiny_random_model_gives_the_same_numbers(tmp_path: Path, activation: str):
    folder = tiny_folder(tmp_path / "theirs", hidden_act=activation)
    bert = Encoder.from_folder(folder, device="cpu")
    reference = transformers.BertModel.from_pretrained(folder).eval()
    inputs = bert.tokenize(["a b c", "the 中 ab", "", ("a", "b . ?"), "a b c d e f g h " * 9])
    assert inputs.input_ids.shape == (5, 20)
    with torch.inference_mode():
        expected = reference(**inputs._asdict())
        states = bert.model(inputs)
        assert float((states - expected.last_hidden_state).abs().max()) < PARITY
        assert float((bert.model.pooler(states) - expected.pooler_output).abs().max()) < PARITY


def test_the_word_head_comes_along(tmp_path: Path):
    folder = tiny_folder(tmp_path / "theirs", kind="BertForMaskedLM")
    bert = Encoder.from_folder(folder, device="cpu")
    assert bert.model.pooler is None
    reference = transformers.BertForMaskedLM.from_pretrained(folder).eval()
    inputs = bert.tokenize(["a [MASK] c", "b"])
    with torch.inference_mode():
        found = bert.model.word_logits(bert.model(inputs))
        assert float((found - reference(**inputs._asdict()).logits).abs().max()) < PARITY


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        ("BertForSequenceClassification", ["classifier.bias", "classifier.weight"]),
        ("BertForQuestionAnswering", ["qa_outputs.bias", "qa_outputs.weight"]),
        ("BertForPreTraining", ["cls.seq_relationship.bias", "cls.seq_relationship.weight"]),
    ],
)
def test_a_head_that_is_left_out_is_named(tmp_path: Path, kind: str, head: list[str], command: Callable[..., Any]):
    folder = tiny_folder(tmp_path / "theirs", kind=kind)
    command("import", folder, "--out", tmp_path / "run").succeeds("Left out", ", ".join(head))
    assert ", ".join(head) in (tmp_path / "run" / "card.md").read_text(encoding="utf-8")


def test_old_names_and_half_precision_are_understood(tmp_path: Path):
    folder = tiny_folder(tmp_path / "theirs")
    path = folder / "model.safetensors"
    expected = read_bert(folder).weights
    old = {
        f"bert.{name}".replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): array
        for name, array in read_weights(path).items()
    }
    old["bert.embeddings.position_ids"] = np.arange(20)[None]
    path.write_bytes(weights_bytes({name: array.astype(np.float16) for name, array in old.items()}))
    found = read_bert(folder).weights
    assert found.keys() == expected.keys()
    for name, array in found.items():
        assert array.dtype == np.float32
        np.testing.assert_allclose(array, expected[name], rtol=1e-3, atol=1e-4)


def test_bfloat16_is_understood(tmp_path: Path):
    folder = tiny_folder(tmp_path / "theirs")
    expected = read_bert(folder).weights
    transformers.BertModel.from_pretrained(folder, dtype=torch.bfloat16).save_pretrained(folder)
    for name, array in read_bert(folder).weights.items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-2, atol=1e-2)


def test_a_run_is_written_once_and_is_the_same_model(tmp_path: Path, contents: Callable[[Path], dict[str, bytes]]):
    folder = tiny_folder(tmp_path / "theirs")
    import_bert(folder, tmp_path / "run")
    assert set(contents(tmp_path / "run")) == {
        "card.md",
        "checksums.json",
        "config.json",
        "model.safetensors",
        "tokenizer/tokenizer.json",
    }
    texts = ["a b", ("c", "d")]
    here, there = (Encoder.from_folder(place, device="cpu").encode(texts) for place in (tmp_path / "run", folder))
    assert torch.equal(here.last_hidden_state, there.last_hidden_state)
    before = contents(tmp_path / "run")
    with pytest.raises(ManyheadsError, match="there is something already"):
        import_bert(folder, tmp_path / "run")
    assert contents(tmp_path / "run") == before


# --- Faults: each names everything, and nothing is written -----------------------------------------------------------


@pytest.fixture
def refused(tmp_path: Path, command: Callable[..., Any]) -> Callable[..., str]:
    """`refused(folder, words…)` imports, checks the sentence, and that nothing was written."""

    def check(folder: Path, *words: str) -> str:
        before = sorted(tmp_path.iterdir())
        sentence = command("import", folder, "--out", tmp_path / "run").refuses(*words)
        assert sorted(tmp_path.iterdir()) == before
        return sentence

    return check


def test_missing_unknown_and_misshapen_weights_are_told_at_once(tmp_path: Path, refused: Callable[..., str]):
    folder = tiny_folder(tmp_path / "theirs")
    path = folder / "model.safetensors"
    weights = read_weights(path)
    del weights["encoder.layer.1.attention.self.key.bias"], weights["embeddings.LayerNorm.weight"]
    weights["encoder.layer.0.adapter.weight"] = np.zeros(3, dtype=np.float32)
    weights["encoder.layer.0.output.dense.weight"] = np.zeros((16, 25), dtype=np.float32)
    path.write_bytes(weights_bytes(weights))
    refused(
        folder,
        "missing: encoder.layer.1.attention.self.key.bias (16,)",
        "missing: embeddings.LayerNorm.weight (16,)",
        "unknown: encoder.layer.0.adapter.weight",
        "wrong shape: encoder.layer.0.output.dense.weight is (16, 25), (16, 24) is expected",
    )


def test_an_untied_output_layer_is_refused(tmp_path: Path, refused: Callable[..., str]):
    folder = tiny_folder(tmp_path / "theirs", kind="BertForMaskedLM")
    path = folder / "model.safetensors"
    weights = read_weights(path)
    weights["cls.predictions.decoder.weight"] = np.zeros((23, 16), dtype=np.float32)
    path.write_bytes(weights_bytes(weights))
    refused(folder, "unknown: cls.predictions.decoder.weight")


def change_config(folder: Path, **changes: Any) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")
    return folder


def test_settings_that_are_not_understood_are_all_named(tmp_path: Path, refused: Callable[..., str]):
    folder = change_config(
        tiny_folder(tmp_path / "theirs"),
        hidden_act="gelu_new",
        position_embedding_type="relative_key",
        is_decoder=True,
        intermediate_size=0,
    )
    refused(
        folder, "4 things are wrong", "'hidden_act'", "'position_embedding_type'", "'is_decoder'", "'intermediate_size'"
    )


def test_another_architecture_is_refused(tmp_path: Path, refused: Callable[..., str]):
    folder = change_config(tiny_folder(tmp_path / "theirs"), model_type="roberta")
    refused(folder, "roberta", "bert")


def test_a_pickle_is_refused_unread(tmp_path: Path, refused: Callable[..., str]):
    folder = tiny_folder(tmp_path / "theirs")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    refused(folder, "pytorch_model.bin", "pickle", "safetensors")


def test_damaged_weights_are_told(tmp_path: Path, refused: Callable[..., str]):
    folder = tiny_folder(tmp_path / "theirs")
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    refused(folder, "the weights are damaged")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("config.json", None, "no config.json"),
        ("config.json", "{", "this is not JSON"),
        ("config.json", "[]", "JSON object"),
        ("vocab.txt", None, "no tokenizer"),
        ("model.safetensors", None, "no model.safetensors"),
    ],
)
def test_a_missing_or_broken_file_is_told(
    tmp_path: Path, refused: Callable[..., str], name: str, content: str | None, words: str
):
    folder = tiny_folder(tmp_path / "theirs")
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_text(content, encoding="utf-8")
    refused(folder, words)


def test_a_tokenizer_with_more_pieces_than_the_model_knows_is_refused(tmp_path: Path, refused: Callable[..., str]):
    folder = tiny_folder(tmp_path / "theirs")
    with (folder / "vocab.txt").open("a", encoding="utf-8") as file:
        file.write("extra\n")
    refused(folder, "24 pieces", "23 tokens")


def test_no_folder_is_told(tmp_path: Path, refused: Callable[..., str]):
    refused(tmp_path / "nowhere", "there is no such folder")


def test_a_bert_does_not_translate(tmp_path: Path, command: Callable[..., Any]):
    import_bert(tiny_folder(tmp_path / "theirs"), tmp_path / "run")
    command("translate", "--model", tmp_path / "run", "a").refuses(
        "this run is a model for encoding", "manyheads encode"
    )
