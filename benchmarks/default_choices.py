"""What each default choice is worth: trainings of equal time, in which one choice differs from all defaults.

    python benchmarks/default_choices.py --runs FOLDER [--minutes 10] [--seeds 2] [--core 1] [--only CORPUS[:CHOICE] …]

Each training is `manyheads train` on files with nothing but the time and the changes of its row, on one thread that is
bound to one core. It is scored on the whole validation data by the metric that decides there. Three corpora of
different size and kind, found through MANYHEADS_DATA: Multi30k (English to German, 29,000 captions), 5,000 lines of
Tatoeba (French to English), and CMUdict (spelling to phonemes). `earlier` are the defaults before training was planned
for a time: it trains until the time is over. Each training is recorded as soon as it is done; started again, recorded
ones are skipped.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "default_choices.json"
Changes = dict[str, str]
Pair = tuple[str, str]

EARLIER: Changes = {
    "model": "{preset: tiny, encoder_layers: 3, decoder_layers: 3, dropout: 0.1}",
    "training.optimiser": "adam",
    "training.schedule": "{kind: inverse_sqrt, rate: 0.003, warmup: 400}",
    "training.steps": "20000",
    "training.batch_tokens": "1024",
    "validation.every": "500",
}
CHOICES: dict[str, dict[str, Changes]] = {
    "defaults": {"as they are": {}},
    "earlier": {"defaults": EARLIER},
    "optimiser": {"Adam": {"training.optimiser": "adam", "training.schedule.rate": "0.003"}},
    "rate": {rate: {"training.schedule.rate": rate} for rate in ("0.004", "0.008", "0.012", "0.016")},
    "batch": {size: {"training.batch_tokens": size} for size in ("512", "1024", "2048", "4096")},
    "positions": {
        "sinusoidal": {"model.positions": "{kind: sinusoidal}"},
        "rotary": {"model.positions": "{kind: rotary}"},
        "relative": {"model.positions": "{kind: relative, clip: 16}"},
        "T5": {"model.positions": "{kind: t5}"},
    },
    "norm and feed-forward": {
        "post-norm": {"model.norm": "post"},
        "RMSNorm": {"model.norm_kind": "rms"},
        "SwiGLU": {"model.gated": "true", "model.activation": "swish"},
        "no biases": {"model.biases": "false"},
        "query-key norm": {"model.query_key_norm": "self"},
    },
    "dropout": {share: {"model.dropout": share} for share in ("0", "0.1", "0.2", "0.3")},
    "vocabulary": {pieces: {"tokenizer.vocabulary": pieces} for pieces in ("1000", "2000", "4000", "8000")},
}
SUBWORDS_ALONE = ("vocabulary",)  # a choice that characters and symbols do not have


@dataclass(frozen=True)
class Corpus:
    """Training and validation pairs, and the metric that decides."""

    read: Callable[[Path], tuple[list[Pair], list[Pair]]]
    metric: str
    subwords: bool = True


def lines(path: Path) -> list[str]:
    """Return the lines of a compressed file."""
    return gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()


def multi30k(data: Path) -> tuple[list[Pair], list[Pair]]:
    """Return raw captions, English and German."""
    folder = data / "multi30k" / "raw"
    train, valid = (
        list(zip(*(lines(folder / f"{part}.{language}.gz") for language in ("en", "de")), strict=True))
        for part in ("train", "val")
    )
    return train, valid


def tatoeba(data: Path) -> tuple[list[Pair], list[Pair]]:
    """Return 5,000 pairs, French and English, and 1,000 others that share no sentence with them."""
    rows = [tuple(line.split("\t")[1::-1]) for line in lines(data / "tatoeba" / "fra-eng.2019-04-07.tsv.gz")]
    random.Random(1).shuffle(rows)
    valid: dict[Pair, None] = {}
    taken: set[str] = set()
    for french, english in rows:
        if len(valid) < 1000 and not {french, english} & taken:
            valid[french, english] = None
            taken |= {french, english}
    return [(one, other) for one, other in rows if not {one, other} & taken][:5000], list(valid)


def cmudict(data: Path) -> tuple[list[Pair], list[Pair]]:
    """Return words and their phonemes; 2,000 words with all their pronunciations are for validation."""
    rows = [tuple(line.split("\t")) for line in lines(data / "g2p_cmudict" / "g014b2b.train.gz")]
    words = sorted({word for word, _ in rows})
    held_out = set(random.Random(1).sample(words, 2000))
    return (
        [(word, phonemes) for word, phonemes in rows if word not in held_out],
        [(word, phonemes) for word, phonemes in rows if word in held_out],
    )


CORPORA = {
    "multi30k": Corpus(multi30k, "bleu"),
    "tatoeba": Corpus(tatoeba, "chrf"),
    "cmudict": Corpus(cmudict, "word_error_rate", subwords=False),
}


def files(name: str, folder: Path) -> list[str]:
    """Write the pairs of a corpus, unless they are there, and return the options of `manyheads train` for them."""
    words = []
    for part, pairs in zip(("train", "valid"), CORPORA[name].read(Path(os.environ["MANYHEADS_DATA"])), strict=True):
        path = folder / f"{name}.{part}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
        words += ["--pairs" if part == "train" else "--valid-pairs", str(path)]
    return words


def manyheads(*words: str, core: int) -> str:
    """Run a command on one core and return what it prints."""
    run = ["taskset", "-c", str(core), sys.executable, "-m", "manyheads", *words]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"manyheads {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def trained(name: str, changes: Changes, seed: int, options: argparse.Namespace, run: Path) -> dict[str, Any]:
    """Train on a corpus for the time, and return the score on its validation data with the facts of the run."""
    corpus, pairs = CORPORA[name], files(name, options.runs / "data")
    every = {**changes, "seed": str(seed), "training.threads": "1"}
    sets = [word for key, value in every.items() for word in ("--set", f"{key}={value}")]
    time = ["--max-minutes", f"{options.minutes:g}", "--out", str(run)]
    manyheads("train", *pairs, *sets, *time, core=options.core)
    scored = ["evaluate", str(run), "--pairs", pairs[-1], "--metric", corpus.metric, "--json"]
    found = json.loads(manyheads(*scored, core=options.core))
    journal = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    steps = max(entry["step"] for entry in journal)
    speed = statistics.median(entry["tokens_per_second"] for entry in journal if "tokens_per_second" in entry)
    return {"score": round(found["scores"][0]["value"], 2), "steps": steps, "tokens_per_second": round(speed)}


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what identifies each training: corpus, choice, value and seed."""
    for seed in range(1, options.seeds + 1):
        for corpus, settings in CORPORA.items():
            for choice, values in CHOICES.items():
                wanted = not options.only or {corpus, f"{corpus}:{choice}"} & set(options.only)
                if wanted and (settings.subwords or choice not in SUBWORDS_ALONE):
                    for value in values:
                        yield {"corpus": corpus, "choice": choice, "value": value, "seed": seed}


def table(records: list[dict[str, Any]]) -> str:
    """Return the mean of the seeds, and their range, as Markdown: a row for each value, a column for each corpus."""
    minutes = sorted({record["minutes"] for record in records})
    out = []
    for time in minutes:
        out += [f"{time:g} minutes", "", "| choice | value | " + " | ".join(CORPORA) + " |", "|---|---|" + "---|" * 3]
        for choice, values in CHOICES.items():
            for value in values:
                cells = []
                for corpus in CORPORA:
                    same = {"corpus": corpus, "choice": choice, "value": value, "minutes": time}
                    scores = [record["score"] for record in records if same.items() <= record.items()]
                    spread = f" ±{(max(scores) - min(scores)) / 2:.2f}" if len(scores) > 1 else ""
                    cells.append(f"{statistics.mean(scores):.2f}{spread}" if scores else "–")
                if set(cells) != {"–"}:
                    out.append(f"| {choice} | {value} | {' | '.join(cells)} |")
        out.append("")
    return "\n".join(out)


def main() -> None:
    """Train what is not recorded yet, one after the other, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="corpora, or corpus:choice")
    options = parser.parse_args()
    records = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    for row in rows(options):
        facts = {**row, "minutes": options.minutes, "changes": CHOICES[row["choice"]][row["value"]]}
        if any(facts.items() <= record.items() for record in records):
            continue
        place = options.runs / f"{options.minutes:g}" / "-".join(str(part).replace(" ", "_") for part in row.values())
        records.append(facts | trained(row["corpus"], facts["changes"], row["seed"], options, place))
        RESULTS.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
        RESULTS.with_suffix(".md").write_text(table(records), encoding="utf-8")
        print(records[-1], file=sys.stderr, flush=True)
    print(table(records))


if __name__ == "__main__":
    main()
