"""To Hugging Face's Marian and back: the same logits, the same text, the same bytes."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import torch

from manyheads import ManyheadsError, Translator
from manyheads.config.models.transformer import TransformerSettings
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.exchange.comparison import compare
from manyheads.exchange.huggingface import export_huggingface, import_huggingface
from manyheads.exchange.sinusoids import halves, sinusoid_table
from manyheads.exchange.tree import weight_tree
from manyheads.models.build import build_model
from manyheads.positions.sinusoidal import sinusoids
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import read_weights, weights_bytes
from run_folders import change_json, make_run, pairs

transformers = pytest.importorskip("transformers")

BIN = "pytorch_model.bin"

UNIGRAM = {"kind": "unigram"}
SEPARATE = {"shared": False, "target": {"kind": "unigram", "vocabulary": 60}}
SHAPES: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "gelu, output bias": {"activation": "gelu", "output_bias": True},
    "swish, starts with padding": {"activation": "swish", "tokenizer": {"start": "pad"}},
    "starts with the end": {"tokenizer": {"start": "end", **UNIGRAM}},
    "target tied": {"tie": "target"},
    "nothing tied": {"tie": "none", "output_bias": True},
    "two vocabularies": {"tie": "target", "tokenizer": SEPARATE},
    "two vocabularies, nothing tied": {"tie": "none", "tokenizer": SEPARATE},
    "odd width": {"width": 33, "heads": 3},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_model_goes_there_and_comes_back_as_it_was(shape: dict[str, Any], tmp_path: Path):
    run = make_run(tmp_path / "run", **shape)
    export_huggingface(run, tmp_path / "there")
    assert compare(run.path, tmp_path / "there") < 1e-4
    import_huggingface(tmp_path / "there", tmp_path / "back")
    back = RunFolder.open(tmp_path / "back")
    assert back.weights_file.read_bytes() == run.weights_file.read_bytes()
    assert back.config() == run.config()
    assert back.tokenizers().files() == run.tokenizers().files()
    assert back.recipe().decoding.model_dump(exclude={"extra_length"}) == run.recipe().decoding.model_dump(
        exclude={"extra_length"}
    )
    assert back.recipe().tokenizer.start == run.recipe().tokenizer.start
    assert "imported from" in back.card_file.read_text(encoding="utf-8")


@pytest.mark.parametrize("changes", [{}, {"norm": "pre"}, {"tie": "target"}, {"tie": "none", "output_bias": True}])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_the_tree_names_every_parameter(changes: dict[str, Any], positions: str):
    sizes = {"width": 8, "heads": 2, "encoder_layers": 2, "decoder_layers": 1, "feed_forward": 12}
    model = TransformerSettings(**sizes, **changes, positions={"kind": positions, "maximum": 7})
    config = TranslationConfig(model=model, source_vocabulary=9, target_vocabulary=9)
    found = {name: tuple(one.shape) for name, one in build_model(config).named_parameters()}
    assert weight_tree(config) == found


@pytest.mark.parametrize("width", [6, 7])
def test_the_table_is_the_models(width: int):
    assert np.abs(sinusoid_table(300, width) - sinusoids(torch.arange(300), width).numpy()).max() < 1e-6
    assert sorted(halves(width)) == list(range(width))


# --- Text ------------------------------------------------------------------------------------------------------------


def generate(folder: Path, texts: list[str], **options: Any) -> list[str]:
    """Translate with Hugging Face alone, in batches of 100."""
    model = transformers.MarianMTModel.from_pretrained(folder).eval()
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    outputs = []
    for begin in range(0, len(texts), 100):
        batch = tokenizer(texts[begin : begin + 100], return_tensors="pt", padding=True)
        found = model.generate(**batch, early_stopping=False, max_length=60, **options)
        outputs += tokenizer.batch_decode(found, skip_special_tokens=True)
    return outputs


@pytest.mark.parametrize(("beam", "alpha", "at_least"), [(1, 0.0, 500), (4, 0.0, 495), (4, 1.0, 495)])
def test_a_trained_model_gives_the_same_text_in_hugging_face(
    reverse_run: Path, tmp_path: Path, beam: int, alpha: float, at_least: int
):
    """Half of the texts are longer than those it learned from, where it is unsure of itself."""
    export_huggingface(RunFolder.open(reverse_run), tmp_path / "there")
    drawn = random.Random(7)
    texts = [" ".join(drawn.choices("abcdefgh", k=drawn.randint(1, 12))) for _ in range(500)]
    ours = Translator(reverse_run, engine="torch").translate(
        texts, beam=beam, length_penalty=alpha, penalty_form="power"
    )
    theirs = generate(tmp_path / "there", texts, num_beams=beam, length_penalty=alpha)
    assert sum(a == b for a, b in zip(ours, theirs, strict=True)) >= at_least
    assert len(set(ours)) > 400


def test_a_trained_folder_written_by_hugging_face_is_imported(reverse_run: Path, tmp_path: Path):
    """A folder written by `save_pretrained` is imported, and gives the same text on both engines."""
    export_huggingface(RunFolder.open(reverse_run), tmp_path / "there")
    transformers.MarianMTModel.from_pretrained(tmp_path / "there").save_pretrained(tmp_path / "saved")
    transformers.MarianTokenizer.from_pretrained(tmp_path / "there").save_pretrained(tmp_path / "saved")
    import_huggingface(tmp_path / "saved", tmp_path / "run")
    drawn = random.Random(8)
    texts = [" ".join(drawn.choices("abcdefgh", k=drawn.randint(1, 12))) for _ in range(500)]
    theirs = generate(tmp_path / "saved", texts, num_beams=1)
    assert Translator(tmp_path / "run", engine="torch").translate(texts, beam=1) == theirs
    fast = Translator(tmp_path / "run", engine="ctranslate2").translate(texts, beam=1)
    assert sum(a == b for a, b in zip(fast, theirs, strict=True)) >= 498


@pytest.mark.parametrize("tokenizer", [{}, UNIGRAM, SEPARATE, {"kind": "characters", "vocabulary": None}], ids=str)
def test_text_is_tokenized_the_same_in_hugging_face(tokenizer: dict[str, Any], tmp_path: Path):
    run = make_run(tmp_path / "run", tokenizer=tokenizer, tie="target")
    export_huggingface(run, tmp_path / "there")
    theirs, ours = transformers.MarianTokenizer.from_pretrained(tmp_path / "there"), run.tokenizers()
    end = run.config().end
    for pair in [*pairs(60), ("  ☃ two  blanks ☃☃ ", "x☃y")]:
        assert theirs(pair[0])["input_ids"] == [*ours.source.encode(pair[0]), end]
        target = ours.target.encode(pair[1])
        assert theirs(text_target=pair[1])["input_ids"] == [*target, end]
        if 1 not in target:  # an unknown piece is shown in different ways
            assert theirs.decode([*target, end], skip_special_tokens=True) == ours.target.decode([*target, end])


# --- Folders that Hugging Face or others made ------------------------------------------------------------------------


def opus_folder(folder: Path, *, kind: str = "unigram", share: bool = True) -> Path:
    """Make a folder as OPUS-MT's are: two SentencePiece models over one vocabulary, in an order of its own."""
    folder.mkdir()
    for side, texts in (("source", [one.source for one in pairs()]), ("target", [one.target for one in pairs()])):
        (folder / "text").write_text("\n".join(texts), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text"),
            model_prefix=str(folder / side),
            vocab_size=400 if side == "source" else 100,
            character_coverage=0.99,
            model_type=kind,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
        (folder / f"{side}.vocab").unlink()
    (folder / "text").unlink()
    models = [
        sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{one}.spm")) for one in ("source", "target")
    ]
    pieces = {model.id_to_piece(i) for model in models for i in range(model.get_piece_size())}
    # Pieces that the training data never showed are missing, as they are in real ones.
    kept = sorted(pieces - {"</s>", "<unk>", "<s>"} - {"▁November", "▁de"}, reverse=True)
    vocabulary = ["</s>", "<unk>", ">>fra<<", *kept, "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(vocabulary)}), encoding="utf-8")
    pad = len(vocabulary) - 1
    config = transformers.MarianConfig(
        vocab_size=len(vocabulary),
        decoder_vocab_size=len(vocabulary),
        d_model=16,
        **{f"{side}_{key}": value for side in ("encoder", "decoder") for key, value in SIZES.items()},
        scale_embedding=True,
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=0,
        share_encoder_decoder_embeddings=share,
        activation_function="swish",
        max_position_embeddings=64,
    )
    torch.manual_seed(1)
    model = transformers.MarianMTModel(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                parameter.copy_(torch.randn_like(parameter) * (1.0 if parameter.dim() > 1 else 0.3))
        model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias))
        model.final_logits_bias[:, pad] = -100.0
    model.save_pretrained(folder)
    transformers.MarianTokenizer.from_pretrained(folder, source_lang="en", target_lang="fr").save_pretrained(folder)
    return folder


SIZES = {"layers": 1, "attention_heads": 2, "ffn_dim": 24}


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word"])
@pytest.mark.parametrize("share", [True, False])
def test_a_folder_made_by_hugging_face_is_imported(kind: str, share: bool, tmp_path: Path):
    folder = opus_folder(tmp_path / "opus", kind=kind, share=share)
    import_huggingface(folder, tmp_path / "run")
    assert compare(tmp_path / "run", folder) < 1e-4
    run = RunFolder.open(tmp_path / "run")
    theirs, ours, config = transformers.MarianTokenizer.from_pretrained(folder), run.tokenizers(), run.config()
    assert (config.start, config.end, config.unknown) == (config.pad, 0, 1)
    assert config.model.output_bias and config.model.activation == "swish"
    for text in [*(one.source for one in pairs()), "☃ 12 ☃", ">>fra<< 1 May", ""]:
        assert theirs(text)["input_ids"] == [*ours.source.encode(text), 0]
    for pair in pairs():
        ids = theirs(text_target=pair.target)["input_ids"]
        assert ids == [*ours.target.encode(pair.target), 0]
        if 1 not in ids:
            assert ours.target.decode(ids) == theirs.decode(ids, skip_special_tokens=True)
    assert run.recipe().data.source_language == "en"


def test_pieces_that_the_vocabulary_leaves_out_are_unknown(tmp_path: Path):
    import_huggingface(opus_folder(tmp_path / "opus"), tmp_path / "run")
    tokenizer = RunFolder.open(tmp_path / "run").tokenizers().source
    assert len(tokenizer) == RunFolder.open(tmp_path / "run").config().source_vocabulary
    assert tokenizer.encode("1 November")[-1] == 1
    assert max(max(tokenizer.encode(one.source)) for one in pairs()) < len(tokenizer)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_an_imported_model_goes_back(kind: str, tmp_path: Path):
    folder = opus_folder(tmp_path / "opus", kind=kind)
    import_huggingface(folder, tmp_path / "run")
    export_huggingface(RunFolder.open(tmp_path / "run"), tmp_path / "again")
    first, second = (read_weights(one / "model.safetensors") for one in (folder, tmp_path / "again"))
    assert weights_bytes(first) == weights_bytes(second)
    before, after = (transformers.MarianTokenizer.from_pretrained(one) for one in (folder, tmp_path / "again"))
    assert before.get_vocab() == after.get_vocab()
    for pair in pairs():
        assert before(pair.source)["input_ids"] == after(pair.source)["input_ids"]
        ids = before(text_target=pair.target)["input_ids"]
        assert ids == after(text_target=pair.target)["input_ids"]
        assert before.decode(ids) == after.decode(ids)
    import_huggingface(tmp_path / "again", tmp_path / "last")
    assert (tmp_path / "last" / "model.safetensors").read_bytes() == (
        tmp_path / "run" / "model.safetensors"
    ).read_bytes()


def test_an_imported_model_translates_as_there(tmp_path: Path):
    folder = opus_folder(tmp_path / "opus")
    import_huggingface(folder, tmp_path / "run")
    texts = [one.source for one in pairs(40) if any(map(str.isalpha, one.source))]
    ours = Translator(tmp_path / "run", engine="torch").translations(
        texts, beam=1, length_penalty=0.0, extra_length=100, split_above=0
    )
    theirs = generate(
        folder, texts, num_beams=1, bad_words_ids=[[len(json.loads((folder / "vocab.json").read_text())) - 1]]
    )
    finished = [(one.text, text) for one, text in zip(ours, theirs, strict=True) if one.warning is None]
    assert all(text == other for text, other in finished if "⁇" not in text)


def test_copies_of_tied_arrays_and_position_tables_are_allowed(tmp_path: Path):
    folder = opus_folder(tmp_path / "opus")
    arrays = read_weights(folder / "model.safetensors")
    embedding = arrays.pop("model.shared.weight")
    arrays |= {"lm_head.weight": embedding, "model.encoder.embed_tokens.weight": embedding}
    arrays["model.encoder.embed_positions.weight"] = sinusoid_table(64, 16)[:, halves(16)].astype(np.float16)
    (folder / "model.safetensors").write_bytes(weights_bytes(arrays))
    import_huggingface(folder, tmp_path / "run")
    arrays["lm_head.weight"] = embedding + 1
    (folder / "model.safetensors").write_bytes(weights_bytes(arrays))
    refuses(folder, tmp_path, "should be the same", "lm_head.weight")


# --- Refusals --------------------------------------------------------------------------------------------------------


def refuses(folder: Path, tmp_path: Path, *words: str) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ManyheadsError) as error:
        import_huggingface(folder, tmp_path / "refused")
    for word in words:
        assert word in str(error.value)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("shape", "word"),
    [
        ({"norm": "pre"}, "model.norm: pre"),
        ({"positions": {"kind": "learned", "maximum": 50}}, "model.positions.kind: learned"),
        ({"positions": {"kind": "relative"}}, "model.positions.kind: relative"),
        ({"positions": {"kind": "rotary"}}, "model.positions.kind: rotary"),
        ({"positions": {"kind": "alibi"}}, "model.positions.kind: alibi"),
    ],
)
def test_settings_that_marian_does_not_support_are_named(shape: dict[str, Any], word: str, tmp_path: Path):
    run = make_run(tmp_path / "run", **shape)
    with pytest.raises(ManyheadsError, match=word):
        export_huggingface(run, tmp_path / "there")
    assert not (tmp_path / "there").exists()


def test_nothing_is_ever_overwritten(tmp_path: Path):
    run = make_run(tmp_path / "run")
    (tmp_path / "there").mkdir()
    export_huggingface(run, tmp_path / "there")  # an empty folder is as good as none
    with pytest.raises(ManyheadsError, match="there is something here already"):
        export_huggingface(run, tmp_path / "there")
    with pytest.raises(ManyheadsError, match="there is something here already"):
        import_huggingface(tmp_path / "there", tmp_path / "run")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model_type": "bart"}, ["type 'bart' cannot be imported"]),
        ({"normalize_before": True, "add_final_layer_norm": True}, ["normalize_before: True", "add_final_layer_norm"]),
        ({"scale_embedding": None}, ["scale_embedding: false"]),
        ({"decoder_ffn_dim": 5}, ["decoder_ffn_dim: 5 beside encoder_ffn_dim: 24"]),
        ({"activation_function": "gelu_new"}, ["activation_function: gelu_new"]),
        ({"eos_token_id": [0, 1]}, ["eos_token_id: [0, 1]"]),
        ({"d_model": None, "encoder_layers": None}, ["missing: d_model, encoder_layers"]),
        ({"encoder_attention_heads": 3, "decoder_attention_heads": 3}, ["16 is not divisible by 3 heads"]),
        ({"encoder_layers": 2}, ["missing: model.encoder.layers.1.self_attn.q_proj.weight (16, 16)", "layers.1.fc2"]),
        ({"decoder_layers": "many"}, ["decoder_layers"]),
        ({"vocab_size": 20}, ["wrong shape: model.shared.weight"]),
        ({"tie_word_embeddings": False}, ["share_encoder_decoder_embeddings: true beside tie_word_embeddings: false"]),
    ],
)
def test_settings_that_our_model_does_not_support_are_named(changes: dict[str, Any], words: list[str], tmp_path: Path):
    folder = opus_folder(tmp_path / "opus")
    change_json(folder / "config.json", **changes)
    refuses(folder, tmp_path, *words)


def test_a_pickle_is_never_read(tmp_path: Path):
    folder = opus_folder(tmp_path / "opus")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    refuses(folder, tmp_path, "no model.safetensors", "pickles", "save_pretrained")


def test_the_comparison_reads_no_pickle_either(tmp_path: Path, opened: Counter[Path]):
    folder = opus_folder(tmp_path / "opus")
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")  # a name that transformers does not look for
    torch.save(transformers.MarianMTModel.from_pretrained(opus_folder(tmp_path / "other")).state_dict(), folder / BIN)
    opened.clear()
    import_huggingface(folder, tmp_path / "run", check=lambda run, source: compare(run, source) and None)
    assert not opened[folder / BIN]
    hostile = {"metadata": {}, "weight_map": {"model.shared.weight": BIN}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(hostile))
    assert compare(tmp_path / "run", folder) < 1e-4
    assert not opened[folder / BIN]


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "source.spm", "target.spm"])
@pytest.mark.parametrize("damage", ["missing", "nonsense"])
def test_a_folder_must_be_whole(name: str, damage: str, tmp_path: Path):
    folder = opus_folder(tmp_path / "opus")
    if damage == "missing":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(b"[1, 2")
    refuses(folder, tmp_path, name)


def test_learned_positions_are_told_from_sinusoids(tmp_path: Path):
    folder = opus_folder(tmp_path / "opus")
    arrays = read_weights(folder / "model.safetensors")
    arrays["model.decoder.embed_positions.weight"] = np.ones((64, 16), dtype=np.float32)
    (folder / "model.safetensors").write_bytes(weights_bytes(arrays))
    refuses(folder, tmp_path, "positions of the decoder are not Marian's sinusoids")


def test_a_vocabulary_must_fit(tmp_path: Path):
    folder = opus_folder(tmp_path / "opus")
    change_json(folder / "vocab.json", one_more=10_000)
    refuses(folder, tmp_path, "an id of its own below")


# --- The commands ----------------------------------------------------------------------------------------------------


def test_the_commands_compare_and_say_so(command: Callable[..., Any], copy_run: Path, tmp_path: Path):
    there, back = tmp_path / "there", tmp_path / "back"
    command("export", copy_run, "--to", "huggingface", "--out", there).succeeds("logits differ by at most")
    command("import", there, "--out", back).succeeds("logits differ by at most")
    assert (back / "model.safetensors").read_bytes() == (copy_run / "model.safetensors").read_bytes()
    assert command("translate", "--model", back, "a b c").out == "a b c\n"
    command("import", tmp_path / "no", "--out", tmp_path / "x").refuses("there is no such folder")


def test_a_comparison_that_fails_leaves_nothing(tmp_path: Path):
    run = make_run(tmp_path / "run")
    other = make_run(tmp_path / "other", seed=2)
    shutil.copy(other.weights_file, tmp_path / "weights")

    def differs(_: Path, folder: Path) -> None:
        compare(other.path, folder)

    with pytest.raises(ManyheadsError, match="give different outputs"):
        export_huggingface(run, tmp_path / "there", check=differs)
    assert not (tmp_path / "there").exists()


def test_without_transformers_nothing_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("manyheads.exchange.comparison.find_spec", lambda _: None)
    assert compare(tmp_path, tmp_path) is None
