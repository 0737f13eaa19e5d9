"""Time to quality: the minutes until `manyheads train` has the score that JoeyNMT or Hugging Face has after 20 minutes.

    python benchmarks/time_to_quality.py --work FOLDER --environments FOLDER [--threads 2]
    python benchmarks/time_to_quality.py --work FOLDER --environments FOLDER --only joeynmt tatoeba

Two corpora: Multi30k as it was written, English to German, and 50,000 pairs of Tatoeba, French to English. Ours gets
the two files, the validation files and `--max-minutes`, and nothing else, in several trainings of different lengths.
JoeyNMT 2.3.0 is trained with its tutorial's settings and with three others, Hugging Face's Seq2SeqTrainer with three;
the settings are in contenders/. Each training is alone on the machine, with the same threads and as many pieces in the
vocabulary; ours and the peers' take turns. Time is counted from the start of the command, so that importing,
training the tokenizer and reading the corpus count.

Each contender keeps weights from time to time. After a training, they translate the validation source with the same
search, and sacreBLEU scores the output here, cased, as text: scoring takes no training time. The score of a peer is the
best of its curve. Each part is recorded as soon as it is scored; started again, the benchmark goes on with what is
missing. `--again` measures what is recorded as well, which a change of our defaults requires. Needs the corpora
(MANYHEADS_DATA).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

from contenders.environments import PEERS, python_of
from contenders.timed_part import OUTPUT

HERE = Path(__file__).resolve().parent
OURS = "manyheads"
SETTINGS = {
    "joeynmt": ("tutorial", "shallow", "narrow", "noam"),
    "huggingface": ("shallow", "narrow", "large batches"),
}
TUTORIAL = "tutorial"
DIRECTIONS = {"multi30k": "Multi30k, English to German", "tatoeba": "Tatoeba, French to English"}
TATOEBA_PAIRS, TATOEBA_VALID = 50_000, 1000
Pairs = list[tuple[str, str]]
Record = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Part:
    """One training on one corpus. The setting of one of ours is its minutes."""

    corpus: str
    contender: str
    setting: str
    minutes: float

    @property
    def name(self) -> str:
        """The name in the record, which is also a folder's."""
        return f"{self.corpus}/{self.contender}/{self.setting}"


# --- Corpora ---------------------------------------------------------------------------------------------------------


def multi30k() -> dict[str, Pairs]:
    """Return the pairs of Multi30k as they were written."""
    from manyheads.data.text.files import data_folder, read_lines

    folder = data_folder() / "multi30k" / "raw"
    sides = {split: [read_lines(folder / f"{split}.{code}.gz") for code in ("en", "de")] for split in ("train", "val")}
    return {name: list(zip(*sides[split], strict=True)) for name, split in (("train", "train"), ("valid", "val"))}


def tatoeba() -> dict[str, Pairs]:
    """Return random pairs of Tatoeba; no sentence of the validation pairs is in training, on either side."""
    from manyheads.data.text.files import data_folder, read_lines

    rows = [line.split("\t") for line in read_lines(data_folder() / "tatoeba" / "fra-eng.2019-04-07.tsv.gz")]
    pairs = [(row[1], row[0]) for row in rows]
    Random(1).shuffle(pairs)
    valid = list({source: (source, target) for source, target in pairs[: 2 * TATOEBA_VALID]}.values())[:TATOEBA_VALID]
    sources, targets = map(set, zip(*valid, strict=True))
    train = [pair for pair in pairs if pair[0] not in sources and pair[1] not in targets]
    return {"train": train[:TATOEBA_PAIRS], "valid": valid}


CORPORA = {"multi30k": multi30k, "tatoeba": tatoeba}


def write_texts(corpus: str, folder: Path) -> dict[str, str]:
    """Write the plain text files that all contenders read, and return their paths by name."""
    folder.mkdir(parents=True, exist_ok=True)
    texts: dict[str, str] = {}
    for split, pairs in CORPORA[corpus]().items():
        for side, lines in zip(("source", "target"), zip(*pairs, strict=True), strict=True):
            file = folder / f"{split}.{side}"
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            texts[f"{split}.{side}"] = str(file.resolve())
    return texts


def digest(texts: dict[str, str]) -> str:
    """Return a checksum of the texts."""
    return hashlib.sha256(b"".join(Path(texts[name]).read_bytes() for name in sorted(texts))).hexdigest()


# --- Parts -----------------------------------------------------------------------------------------------------------


def taking_turns(options: argparse.Namespace) -> list[Part]:
    """Return all parts in their order: ours, then one of each peer, and so on, and the corpora in turns."""
    ours = [(OURS, f"{minutes:g} minutes", minutes) for minutes in options.our_minutes]
    peers = [[(name, setting, options.peer_minutes) for setting in SETTINGS[name]] for name in SETTINGS]
    rounds = zip_longest(ours, *peers)
    return [Part(corpus, *one) for row in rounds for one in row if one is not None for corpus in CORPORA]


def chosen(parts: Sequence[Part], only: Sequence[str]) -> list[Part]:
    """Return the parts whose corpus, contender and setting are named; naming none of a kind names all of that kind."""
    left = list(parts)
    for kind in ("corpus", "contender", "setting"):
        named = {getattr(part, kind) for part in parts} & set(only)
        left = [part for part in left if not named or getattr(part, kind) in named]
    return left


def facts_of(part: Part, texts: dict[str, str], options: argparse.Namespace) -> dict[str, Any]:
    """Return what the scores of a part depend on."""
    return {
        "minutes": part.minutes,
        "threads": options.threads,
        "vocabulary": options.vocabulary,
        "beam": options.beam,
        "texts": digest(texts),
    }


def call(part: Part, verb: str, folder: Path, options: argparse.Namespace) -> None:
    """Run a verb of a part's contender in its own environment; what it prints goes to a file."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    python = sys.executable
    if part.contender in PEERS:
        environment.pop("PYTHONPATH", None)
        python = str(python_of(part.contender, options.environments))
    log = folder / f"{verb}.log"
    script = HERE / "contenders" / f"{part.contender}_trainer.py"
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            [python, str(script), verb, str(folder)], stdout=file, stderr=file, env=environment, check=False
        )
    if done.returncode:
        raise RuntimeError(f"{part.name}: {verb} failed; see {log}:\n{log.read_text(encoding='utf-8')[-2000:]}")


def measured(part: Part, texts: dict[str, str], options: argparse.Namespace) -> dict[str, Any]:
    """Train one part, unless that was done before, translate with what it kept, and return its record."""
    folder = (options.work / part.name.replace(" ", "-")).resolve()
    facts, trained = facts_of(part, texts, options), folder / "trained.json"
    if not trained.exists() or json.loads(trained.read_text(encoding="utf-8")) != facts:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if part.contender in PEERS:
            python_of(part.contender, options.environments)  # not in the time that counts
        task = {name: facts[name] for name in ("minutes", "vocabulary", "threads", "beam")}
        task |= {"setting": part.setting, "points": options.points, "texts": texts, "started": time.time()}
        (folder / "part.json").write_text(json.dumps(task) + "\n", encoding="utf-8")
        call(part, "train", folder, options)
        trained.write_text(json.dumps(facts) + "\n", encoding="utf-8")
    call(part, "translate", folder, options)
    about = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    curve, signature = scored(folder, texts)
    return {"facts": facts, **about, "signature": signature, "curve": curve}


def scored(folder: Path, texts: dict[str, str]) -> tuple[list[tuple[float, float]], str]:
    """Return minutes and BLEU of all outputs of a part, and BLEU's signature."""
    from sacrebleu.metrics import BLEU

    references = Path(texts["valid.target"]).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    metric, curve = BLEU(), []
    for kept in sorted((folder / "kept").iterdir()):
        outputs = (kept / OUTPUT).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        score = metric.corpus_score(outputs, [references]).score
        curve.append((round(float(kept.name) / 60, 2), round(score, 2)))
    return curve, str(metric.get_signature())


# --- Results ---------------------------------------------------------------------------------------------------------


def best(row: dict[str, Any]) -> float:
    """Return the best score of a curve."""
    return max(bleu for _, bleu in row["curve"])


def of(record: Record, corpus: str, contender: str) -> Record:
    """Return the rows of a contender on a corpus, by their settings."""
    begin = f"{corpus}/{contender}/"
    return {name.removeprefix(begin): row for name, row in record.items() if name.startswith(begin)}


def minutes_to(record: Record, corpus: str, bleu: float) -> float | None:
    """Return the minutes after which the first of our trainings has a score, or None."""
    rows = of(record, corpus, OURS).values()
    return min((minutes for row in rows for minutes, score in row["curve"] if score >= bleu), default=None)


def table(record: Record) -> str:
    """Return the results as Markdown."""
    lines = [
        "| corpus | contender | settings | parameters | pieces | after minutes | BLEU | ours has it after | ratio |"
    ]
    lines.append("|" + "---|" * 9)
    for corpus in CORPORA:
        for contender in (OURS, *SETTINGS):
            rows = of(record, corpus, contender)
            others = {name: row for name, row in rows.items() if name != TUTORIAL}
            top = max(others, key=lambda name: best(others[name]), default=None)
            for name, row in rows.items():
                minutes = row["facts"]["minutes"] if contender != OURS else row["curve"][-1][0]
                cells = [
                    DIRECTIONS[corpus],
                    contender,
                    name + (" (its best)" if name == top and contender in PEERS else ""),
                ]
                cells += [f"{row['parameters']:,}", f"{row['vocabulary']:,}", f"{minutes:g}", f"{best(row):.1f}"]
                lines.append("| " + " | ".join([*cells, *compared(record, corpus, contender, row)]) + " |")
    signatures = {row["signature"] for row in record.values()}
    return "\n".join([*lines, "", *(f"BLEU: `{signature}`" for signature in sorted(signatures))])


def compared(record: Record, corpus: str, contender: str, row: dict[str, Any]) -> list[str]:
    """Return the minutes that ours needs for the score of a peer, and how many times faster that is."""
    if contender == OURS:
        return ["", ""]
    ours = minutes_to(record, corpus, best(row))
    return ["not reached", ""] if ours is None else [f"{ours:.1f} min", f"{row['facts']['minutes'] / ours:.1f}×"]


def draw(record: Record, file: Path) -> None:
    """Draw all curves, one picture for each corpus beside the other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.5), layout="constrained")
    styles = {OURS: ("C3", "-"), "joeynmt": ("C0", "--"), "huggingface": ("C2", ":")}
    labels: dict[str, Any] = {}
    for place, corpus in zip(figure.subplots(1, len(CORPORA)), CORPORA, strict=True):
        for contender, (colour, style) in styles.items():
            for number, (name, row) in enumerate(of(record, corpus, contender).items()):
                minutes, scores = zip(*row["curve"], strict=True)
                look = {"color": colour, "marker": "osD^"[number % 4], "markersize": 4}
                labels[f"{contender}, {name}"] = place.plot(minutes, scores, style, **look)[0]
        place.set_title(DIRECTIONS[corpus])
        place.set_xlabel("minutes since the command was started")
        place.set_ylabel("BLEU on the validation data")
        place.grid(alpha=0.3)
    figure.legend(labels.values(), labels, loc="outside right upper", fontsize=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)


def write(record: Record, options: argparse.Namespace) -> None:
    """Write all forms of the results."""
    machine = f"{platform.machine()}, {options.threads} threads, Python {platform.python_version()}"
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"machine": machine, "parts": record}, indent=2) + "\n", encoding="utf-8")
    options.out.with_suffix(".md").write_text(table(record) + "\n", encoding="utf-8")
    draw(record, options.picture)


def parsed() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="where texts and trainings are kept")
    parser.add_argument("--environments", type=Path, required=True, help="where the peers' environments are made")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="corpora, contenders and settings")
    parser.add_argument("--again", action="store_true", help="measure what is recorded as well")
    parser.add_argument("--peer-minutes", type=float, default=20)
    parser.add_argument("--our-minutes", type=float, nargs="+", default=[2, 3, 5, 10])
    parser.add_argument("--points", type=int, default=8, help="of a peer's curve")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=4000, help="pieces of the peers; ours chooses by itself")
    parser.add_argument("--beam", type=int, default=1, help="hypotheses of the search; 1 is greedy")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "time_to_quality.json")
    parser.add_argument("--picture", type=Path, default=HERE.parent / "docs" / "pictures" / "time-to-quality.png")
    options = parser.parse_args()
    names = {name for part in taking_turns(options) for name in (part.corpus, part.contender, part.setting)}
    if unknown := set(options.only) - names:
        parser.error(f"--only: {', '.join(sorted(unknown))}: not one of {', '.join(sorted(names))}")
    return options


def recorded(file: Path, facts: dict[str, dict[str, Any]]) -> Record:
    """Return the parts that a file has; those measured with other options would not compare."""
    if not file.exists():
        return {}
    record: Record = json.loads(file.read_text(encoding="utf-8"))["parts"]
    if others := [name for name, row in record.items() if facts.get(name, row["facts"]) != row["facts"]]:
        raise SystemExit(f"{file} was measured with other options or texts ({', '.join(others)}): give another --out")
    return record


def main() -> None:
    """Measure every part that is not recorded yet, write its scores, and print the table."""
    options = parsed()
    order = taking_turns(options)
    texts = {corpus: write_texts(corpus, options.work / corpus) for corpus in CORPORA}
    record = recorded(options.out, {part.name: facts_of(part, texts[part.corpus], options) for part in order})
    for part in chosen(order, options.only):
        if part.name in record and not options.again:
            continue
        if options.again:
            (options.work / part.name.replace(" ", "-") / "trained.json").unlink(missing_ok=True)
        row = measured(part, texts[part.corpus], options)
        if part.contender == OURS and row["vocabulary"] != options.vocabulary:
            raise SystemExit(f"ours chose {row['vocabulary']} pieces: give the peers as many (--vocabulary)")
        record[part.name] = row
        write(record, options)
        print(f"{part.name}: {best(row):.1f} BLEU", file=sys.stderr, flush=True)
    print(table(record))


if __name__ == "__main__":
    main()
