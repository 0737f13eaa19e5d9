"""The words of a run that reads facts: every word of its training data, in lower case and without punctuation.

An answer is a word too, even if it is a list such as `milk,football`. Id 0 is no word. Words that are not in the list
are left out of a sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from manyheads.bounded.files import MOST_VOCABULARY, read_bytes
from manyheads.bounded.json_text import parse_json
from manyheads.errors import ManyheadsError

FILE = "words.json"
NO_WORD = ""
WORD = re.compile(r"\w+(?:['’\-]\w+)*")


def words_of(sentence: str) -> list[str]:
    """Return the words of a sentence."""
    return WORD.findall(sentence.lower())


def answer_word(answer: str) -> str:
    """Return an answer as one word, as the list has it."""
    return " ".join(answer.lower().split())


class WordList:
    """Words and their ids."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self._ids = {word: number for number, word in enumerate(words)}

    @classmethod
    def collect(cls, sentences: Iterable[str], answers: Iterable[str]) -> Self:
        """Return all words that occur, in alphabetical order after id 0."""
        found = {word for sentence in sentences for word in words_of(sentence)}
        return cls([NO_WORD, *sorted((found | {answer_word(answer) for answer in answers}) - {NO_WORD})])

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the list of a run."""
        file = folder / FILE
        try:
            words = parse_json(read_bytes(file, most=MOST_VOCABULARY))
        except (OSError, ValueError):
            words = None
        if not isinstance(words, list) or words[:1] != [NO_WORD] or not all(isinstance(one, str) for one in words):
            raise ManyheadsError("this list of words cannot be read.", where=str(file))
        return cls(words)

    def text(self) -> str:
        """Return the content of the file."""
        return json.dumps(self.words, ensure_ascii=False, indent=0) + "\n"

    def __len__(self) -> int:
        return len(self.words)

    def ids(self, sentence: str) -> list[int]:
        """Return the ids of the words of a sentence; others are left out."""
        return [self._ids[word] for word in words_of(sentence) if word in self._ids]

    def unknown(self, sentence: str) -> list[str]:
        """Return the words of a sentence that are not in the list."""
        return [word for word in words_of(sentence) if word not in self._ids]

    def answer_id(self, answer: str) -> int | None:
        """Return the id of an answer; None if it is not in the list."""
        return self._ids.get(answer_word(answer))
