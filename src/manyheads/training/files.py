"""What training may be given in place of a recipe: files to learn from, and a run to start from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.formats.detection import with_format
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


@dataclass(frozen=True)
class Files:
    """Files to learn from, in place of a recipe.

    Args:
        source: Source texts, one per line.
        target: Target texts, parallel to the source.
        pairs: A TSV, CSV or JSONL file with both sides, in place of `source` and `target`.
        columns: Where each side is in `pairs`.
        valid_source: Source texts for validation. By default, some pairs are held out of the data.
        valid_target: Target texts for validation.
        valid_pairs: A file of pairs for validation.
        start_from: A run, or the name of a model that comes with the package, whose weights to start from.
        to: With `start_from`: the target language, for a model of several.
        exportable: The format that the model can be exported to, `ctranslate2` or `huggingface` (Marian).
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

    @property
    def are_none(self) -> bool:
        """Whether nothing is given."""
        return not any(value for name, value in vars(self).items() if name != "columns") and not self.columns.given

    def recipe(self, changes: Sequence[str]) -> TranslationRecipe:
        """Return a recipe chosen for the files."""
        train = self._corpus(self.source, self.target, self.pairs)
        if train is None:
            raise ManyheadsError(
                f"give {INSTEAD}.",
                cure="Line N of the target translates line N of the source. See: manyheads train --help",
            )
        if self.columns.given and self.pairs is None and self.valid_pairs is None:
            raise ManyheadsError("format, source column and target column are for files of pairs.")
        if (self.valid_source is None) != (self.valid_target is None):
            raise ManyheadsError("source and target for validation belong together: give both or none.")
        valid = self._corpus(self.valid_source, self.valid_target, self.valid_pairs)
        if self.start_from is None:
            if self.to is not None:
                raise ManyheadsError("only a model to start from needs a language.", where="to", cure="Leave it out.")
            return recipe_for_files(train, valid=valid, changes=changes, exportable=self.exportable or "ctranslate2")
        if self.exportable is not None:
            raise ManyheadsError(
                "a model that training starts from cannot get other parts.",
                where="exportable",
                cure="Leave it out; 'manyheads export' says what the model can be exported to.",
            )
        return recipe_for_fine_tuning(RunFolder.open(self.start_from), train, to=self.to, valid=valid, changes=changes)

    def _corpus(
        self, source: Path | str | None, target: Path | str | None, pairs: Path | str | None
    ) -> dict[str, Any] | None:
        """Return the corpus that is given, as a recipe has it; None if it is not, or not whole."""
        if pairs is not None:
            if source is not None or target is not None:
                raise ManyheadsError("give either a file of pairs, or one for each side.", where=str(pairs))
            return with_format({"pairs": str(pairs), **self.columns.given})
        return {"source": str(source), "target": str(target)} if source is not None and target is not None else None


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
