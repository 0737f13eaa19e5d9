"""Sentences found again in paragraphs that were joined from them: boundaries found, in four languages.

    python benchmarks/splitting.py [--paragraphs 200]

A paragraph is four or five lines of FLORES-200's dev set that follow each other, joined as their language is written.
Lines that do not end like a sentence (headings, and some typing errors) are left out and counted. A boundary is right
if a sentence ends exactly there. Some lines hold two sentences, so boundaries inside lines are counted beside, not as
errors. What is missed here was looked at while the rules were written: text of another kind may fare worse.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
from pathlib import Path
from typing import Any

from manyheads.decoding.text.sentences import split_sentences

RESULTS = Path(__file__).resolve().parent / "results" / "splitting.json"
FILES = {"en": "eng_Latn", "de": "deu_Latn", "fr": "fra_Latn", "zh": "zho_Hans"}
WHOLE = re.compile(r"[.!?…。！？][\"'”“’»)）\s]*$")


def read_lines(folder: Path, name: str) -> tuple[list[str], int]:
    """Return the lines that end like a sentence, and how many do not."""
    lines = (folder / f"{name}.dev").read_text(encoding="utf-8").splitlines()
    kept = [line.strip() for line in lines if WHOLE.search(line)]
    return kept, len(lines) - len(kept)


def joined(lines: list[str], space: str) -> tuple[str, set[int]]:
    """Return lines as a paragraph, and where each but the last ends."""
    ends, length = set(), 0
    for line in lines[:-1]:
        ends.add(length + len(line))
        length += len(line) + len(space)
    return space.join(lines), ends


def found_ends(text: str, language: str) -> tuple[set[int], bool]:
    """Return where sentences are found to end, and whether every character is kept."""
    found = split_sentences(text, [language])
    ends, place = set(), 0
    for gap, sentence in zip(found.gaps, found.sentences, strict=False):
        place += len(gap) + len(sentence)
        ends.add(place)
    return ends - {len(text)}, found.fill(found.sentences) == text


def measure(lines: list[str], left_out: int, language: str, paragraphs: int) -> dict[str, Any]:
    """Return how many boundaries of random paragraphs are found."""
    drawn = random.Random(1)
    right = total = inside = kept = 0
    missed = []
    for _ in range(paragraphs):
        count = drawn.choice((4, 5))
        first = drawn.randrange(len(lines) - count)
        text, expected = joined(lines[first : first + count], "" if language == "zh" else " ")
        ends, whole = found_ends(text, language)
        right, total = right + len(expected & ends), total + len(expected)
        inside, kept = inside + len(ends - expected), kept + whole
        missed += [f"{text[max(0, end - 20) : end]}|{text[end : end + 10]}" for end in sorted(expected - ends)]
    return {
        "lines_left_out": left_out,
        "paragraphs": paragraphs,
        "boundaries": total,
        "found": right,
        "percent": round(100 * right / total, 2),
        "inside_lines": inside,
        "paragraphs_with_every_character": kept,
        "missed": sorted(set(missed)),
    }


def main() -> None:
    """Measure every language and write the results."""
    reading = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reading.add_argument("--paragraphs", type=int, default=200)
    reading.add_argument("--out", type=Path, default=RESULTS)
    options = reading.parse_args()
    folder = Path(os.environ.get("MANYHEADS_DATA", "data")) / "flores200"
    results = {
        language: measure(*read_lines(folder, name), language, options.paragraphs) for language, name in FILES.items()
    }
    options.out.write_text(json.dumps(results, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    for language, one in results.items():
        kept = f"{one['paragraphs_with_every_character']} of {one['paragraphs']} paragraphs whole"
        print(f"{language}: {one['percent']:.2f} % of {one['boundaries']} boundaries, {kept}")


if __name__ == "__main__":
    main()
