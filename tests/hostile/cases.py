"""Every hostile input, given to the verbs that read it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from hostile import inputs
from hostile.arguments import (
    MEMORIES,
    as_text,
    as_texts,
    cut,
    odd,
    odd_corpus,
    odd_file,
    of_a_run,
    pickled,
    recipe,
    unread,
    verb_arguments,
    with_examples,
    with_pairs,
    with_vectors,
)
from hostile.running import EITHER, WORKS, Case
from hostile.world import World

LONG = "x" * 5000


def recipes(world: World) -> Iterator[Case]:
    """Recipes that cannot be read."""
    for name, text in inputs.yaml_texts().items():
        for verb in ("validate", "describe", "train"):
            yield Case(f"recipe: {name}", verb, recipe(verb, text))
        yield Case(f"cut: {name}", "data cut", cut(text))
        yield Case(f"recipe of a run: {name}", "translate", of_a_run(world, "recipe.yaml", text, "translate"))
    for kind in ("/dev/zero", "/dev/null", "pipe", "folder", LONG):
        for verb in ("validate", "train", "describe"):
            yield Case(f"recipe: {kind[:10]}", verb, lambda place, verb=verb, kind=kind: [verb, odd(place, kind)])


def changes(world: World) -> Iterator[Case]:
    """Changes of a recipe that cannot be."""
    for change in inputs.settings_changes():
        for verb in ("validate", "train"):
            out = ["--out", "out"] if verb == "train" else []
            yield Case(
                f"--set {change[:50]}",
                verb,
                lambda place, change=change, verb=verb, out=out: [
                    *(verb, str(world.copy("recipe.yaml", place)), "--set", change, *out)
                ],
                expected=EITHER if change in MAY_BE else "refused",
            )
        if "start_from" not in change and "data" not in change and "vectors" not in change:
            yield Case(
                f"--set {change[:50]}",
                "describe",
                lambda place, change=change: ["describe", str(world.copy("recipe.yaml", place)), "--set", change],
                expected=EITHER if change in MAY_BE else "refused",
            )


# A step count of 10^22 is out of range; these are odd, and may be read.
MAY_BE = ("start_from=", "name=2026-13-01", "model.vectors={source: /dev/zero}")


def runs(world: World) -> Iterator[Case]:
    """Run folders with another configuration."""
    verbs = ("translate", "translate torch", "score", "inspect", "export", "describe")
    for name, text in inputs.json_texts().items():
        for verb in verbs:
            yield Case(f"config.json: {name}", verb.split()[0], of_a_run(world, "config.json", text, verb))
    for name, change in inputs.config_changes().items():
        for verb in verbs:
            can_be = verb == "describe" and name in ("a vocabulary of 1", "1,000 layers", "a width of 40,000")
            yield Case(
                f"config.json: {name}",
                verb.split()[0],
                of_a_run(world, "config.json", change, verb),
                expected=EITHER if can_be or verb == "describe" else "refused",
            )
    for name, verb in (
        ("language_model", "generate"),
        ("classification", "classify"),
        ("question_answering", "answer"),
    ):
        for kind, text in inputs.json_texts().items():
            yield Case(f"{name}: {kind}", verb, of_a_run(world, "config.json", text, verb, run=name))


def weights(world: World) -> Iterator[Case]:
    """Weights that cannot be read."""
    files = inputs.safetensors_files(world.read("translation/model.safetensors"))
    for name, content in files.items():
        for verb in ("translate", "translate torch", "export"):
            yield Case(
                f"weights: {name}",
                verb.split()[0],
                of_a_run(world, "model.safetensors", content, verb),
                expected=EITHER if name == "a flipped header" else "refused",
            )
        for run, verb in (("language_model", "generate"), ("classification", "classify"), ("encoder", "encode")):
            yield Case(f"weights of {run}: {name}", verb, of_a_run(world, "model.safetensors", content, verb, run=run))
        for folder in ("marian", "bert"):
            yield Case(
                f"weights of {folder}: {name}",
                "import",
                of_a_run(world, "model.safetensors", content, "import", run=folder),
            )
    for kind in ("/dev/zero", "pipe", "folder"):
        yield Case(f"weights: {kind}", "translate", odd_file(world, "model.safetensors", kind, "translate"))
        yield Case(f"configuration: {kind}", "translate", odd_file(world, "config.json", kind, "translate"))
        yield Case(f"tokenizer: {kind}", "translate", odd_file(world, "tokenizer/shared.model", kind, "translate"))
    yield Case("vectors: none", "train", with_vectors(world, b"", missing=True))
    for name, content in inputs.vectors().items():
        yield Case(f"vectors: {name}", "train", with_vectors(world, content))


def tokenizers(world: World) -> Iterator[Case]:
    """Tokenizers that cannot be read; one with a few flipped bits may still be one."""
    for name, content in inputs.tokenizer_files(world.read("translation/tokenizer/shared.model")).items():
        expected = EITHER if name.startswith(("flipped", "a piece of", "an unknown wire")) else "refused"
        for verb in ("translate", "score", "inspect"):
            yield Case(f"tokenizer: {name}", verb, of_a_run(world, "tokenizer/shared.model", content, verb), expected)
        yield Case(
            f"source.spm: {name}", "import", of_a_run(world, "source.spm", content, "import", run="marian"), expected
        )


def marian(world: World) -> Iterator[Case]:
    """Marian folders that cannot be imported."""
    for name, change in inputs.marian_changes().items():
        yield Case(f"marian: {name}", "import", of_a_run(world, "config.json", change, "import", run="marian"))
    for name, text in inputs.json_texts().items():
        for file in ("config.json", "vocab.json", "tokenizer_config.json"):
            may = file == "tokenizer_config.json" and name not in ("empty",)
            yield Case(
                f"marian {file}: {name}",
                "import",
                of_a_run(world, file, text, "import", run="marian"),
                expected=EITHER
                if may
                and name
                in ("5,000 digits", "a lone surrogate", "1e400", "not a number", "3 MB", "900 brackets", "utf-16")
                else "refused",
            )
    for name, ids in inputs.vocabularies().items():
        yield Case(
            f"vocab.json: {name}", "import", of_a_run(world, "vocab.json", json.dumps(ids), "import", run="marian")
        )
    for unknown in (5, ["<unk>"], {"content": 7}, {}, None, "\ud800"):
        yield Case(
            f"unk_token: {unknown!r}",
            "import",
            of_a_run(
                world, "tokenizer_config.json", {"unk_token": unknown, "separate_vocabs": False}, "import", run="marian"
            ),
            expected=EITHER if unknown is None else "refused",
        )
    yield Case("a pickle beside", "import", pickled(world, keep=True), expected=WORKS)
    yield Case("a pickle alone", "import", pickled(world, keep=False))


def berts(world: World) -> Iterator[Case]:
    """BERT folders that cannot be imported."""
    for name, change in inputs.bert_changes().items():
        yield Case(f"bert: {name}", "import", of_a_run(world, "config.json", change, "import", run="bert"))
    for name, text in inputs.json_texts().items():
        yield Case(f"bert config.json: {name}", "import", of_a_run(world, "config.json", text, "import", run="bert"))
    for name, text in inputs.wordpieces().items():
        yield Case(f"tokenizer.json: {name}", "import", of_a_run(world, "tokenizer.json", text, "import", run="bert"))
        yield Case(
            f"tokenizer.json: {name}",
            "encode",
            of_a_run(world, "tokenizer/tokenizer.json", text, "encode", run="encoder"),
        )
    for name, content in {"empty": b"", "latin1": b"\xff\n", "zeros": b"\0" * 50, "only one": b"[PAD]\n"}.items():
        yield Case(f"vocab.txt: {name}", "import", of_a_run(world, "vocab.txt", content, "import", run="bert"))


LONG_TEXTS = ("4,000 ligatures", "one word of 500,000 characters", "100,000 columns", "csv: an unclosed quote")
"""In these there is much to translate, which takes its time."""
MAY_BE_READ = ("an unclosed quote", "only newlines", "100,000 columns")


def corpora(world: World) -> Iterator[Case]:
    """Corpora that cannot be learned from, or only in part."""
    contents = {name: (".tsv", content) for name, content in inputs.corpora().items()} | inputs.packed()
    contents |= {
        f"jsonl: {name}": (".jsonl", b'{"source": "a", "target": "b"}\n' * 30 + line + b"\n")
        for name, line in inputs.json_lines(("source", "target"))
    }
    contents |= inputs.memories()
    contents |= {"csv: an unclosed quote": (".csv", b'"a,b\n' + b"c,d\n" * 60_000)}
    for name, (suffix, content) in contents.items():
        usable = name.startswith(("one word of", "4,000 ligatures"))
        for verb in (
            ("train", "data check", "data lexicon") if usable else ("train", "data check", "data lexicon", "evaluate")
        ):
            expected = (
                WORKS
                if usable and verb == "train"
                else EITHER
                if verb == "data check" or usable or name in MAY_BE_READ
                else "refused"
            )
            yield Case(f"pairs: {name}", verb, with_pairs(world, verb, suffix, content), expected)
        if suffix != ".jsonl" and suffix not in MEMORIES:
            yield Case(f"text: {name}", "train", as_text(world, suffix, content), EITHER)
            if name not in LONG_TEXTS:
                yield Case(f"file of texts: {name}", "translate", as_texts(world, suffix, content), EITHER)
    for kind in ("/dev/zero", "/dev/null", "pipe", "folder", "missing", LONG):
        for verb in ("train", "data check", "data lexicon", "score", "evaluate"):
            yield Case(f"corpus: {kind[:10]}", verb, odd_corpus(world, verb, kind))
    yield Case(
        "texts: /dev/zero",
        "translate",
        lambda place: verb_arguments(world, "translate", world.folder / "translation", "/dev/zero"),
    )


def examples(world: World) -> Iterator[Case]:
    """Examples for models that read."""
    for task, keys in (
        ("classification", ("text", "label")),
        ("question_answering", ("question", "context", "answer")),
    ):
        for name, line in inputs.json_lines(keys):
            yield Case(f"examples: {name}", "train", with_examples(world, task, line + b"\n"))


def texts(world: World) -> Iterator[Case]:
    """Odd texts, which every model takes, and some that are no texts."""
    verbs = {
        "translate": "translation",
        "generate": "language_model",
        "classify": "classification",
        "encode": "encoder",
        "inspect": "translation",
    }
    for name, text in inputs.texts().items():
        for verb, run in verbs.items():
            yield Case(
                f"text: {name}",
                verb,
                lambda _, verb=verb, run=run, text=text: verb_arguments(world, verb, world.folder / run, text),
                EITHER,
            )
        for suffix in (".svg", ".png", ".html", ".json"):
            yield Case(
                f"picture {suffix}: {name}",
                "inspect",
                lambda place, text=text, suffix=suffix: [
                    "inspect",
                    "--model",
                    str(world.folder / "translation"),
                    "--text",
                    text,
                    "--out",
                    str(place / f"p{suffix}"),
                    "--show",
                    "beam",
                ],
                EITHER,
            )
    not_text = os.fsdecode(b"caf\xe9 \xff")
    for verb, run in verbs.items():
        yield Case(
            "text in latin1",
            verb,
            lambda _, verb=verb, run=run: verb_arguments(world, verb, world.folder / run, not_text),
        )
    many = "a b c " * 7000
    for verb, run in verbs.items():
        shape = EITHER
        yield Case(
            "20,000 tokens",
            verb,
            lambda _, verb=verb, run=run: verb_arguments(world, verb, world.folder / run, many),
            shape,
        )
    for view in ("attention", "alignment", "steps"):
        yield Case(
            "inspect of 20,000 tokens, unsplit",
            "inspect",
            lambda place, view=view: [
                "inspect",
                str(world.folder / "language_model"),
                "--text",
                many,
                "--out",
                str(place / "p.json"),
                "--show",
                view,
            ],
        )
    for content, name in (
        (b"\xff\xfe", "latin1"),
        (b"a" * 8_000_000, "a line of 8 MB"),
        (b"\xed\xa0\x80\n", "surrogates"),
    ):
        for verb in ("translate", "classify", "encode"):
            run = str(world.folder / verbs[verb])
            yield Case(
                f"standard input: {name}", verb, lambda _, verb=verb, run=run: [verb, "--model", run], stdin=content
            )


def options(world: World) -> Iterator[Case]:
    """Options that ask for what cannot be."""
    run = str(world.folder / "translation")
    huge = "1" + "0" * 30
    for words in (
        ["--beam", "1000000"], ["--beam", huge], ["--beam", "-1"], ["--n-best", "1000000"],
        ["--seed", huge, "--sample"], ["--seed", "-" + huge, "--sample"], ["--sample", "--top-k", huge],
        ["--sample", "--temperature", "nan"], ["--sample", "--top-p", "nan"], ["--length-penalty", "inf"],
        ["--length-penalty", "nan"], ["--extra-length", huge], ["--no-repeat-ngram", "-5"], ["--split-above", huge],
        ["--batch", "-3"], ["--to", LONG], ["--from", "x"], ["--engine", LONG], ["--precision", "int1"],
        ["--device", "cuda:99999999999999999999"], ["--device", LONG], ["--prefix", os.fsdecode(b"\xff")],
        ["--model", LONG], ["--model", "~nouserofthisname"], ["--model", "/dev/zero"],
    ):  # fmt: skip
        yield Case(
            f"translate {' '.join(words)[:40]}",
            "translate",
            lambda _, words=words: ["translate", "--model", run, "--text", "a b", *words],
            EITHER if words[0] in ("--to", "--from", "--split-above") else "refused",
        )
    language_model = str(world.folder / "language_model")
    for words in (
        ["--seed", huge],
        ["--temperature", "nan"],
        ["--temperature", "inf"],
        ["--top-p", "nan"],
        ["--top-k", huge],
        ["--tokens", "0"],
    ):
        yield Case(
            f"generate {' '.join(words)[:40]}",
            "generate",
            lambda _, words=words: ["generate", "--model", language_model, "a", *words],
        )
    for verb in (
        "evaluate",
        "describe",
        "export",
        "import",
        "shortlist",
        "models",
        "serve",
        "score",
        "encode",
        "answer",
    ):
        yield Case(
            f"{verb} of a long name",
            verb,
            lambda _, verb=verb: unread(verb, LONG),
            EITHER if verb == "models" else "refused",
        )
        yield Case(
            f"{verb} of a device",
            verb,
            lambda _, verb=verb: unread(verb, "/dev/zero"),
            EITHER if verb == "models" else "refused",
        )
    for words in (
        ["get", LONG],
        ["get", "../x"],
        ["get", "multi30k", "--from", LONG, "--to", "x"],
        ["check", "--pairs", LONG],
        ["cut", LONG, "--out", "x"],
        ["list", "--json"],
    ):
        yield Case(
            f"data {' '.join(words)[:30]}",
            "data " + words[0],
            lambda _, words=words: ["data", *words],
            EITHER if words[0] == "list" else "refused",
        )
    for words in ([], ["new"], ["new", LONG], ["new", "/dev/null/x"]):
        yield Case(f"recipe {' '.join(words)[:30]}", "recipe", lambda _, words=words: ["recipe", *words], EITHER)


def places(world: World) -> Iterator[Case]:
    """Places that cannot be written to, and streams that are full or closed."""
    run, pairs = str(world.folder / "translation"), str(world.folder / "pairs.tsv")
    for place in ("/dev/full/x", "/proc/nowhere/x", "/proc/x", LONG, "/dev/null/x", "a/b/c/d"):
        for words in (
            ["data", "check", "--pairs", pairs, "--write-clean", place],
            ["data", "lexicon", pairs, "--source-language", "en", "--target-language", "de", "--out", place],
            ["encode", "--model", str(world.folder / "encoder"), "--text", "a", "--out", f"{place}.npy"],
            ["evaluate", run, "--pairs", pairs, "--count", "3", "--save", place],
            ["inspect", "--model", run, "--text", "a b", "--out", f"{place}.svg"],
            ["train", str(world.folder / "recipe.yaml"), "--out", place],
            ["export", run, "--to", "ctranslate2", "--out", place],
            ["import", str(world.folder / "bert"), "--out", place],
        ):
            yield Case(
                f"written to {place[:14]}",
                " ".join(words[:2]) if words[0] == "data" else words[0],
                lambda _, words=words: words,
                EITHER if place == "a/b/c/d" else "refused",
            )
    for shell, name, expected in (
        ("> /dev/full", "a full device", "refused"),
        (">&-", "a closed standard output", "refused"),
        ("| true", "a closed pipe", EITHER),
        ("2>&-", "a closed standard error", EITHER),
    ):
        for words in (
            ["translate", "--model", run, "--text", "a b"],
            ["data", "list"],
            ["validate", str(world.folder / "recipe.yaml")],
        ):
            yield Case(name, words[0], lambda _, words=words: words, expected, shell=shell)
    yield Case("a closed standard input", "translate", lambda _: ["translate", "--model", run], shell="<&-")
    yield Case(
        "an output in ASCII",
        "translate",
        lambda _: ["translate", "--model", run, "--text", "Übung 中 é", "--json"],
        EITHER,
        shell="2>&1",
        environment={"PYTHONIOENCODING": "ascii"},
    )
