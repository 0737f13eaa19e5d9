"""What training may be given in place of a recipe: files to learn from, and a run to start from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from manyheads.config.corpora import CorpusSettings
from manyheads.config.messages import build
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.cleaning.first_look import FirstLook
from manyheads.data.formats.detection import with_format
from manyheads.data.formats.languages import SideLanguages, find_languages, surely_languages
from manyheads.data.formats.memories import are_memories
from manyheads.data.text.files import read_lines
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder
from manyheads.training.defaults import Exportable, recipe_for_files, recipe_for_fine_tuning

INSTEAD = "either a recipe, or pairs, or source and target"
BEGINNING = 1000  # lines of a recipe in which it names its data
_DATA = re.compile(r"[\s{\"']*data[\"']?\s*:")


@dataclass(frozen=True)
class Columns:
    """Where each side is in a file of pairs."""

    format: str | None = None
    source_column: str | None = None
    target_column: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """What is given, by the names that a corpus has for it."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def reversed(self) -> dict[str, str | int]:
        """The same for the other direction, where the first column is by default the target."""
        source = 1 if self.target_column is None else self.target_column
        target = 0 if self.source_column is None else self.source_column
        return {**self.given, "source_column": source, "target_column": target}


@dataclass(frozen=True)
class Files:
    """Files to learn from, in place of a recipe.

    Args:
        source: Source texts, one per line.
        target: Target texts, parallel to the source.
        pairs: A TSV, CSV or JSONL file with both sides, in place of `source` and `target`; or a translation memory
            (TMX, XLIFF, PO), or a folder of these.
        columns: Where each side is in `pairs`.
        valid_source: Source texts for validation. By default, some pairs are held out of the data.
        valid_target: Target texts for validation.
        valid_pairs: A file of pairs for validation.
        start_from: A run, or the name of a model that comes with the package, whose weights to start from.
        to: The target language, for a memory of several or, with `start_from`, a model of several.
        exportable: The format that the model can be exported to, `ctranslate2` or `huggingface` (Marian).
        reverse: Learn the other direction: what is given as the target is translated into what is given as the source.
        both: Learn both directions in one model.
        source_language: The language code of what is given as the source, where names of files do not say it.
        target_language: The language code of what is given as the target.
    """

    source: Path | str | None = None
    target: Path | str | None = None
    pairs: Path | str | None = None
    columns: Columns = Columns()
    valid_source: Path | str | None = None
    valid_target: Path | str | None = None
    valid_pairs: Path | str | None = None
    start_from: PathLike[str] | str | None = None
    to: str | None = None
    exportable: Exportable | None = None
    reverse: bool = False
    both: bool = False
    source_language: str | None = None
    target_language: str | None = None

    @property
    def are_none(self) -> bool:
        """Whether nothing is given."""
        return not any(value for name, value in vars(self).items() if name != "columns") and not self.columns.given

    def recipe(self, changes: Sequence[str], look: FirstLook | None = None) -> TranslationRecipe:
        """Return a recipe chosen for the files; `look` sees their pairs."""
        train = self._train()
        self._check()
        valid = self._corpus(self.valid_source, self.valid_target, self.valid_pairs)
        if self.start_from is not None:
            base = RunFolder.open(self.start_from)
            return recipe_for_fine_tuning(base, train, to=self.to, valid=valid, changes=changes, look=look)
        languages = self.languages() if self.both else self._named_languages(train)
        if look is not None:
            look.languages = languages
        keys = {} if languages is None else {"source_language": languages.source, "target_language": languages.target}
        if self.both:
            both_ways = {**keys, "both_ways": True}
            train, valid, keys = {**train, **both_ways}, None if valid is None else {**valid, **both_ways}, {}
        return recipe_for_files(
            train, valid=valid, languages=keys, changes=changes, exportable=self.exportable or "ctranslate2", look=look
        )

    def languages(self) -> SideLanguages:
        """Return the languages of the sides that are learned from and into; an error if they cannot be told apart."""
        return surely_languages(_settings(self._train()), **self._given_languages)

    def _named_languages(self, train: Mapping[str, Any]) -> SideLanguages | None:
        """Return the languages if they are given, or said by the names of files or columns."""
        return find_languages(_settings(train), **self._given_languages)

    @property
    def _given_languages(self) -> dict[str, str | None]:
        """The languages that are given, as sides of the direction that is learned."""
        sides = self.source_language, self.target_language
        source, target = reversed(sides) if self.reverse else sides
        return {"source": source, "target": target}

    def _train(self) -> dict[str, Any]:
        """Return the training corpus; it is an error if there is none."""
        train = self._corpus(self.source, self.target, self.pairs)
        if train is None:
            raise ManyheadsError(
                f"give {INSTEAD}.",
                cure="Line N of the target translates line N of the source. See: manyheads train --help",
            )
        return train

    def _check(self) -> None:
        """Refuse what does not go together."""
        if self.columns.given and self.pairs is None and self.valid_pairs is None:
            raise ManyheadsError("format, source column and target column are for files of pairs.")
        if (self.valid_source is None) != (self.valid_target is None):
            raise ManyheadsError("source and target for validation belong together: give both or none.")
        if self.both and self.reverse:
            raise ManyheadsError("both directions include the reverse one: give one of the two.", where="both, reverse")
        if self.start_from is None:
            if self.to is not None and not self._has_memories:
                raise ManyheadsError(
                    "only a memory or a model to start from needs a language.", where="to", cure="Leave it out."
                )
        elif self.exportable is not None:
            raise ManyheadsError(
                "a model that training starts from cannot get other parts.",
                where="exportable",
                cure="Leave it out; 'manyheads export' says what the model can be exported to.",
            )
        elif self.both or (not self._has_memories and (self.source_language or self.target_language)):
            raise ManyheadsError(
                "a model to start from has its languages and directions already.",
                where="both, source_language, target_language",
                cure="Leave them out; --to names the target language.",
            )

    @property
    def _has_memories(self) -> bool:
        """Whether what is learned from are translation memories."""
        return self.pairs is not None and are_memories(str(self.pairs), self.columns.format or "auto")

    def _sides_of_memories(self) -> dict[str, str]:
        """Return the languages that are given, as the sides of memories."""
        if self.reverse:
            raise ManyheadsError("a memory has no direction to reverse: --to names the target.", where="reverse")
        if self.to is not None and self.target_language not in (None, self.to):
            raise ManyheadsError(
                f"the target is '{self.to}' or '{self.target_language}'?", where="to, target_language", cure="Give one."
            )
        sides = {"source_column": self.source_language, "target_column": self.to or self.target_language}
        return {name: code for name, code in sides.items() if code is not None}

    def _corpus(
        self, source: Path | str | None, target: Path | str | None, pairs: Path | str | None
    ) -> dict[str, Any] | None:
        """Return the corpus that is given, as a recipe has it; None if it is not, or not whole."""
        if pairs is not None:
            if source is not None or target is not None:
                raise ManyheadsError("give either a file of pairs, or one for each side.", where=str(pairs))
            if are_memories(str(pairs), self.columns.format or "auto"):
                return with_format({"pairs": str(pairs), **self._sides_of_memories(), **self.columns.given})
            columns = self.columns.reversed if self.reverse else self.columns.given
            return with_format({"pairs": str(pairs), **columns})
        if source is None or target is None:
            return None
        source, target = (target, source) if self.reverse else (source, target)
        return {"source": str(source), "target": str(target)}


def _settings(corpus: Mapping[str, Any]) -> CorpusSettings:
    """Return the corpus as a recipe's settings."""
    return build(CorpusSettings, corpus, origin="the corpus")


def refuse_text(path: Path) -> None:
    """Refuse a file to learn from where a recipe belongs, before all of it is read as YAML."""
    if path.suffix in (".yaml", ".yml", ".json") or not path.is_file():
        return
    beginning = list(islice(read_lines(path, lenient=True), BEGINNING))
    if any(map(_DATA.match, beginning)):
        return
    has_pairs = any("\t" in line for line in beginning[:1]) or {".tsv", ".csv", ".jsonl"} & set(path.suffixes)
    files = f"--pairs {path}" if has_pairs else f"--source {path} --target FILE"
    raise ManyheadsError("this is not a recipe.", where=str(path), cure=f"To learn from it: manyheads train {files}")
