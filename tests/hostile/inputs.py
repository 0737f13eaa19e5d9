"""Hostile contents for every reader, by name: what was once a traceback, a hang or a crash, and what could be."""

from __future__ import annotations

import gzip
import json
import random
import struct
from collections.abc import Iterator
from pathlib import Path

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)
DIGITS = "9" * 5000


def yaml_texts() -> dict[str, bytes]:
    """Documents that are no recipe, or none that can be read."""
    texts: dict[str, str | bytes] = {
        "empty": "",
        "a billion laughs": LAUGHS,
        "laughs in merges": "a: &a {x: 1}\n" + "".join(f"b{i}: &b{i} {{<<: [*a, *a, *a]}}\n" for i in range(20)),
        "200,000 brackets": "[" * 200_000,
        "200,000 brackets in a key": "data: " + "[" * 200_000 + "]" * 200_000,
        "200,000 braces": "{a: " * 200_000,
        "deep blocks": "".join(f"{' ' * i}a:\n" for i in range(2000)),
        "a mapping that contains itself": "data: &d {train: *d}\n",
        "a list that contains itself": "data: &d [*d]\n",
        "an integer of 5,000 digits": f"seed: {DIGITS}\n",
        "a hexadecimal of 5,000 digits": f"seed: 0x{DIGITS}\n",
        "a sexagesimal of 300,000 digits": "seed: 1" + ":1" * 300_000 + "\n",
        "a float of 5,000 digits": f"seed: {DIGITS}.5\n",
        "a month 13": "name: 2026-13-01\n",
        "an hour 99": "name: 2026-01-01T99:00:00Z\n",
        "a number that is none": "seed: !!int abc\n",
        "an empty number": "seed: !!int ''\n",
        "a float that is none": "seed: !!float x\n",
        "a truth that is none": "seed: !!bool x\n",
        "a date that is none": "seed: !!timestamp x\n",
        "bytes that are none": "seed: !!binary é\n",
        "a Python object": "seed: !!python/object/apply:os.system [true]\n",
        "an unknown tag": "seed: !mine 1\n",
        "a set": "seed: !!set {a, b}\n",
        "pairs": "seed: !!pairs [a: 1]\n",
        "a key that is a list": "? [a, b]\n: 1\n",
        "a key that is a number": "1: 2\n",
        "a key that is a date": "2026-01-01: 2\n",
        "an alias without anchor": "seed: *nothing\n",
        "two documents": "seed: 1\n---\nseed: 2\n",
        "a tab": "data:\n\ttrain: x\n",
        "a NUL": b"name: a\0b\n",
        "a lone surrogate": 'name: "\\ud800"\n',
        "latin1": "name: Übung\n".encode("latin1"),
        "utf-16": "name: x\n".encode("utf-16"),
        "random bytes": random.Random(1).randbytes(4000),
        "2 MB": "a: b\n" * 400_000,
        "100,000 keys": "".join(f"k{i}: 1\n" for i in range(100_000)),
        "a list": "- a\n- b\n",
        "a text": "only words\n",
        "null": "null\n",
        "a quote that does not end": 'name: "abc\n',
        "infinity": "data: {train: {task: copy}}\ntraining: {schedule: {rate: .inf}}\n",
        "not a number": "data: {train: {task: copy}}\ntraining: {schedule: {rate: .nan}}\n",
    }
    return {name: text.encode() if isinstance(text, str) else text for name, text in texts.items()}


def settings_changes() -> list[str]:
    """Changes of a recipe that ask for what cannot be."""
    return [
        "model.encoder_layers=10000000",
        "model.decoder_layers=100000000000000000000",
        "model.width=1000000000000",
        "model.feed_forward=1000000000000000",
        "model.heads=1000000000000",
        "tokenizer.vocabulary=1000000000000",
        "tokenizer={kind: bpe, vocabulary: 1000000000000}",
        "decoding.beam=1000000",
        "seed=18446744073709551616",
        "seed=-99999999999999999999999",
        f"seed={DIGITS}",
        f"seed=0x{DIGITS}",
        "seed=.inf",
        "seed=.nan",
        "training.steps=1e400",
        f"training.steps={DIGITS}",
        "training.steps=10000000000000000000000",
        "training.batch_tokens=1" + "0" * 30,
        "training.schedule.rate=.inf",
        "training.schedule.rate=.nan",
        "training.clip_norm=.inf",
        "training.weight_decay=.inf",
        "training.epsilon=.nan",
        "training.betas=[0.9, 1.5]",
        "training.betas=[.nan, 0.9]",
        "start_from=/nowhere/at/all",
        "start_from=",
        "name=" + "n" * 300,
        'name="a\\0b"',
        "name=2026-13-01",
        "data.train.source=/nowhere",
        "data.train={source: /dev/zero, target: /dev/zero}",
        "data.train={pairs: /dev/zero}",
        'data.train={pairs: "a\\0b"}',
        "data.train={pairs: " + "x" * 5000 + "}",
        "data.train={pairs: ~nouserofthisname/x}",
        "data.train.task=[]",
        "data.train.options={max_length: 1000000000000}",
        "data.train.options={max_length: .inf}",
        "data.train.options=[" * 200,
        "data.train.weight=.inf",
        "data.max_length=1" + "0" * 25,
        "model.positions={kind: learned, maximum: 1000000000000000}",
        "model.positions={kind: relative, clip: 1000000000000000}",
        "model.attention={kind: linformer, rank: 1000000000, length: 1000000000}",
        "model.vectors={source: /dev/zero}",
        ".".join(["a"] * 5000) + "=1",
        "validation.every=[" + "[" * 3000,
        "=1",
        "seed",
    ]


def json_texts() -> dict[str, bytes]:
    """Files that are no configuration."""
    return {
        "empty": b"",
        "a list": b"[]",
        "a number": b"1",
        "null": b"null",
        "100,000 brackets": b"[" * 100_000,
        "100,000 braces": b'{"a":' * 100_000,
        "900 brackets": b'{"model": ' + b"[" * 900 + b"]" * 900 + b"}",
        "5,000 digits": b'{"pad": ' + DIGITS.encode() + b"}",
        "1e400": b'{"model": 1e400}',
        "not a number": b'{"model": NaN, "task": Infinity}',
        "cut off": b'{"model": {"width"',
        "latin1": '{"model": "ü"}'.encode("latin1"),
        "utf-16": '{"model": 1}'.encode("utf-16"),
        "random bytes": random.Random(2).randbytes(3000),
        "3 MB": b'{"a": "' + b"x" * 3_000_000 + b'"}',
        "a lone surrogate": b'{"task": "\\ud800"}',
        "zeros": b"\0" * 1000,
    }


def config_changes() -> dict[str, dict[str, object]]:
    """Changes of a run's `config.json`; keys with dots are inside sections."""
    return {
        "10^7 layers": {"model.encoder_layers": 10**7},
        "1,000 layers": {"model.encoder_layers": 1000},
        "a width of 10^12": {"model.width": 10**12},
        "a width of 40,000": {"model.width": 40_000},
        "a vocabulary of 10^12": {"source_vocabulary": 10**12, "target_vocabulary": 10**12},
        "a vocabulary of 10^9": {"source_vocabulary": 10**9, "target_vocabulary": 10**9},
        "a vocabulary of 1": {"source_vocabulary": 1, "target_vocabulary": 1},
        "pad beyond": {"pad": 10**6},
        "end beyond": {"end": 10**6},
        "start beyond": {"start": 2**62},
        "a negative id": {"unknown": -1},
        "an id that is text": {"unknown": "x"},
        "a model that is a list": {"model": [1]},
        "no model": {"model": None},
        "an unknown kind": {"model.kind": "gpt-9"},
        "a task that is a list": {"task": ["translation"]},
        "an unknown task": {"task": "x" * 3000},
        "another task": {"task": "language_model"},
        "a dropout of infinity": {"model.dropout": float("inf")},
        "heads that do not divide": {"model.heads": 7},
        "more heads": {"model.heads": 10**15},
        "an unknown key": {"surprise": 1},
        "many learned positions": {"model.positions": {"kind": "learned", "maximum": 10**11}},
        "a wide feed-forward": {"model.feed_forward": 10**11},
    }


def _safetensors(header: bytes, data: bytes = b"", *, size: int | None = None) -> bytes:
    """Return a safetensors file with a header of some size."""
    return struct.pack("<Q", len(header) if size is None else size) + header + data


def _tensor(kind: object = "F32", shape: object = None, offsets: object = None) -> bytes:
    """Return the header of one tensor."""
    described = {"dtype": kind, "shape": [1] if shape is None else shape, "data_offsets": offsets or [0, 4]}
    return json.dumps({"output": described}).encode()


def safetensors_files(good: bytes) -> dict[str, bytes]:
    """Files in place of weights."""
    chaos = random.Random(3)
    flipped = bytearray(good)
    for _ in range(40):
        flipped[chaos.randrange(2000)] ^= 1 << chaos.randrange(8)
    (size,) = struct.unpack_from("<Q", good)
    first = 8 + size  # the place of the first number
    return {
        **{
            name: good[:first] + struct.pack("<f", number) + good[first + 4 :]
            for name, number in (("not a number", float("nan")), ("infinity", float("inf")))
        },
        "empty": b"",
        "eight bytes": b"\0" * 8,
        "zeros": b"\0" * 5000,
        "cut off in the header": good[:300],
        "cut off in the weights": good[: len(good) // 2],
        "longer": good + b"\0" * 100,
        "a flipped header": bytes(flipped),
        "a header of 2^63": _safetensors(b"{}", size=2**63),
        "a header of 2^64-1": _safetensors(b"{}", size=2**64 - 1),
        "a header of 99 MB": _safetensors(b"{}", size=99_000_000),
        "no tensor": _safetensors(b"{}"),
        "a header that is a list": _safetensors(b"[]"),
        "a deep header": _safetensors(b'{"a":' * 20_000),
        "a shape of 2^62": _safetensors(_tensor(shape=[2**31, 2**31]), b"\0" * 4),
        "a negative shape": _safetensors(_tensor(shape=[-1]), b"\0" * 4),
        "offsets beyond": _safetensors(_tensor(offsets=[0, 2**40]), b"\0" * 4),
        "offsets that overlap": _safetensors(_tensor(offsets=[4, 0]), b"\0" * 4),
        "an unknown type": _safetensors(_tensor("F99"), b"\0" * 4),
        "bfloat16": _safetensors(_tensor("BF16", [2]), b"\0" * 4),
        "eight-bit floats": _safetensors(_tensor("F8_E4M3", [4]), b"\0" * 4),
        "a pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94.",
        "random bytes": chaos.randbytes(5000),
    }


def tokenizer_files(good: bytes) -> dict[str, bytes]:
    """Files in place of a SentencePiece model."""
    chaos = random.Random(4)
    files = {
        "empty": b"",
        "zeros": b"\0" * 3000,
        "text": b"not a model\n" * 50,
        "cut off": good[: len(good) // 2],
        "cut off after a byte": good[:1],
        "a varint without end": b"\xff" * 2000,
        "a piece of 2^60 bytes": b"\x0a" + b"\xff" * 8 + b"\x0f" + good,
        "an unknown wire type": b"\x0f" + good,
        "random bytes": chaos.randbytes(4000),
    }
    for number in range(6):
        flipped = bytearray(good)
        for _ in range(20):
            flipped[chaos.randrange(len(good))] ^= 1 << chaos.randrange(8)
        files[f"flipped {number}"] = bytes(flipped)
    return files


def corpora() -> dict[str, bytes]:
    """Texts that are none, each as one side of a corpus or as pairs."""
    return {
        "empty": b"",
        "only newlines": b"\n" * 1000,
        "only NULs": b"\0" * 10_000 + b"\n",
        "latin1": "Übung macht den Meister\n".encode("latin1") * 40,
        "utf-16": ("words here\n" * 40).encode("utf-16"),
        "lone surrogates": b"a \xed\xa0\x80 b\n" * 40,
        "random bytes": random.Random(5).randbytes(20_000),
        "a line of 8 MB": b"a" * 8_000_000 + b"\n",
        "8 MB of brackets": b"[" * 8_000_000,
        "one word of 65,536 characters": ("a" * 65_536 + "\tb\n" + "a b\ta b\n" * 60).encode(),
        "one word of 500,000 characters": ("ab" * 250_000 + "\tb\n" + "a b\ta b\n" * 60).encode(),
        "4,000 ligatures": ("\ufdfa" * 4000 + "\tb\n" + "a b\ta b\n" * 60).encode(),
        "an unclosed quote": b'"a\tb\n' + b"c\td\n" * 60,
        "one column": b"alone\n" * 50,
        "100,000 columns": b"\t".join([b"x"] * 100_000) + b"\n",
    }


def memories() -> dict[str, tuple[str, bytes]]:
    """Translation memories and catalogues, with the suffix of their names."""
    bomb = "".join(f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' for number in range(1, 20))
    unit = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>b</seg></tuv></tu>'
    tmx = '<tmx version="1.4"><header srclang="en"/><body>{}</body></tmx>'
    entry = 'msgid "a{}"\nmsgstr "b"\n'
    head = 'msgid ""\nmsgstr "Language: de\\n{}"\n\n'
    plural = 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\nmsgstr[{}] "d"\n'
    formula = "Plural-Forms: nplurals=2; plural={};\\n"
    texts = {
        "entity bomb.tmx": f'<!DOCTYPE tmx [<!ENTITY a0 "x">{bomb}]>' + tmx.format(unit.format("&a19;")),
        "external entity.tmx": '<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        + tmx.format(unit.format("&x;")),
        "100,000 levels.tmx": tmx.format("<tu>" * 100_000),
        "cut off.tmx": tmx.format(unit.format("a") * 50)[:-40],
        "a comment of 8 MB.tmx": tmx.format(f"<!--{'x' * 8_000_000}-->" + unit.format("a")),
        "a text of 100 MB.tmx": tmx.format(unit.format("x" * 100_000_000)),
        "no languages.tmx": tmx.format("<tu><tuv><seg>a</seg></tuv></tu>" * 50),
        "a wrong encoding.tmx": "<?xml version='1.0' encoding='utf-16'?>" + tmx.format(unit.format("ü") * 50),
        "entity bomb.xlf": f'<!DOCTYPE xliff [<!ENTITY a0 "x">{bomb}]><xliff>&a19;</xliff>',
        "not XLIFF.xlf": tmx.format(unit.format("a")),
        "100,000 levels.xlf": "<xliff><file><body>" + "<group>" * 100_000,
        "no end of a text.po": head.format("") + entry.format("")[:-3],
        "an entry twice.po": head.format("") + entry.format(1) + entry.format(2) + entry.format(1),
        "a form that is not.po": head.format(formula.format("n!=1")) + plural.format(7),
        "a division by zero.po": head.format(formula.format("1/0")) + plural.format(1),
        "a deep formula.po": head.format(formula.format("(" * 100_000)) + plural.format(1),
        "no language.po": entry.format(1),
    }
    return {name: (Path(name).suffix, text.encode()) for name, text in texts.items()}


def packed() -> dict[str, tuple[str, bytes]]:
    """Compressed files, with the suffix of their names."""
    text = b"a b\ta b\n" * 500
    good = gzip.compress(text)
    return {
        "a .gz that is none": (".gz", text),
        "a .gz cut off": (".gz", good[: len(good) // 2]),
        "an empty .gz": (".gz", b""),
        "a .gz with a long line": (".gz", gzip.compress(b"\0" * 300_000_000, compresslevel=1)),
        "a .gz with a line of 3 GB": (".gz", gzip.compress(b"a" * 1_000_000, compresslevel=9) * 3000),
        "a .xz that is none": (".xz", text),
        "a .zst that is none": (".zst", text),
        "a .xz of zeros": (".xz", b"\0" * 500),
    }


def json_lines(keys: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Lines of JSONL that are no record with these keys."""
    first = keys[0]
    lines: dict[str, bytes] = {
        "100,000 brackets": b"[" * 100_000,
        "100,000 braces": b'{"a":' * 100_000,
        "5,000 digits": f'{{"{first}": {DIGITS}}}'.encode(),
        "a list": b"[1, 2]",
        "a number": b"7",
        "null": b"null",
        "a text": b'"text"',
        "numbers": json.dumps(dict.fromkeys(keys, 1)).encode(),
        "lists": json.dumps({key: ["x"] for key in keys}).encode(),
        "nulls": json.dumps(dict.fromkeys(keys)).encode(),
        "lone surrogates": json.dumps(dict.fromkeys(keys, "\ud800")).encode(),
        "cut off": b'{"source": "a',
        "not UTF-8": b'{"source": "\xff"}',
        "infinity": f'{{"{first}": Infinity}}'.encode(),
    }
    yield from lines.items()


def marian_changes() -> dict[str, dict[str, object]]:
    """Changes of a Marian model's `config.json`."""
    keys = ("vocab_size", "d_model", "encoder_layers", "encoder_attention_heads", "pad_token_id", "activation_function")
    values: dict[str, object] = {
        "text": "x",
        "a list": [1],
        "10^12": 10**12,
        "negative": -1,
        "a fraction": 0.5,
        "10^7": 10**7,
        "an object": {},
    }
    changes = {f"{key}: {name}": {key: value} for key in keys for name, value in values.items()}
    return {
        **{name: change for name, change in changes.items() if name != "activation_function: 10^7"},
        "another type": {"model_type": "t5"},
        "no type": {"model_type": None},
        "a type that is a list": {"model_type": ["marian"]},
        "eos as a list": {"eos_token_id": [0]},
        "dropout": {"dropout": "much"},
    }


def vocabularies() -> dict[str, object]:
    """Contents of a `vocab.json`."""
    return {
        "a list": ["a"],
        "ids that are texts": {"a": "0", "b": "1"},
        "ids that are null": {"a": None, "<unk>": None},
        "ids that are lists": {"a": [1], "<unk>": 0},
        "ids that are fractions": {"a": 0.5, "<unk>": 1.5},
        "ids that are true": {"a": True, "<unk>": False},
        "negative ids": {"a": -5, "<unk>": 0},
        "ids of 10^12": {"a": 10**12, "<unk>": 0},
        "ids of 400 digits": {"a": 10**400, "<unk>": 0},
        "the same id twice": {"a": 0, "<unk>": 0},
        "nothing": {},
    }


def bert_changes() -> dict[str, dict[str, object]]:
    """Changes of a BERT's `config.json`."""
    keys = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "layer_norm_eps", "hidden_act")
    values: dict[str, object] = {"text": "x", "a list": [1], "10^12": 10**12, "negative": -1, "null": None}
    return {
        **{
            f"{key}: {name}": {key: value}
            for key in keys
            for name, value in values.items()
            if not (value is None and key in ("layer_norm_eps", "hidden_act"))
            and (key, name) != ("layer_norm_eps", "10^12")
        },
        "a decoder": {"is_decoder": True},
        "10^7 positions": {"max_position_embeddings": 10**7},
        "a type that is a number": {"model_type": 5},
    }


def wordpieces() -> dict[str, bytes]:
    """Contents of a `tokenizer.json`."""
    return {
        **{name: text for name, text in json_texts().items() if name != "a lone surrogate"},
        "an object": b"{}",
        "a model of another kind": b'{"version": "1.0", "model": {"type": "Nothing"}}',
        "a vocabulary of texts": b'{"version": "1.0", "model": {"type": "WordPiece", "vocab": {"a": "b"}}}',
        "no special tokens": b'{"version":"1.0","model":{"type":"WordPiece","unk_token":"[UNK]",'
        b'"continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{"a":0}}}',
        "ids beyond": b'{"version":"1.0","model":{"type":"WordPiece","unk_token":"[UNK]",'
        b'"continuing_subword_prefix":"##","max_input_chars_per_word":100,'
        b'"vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"[MASK]":4000000000}}}',
    }


def vectors() -> dict[str, bytes]:
    """Files in place of word vectors."""
    return {
        "empty": b"",
        "a width of 10^12": b"5 1000000000000\na 1\n",
        "10^18 words": b"999999999999999999 4\n" + b"a " + b"\0" * 16,
        "5,000 digits": DIGITS.encode() + b" 4\na 1 2 3 4\n",
        "infinity": b"a inf nan 1 2\n",
        "a long line": b"a " + b"1 " * 3_000_000,
        "a long second line": b"a 1 2 3\n" + b"b " + b"1 " * 8_000_000,
        "text": b"these are only words\n" * 10,
        "random bytes": random.Random(6).randbytes(5000),
    }


def texts() -> dict[str, str]:
    """Texts that a model must take, whatever it makes of them."""
    return {
        "control characters": "a\x01b\x02\x1f\x7f c\x00d".replace("\x00", "\x0b"),
        "dollars": r"$\frac{a}{b}$ costs 5$ and $x^{2",
        "markup": "<b>a</b> & </script><script>alert(1)</script>",
        "right to left": "\u202eabc \u2066\u2067",
        "joiners": "\u200d\u200b" * 100,
        "combining marks": "e" + "\u0301" * 500,
        "special tokens": "</s> <s> <pad> <unk> <2de> <copy0>",
        "spaces": " \t \u3000 ",
        "a word of 5,000 letters": "a" * 5000,
        "5,000 words": "a b " * 2500,
        "emoji": "👩‍👩‍👧‍👦🏳️‍🌈" * 50,
        "private characters": "\ue000\U0010ffff\ufffe",
    }
