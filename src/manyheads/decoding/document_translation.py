"""A document, translated: its texts go through the translator, and everything else stays as it is.

    from manyheads import Translator
    Translator().translate_document("de.po", out="translated.po", to="de")

What is finished is kept in a journal beside the output, so that a translation that was killed goes on where it was. The
output appears complete or not at all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyheads.decoding.document_journal import Finished, Journal, journal, journal_path
from manyheads.decoding.text.document_languages import DocumentLanguages
from manyheads.decoding.text.styled import translate_styled
from manyheads.documents.interface import Filling
from manyheads.documents.opening import open_document
from manyheads.documents.selection import Counts, Fault, Filled, Selection, Text, Which
from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import write_file
from manyheads.runs.checksums import checksum, checksum_of

if TYPE_CHECKING:
    from manyheads.decoding.translator import Translation, Translator

TEXTS_AT_ONCE = 128  # translated together, and at most translated again after an interruption
SAMPLED = 32  # texts that are translated to estimate the time of all

Tell = Callable[[int, int], None]
"""Called with the number of texts that are finished, and of all."""


@dataclass(frozen=True)
class TranslatedDocument:
    """What became of a document.

    Args:
        counts: Its texts; those whose translation is not used are among those that are left as they are.
        warnings: Sentences on translations to look at, each with its line.
        pivot: The language in between, if there was one.
        faults: The translations that are not used; they are among the warnings too.
    """

    counts: Counts
    warnings: tuple[str, ...] = ()
    pivot: str | None = None
    faults: tuple[Fault, ...] = ()


class DocumentTranslation:
    """A document to translate.

    Args:
        translator: The translator.
        path: The file.
        to: The language to translate into, for a model of several. By default, the one that the document names.
        source: The language of the document, for a model of several. By default, the one that it names, or it is
            detected.
        format: The format of the file; by default, it is found out.
        which: The texts to translate.
        mark_unsure: Whether the translations are marked as to be checked, where the format can.
        changes: Further fields of `TranslationOptions`.
    """

    def __init__(
        self,
        translator: Translator,
        path: Path,
        *,
        to: str | None = None,
        source: str | None = None,
        format: str | None = None,
        which: Which = "needed",
        mark_unsure: bool = False,
        **changes: Any,  # noqa: ANN401
    ) -> None:
        self._translator = translator
        self.path = path
        only_target = translator.languages.only_target if translator.languages else None
        self._opened = open_document(path, format=format, language=to or only_target)
        self.selection = Selection.of(self._opened.document, which)
        self._sources = list(self.selection.lines)
        self.languages = DocumentLanguages.of(
            translator.languages,
            self._opened.document,
            [one.styled for one in self._sources],
            to=to,
            source=source,
            where=str(path),
        )
        if mark_unsure and not self._opened.format.marks_unsure:
            raise ManyheadsError(
                f"the format '{self.format}' has no mark for translations that are to be checked.",
                where=str(path),
                cure="Leave out --mark-unsure.",
            )
        self._filling = Filling(self.languages.target, mark_unsure)
        self._changes = changes

    @property
    def format(self) -> str:
        """The name of the document's format."""
        return self._opened.format.name

    def estimated_seconds(self) -> float:
        """Return how long the translation will take, by that of some of its texts."""
        sources = self._sources
        sample = sources[:: max(1, len(sources) // SAMPLED)]
        if not sample:
            return 0.0
        self._translate(sample[:1])  # the first call takes longer
        begun = time.perf_counter()
        self._translate(sample)
        return (time.perf_counter() - begun) * _characters(sources) / _characters(sample)

    def write(self, out: Path, *, tell: Tell = lambda done, count: None) -> TranslatedDocument:
        """Translate the document into a file; an existing one is replaced."""
        sources = self._sources
        with self._journal(out) as kept:
            tell(len(kept.finished), len(sources))
            for some in _portions(sources, len(kept.finished)):
                kept.add(self._translate(some))
                tell(len(kept.finished), len(sources))
            translations = dict(zip(sources, (one.translation for one in kept.finished), strict=True))
            filled = self.selection.fill(translations, self._filling)
            write_file(out, self._opened.encode(filled.content, out.name))
        return self._result(kept.finished, filled)

    def _translate(self, texts: Sequence[Text]) -> list[Finished]:
        """Translate some texts together."""
        languages = self.languages
        found = translate_styled(
            self._translator,
            [text.styled for text in texts],
            formats=[text.formats for text in texts],
            to=languages.to,
            source=languages.source,
            language=languages.target,
            **self._changes,
        )
        return [Finished(styled, _warning(parts), _pivot(parts)) for styled, parts in found]

    def _journal(self, out: Path) -> AbstractContextManager[Journal]:
        """Return the journal of this translation; a translator without a run has none, as its model has no name."""
        run = self._translator.run
        if run is None:
            return nullcontext(Journal())
        model = [checksum_of(run.weights_file), checksum_of(run.recipe_file), *self._translator.computes_with]
        asked = [asdict(self.languages), asdict(self._filling), self._changes]
        inputs = [checksum(self._opened.content), list(map(str, self._sources)), *model, *asked]
        return journal(journal_path(out), checksum(json.dumps(inputs, default=str).encode()))

    def _result(self, finished: Sequence[Finished], filled: Filled) -> TranslatedDocument:
        """Return what became of the document."""
        lines = self.selection.lines.values()
        pairs = zip(lines, finished, strict=True)
        warnings = [f"line {line}: {one.warning}" for line, one in pairs if one.warning]
        pivot = next((one.pivot for one in finished if one.pivot), None)
        counts = self.selection.counts().without(filled.unused)
        return TranslatedDocument(counts, (*warnings, *map(str, filled.faults)), pivot, filled.faults)


def _portions(sources: Sequence[Text], begin: int) -> Iterator[Sequence[Text]]:
    """Yield the texts from a number on, many at a time."""
    for start in range(begin, len(sources), TEXTS_AT_ONCE):
        yield sources[start : start + TEXTS_AT_ONCE]


def _warning(parts: Sequence[Translation]) -> str | None:
    """Return the warnings about the sentences of a text."""
    return "; ".join(dict.fromkeys(part.warning for part in parts if part.warning)) or None


def _pivot(parts: Sequence[Translation]) -> str | None:
    """Return the language that a sentence was translated into first, if there is one."""
    return next((part.pivot for part in parts if part.pivot), None)


def _characters(texts: Sequence[Text]) -> int:
    """Return the number of characters of texts."""
    return sum(len(text.styled.text) for text in texts)
