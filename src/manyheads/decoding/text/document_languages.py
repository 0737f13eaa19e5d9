"""The languages of a document that is translated: those that are asked for, that it names, or that are detected.

A document may name its languages more closely than a model: `pt_BR` and `pt-BR` are `pt` for a model of Portuguese.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manyheads.decoding.text.languages import Languages
from manyheads.documents.interface import Document, Styled
from manyheads.errors import ManyheadsError

SAMPLE = 20_000  # characters by which the language of a document is detected


@dataclass(frozen=True)
class DocumentLanguages:
    """The languages of a translation.

    `to` and `source` are options of the translator, None where the model has no choice; `target` is the language of the
    translations, as the document should name it.
    """

    to: str | None
    source: str | None
    target: str | None

    @classmethod
    def of(
        cls,
        languages: Languages | None,
        document: Document,
        texts: Sequence[Styled],
        *,
        to: str | None,
        source: str | None,
        where: str,
    ) -> DocumentLanguages:
        """Return the languages for a document; raise an error if the language to translate into is unknown."""
        named_source, named_target = document.languages
        if languages is None:
            require_target(to, named_target, where=where)
            return cls(None, None, named_target or to)
        chosen = to or fitting(named_target, languages.targets) or languages.only_target
        if not languages.targets:
            single = languages.target("", to)
            require_target(single, named_target, where=where)
            return cls(to, source, named_target or single)
        require_target(chosen, named_target, where=where)
        if chosen is None:
            raise ManyheadsError(
                "the language to translate this file into is not known.",
                where=where,
                cure=f"Name it with --to: {', '.join(languages.targets)}.",
            )
        given = source or fitting(named_source, languages.sources())
        sample = "\n".join(text.text for text in texts)[:SAMPLE]
        return cls(chosen, given or languages.detect(sample, languages.sources()), named_target or chosen)


def fitting(name: str | None, codes: Sequence[str]) -> str | None:
    """Return the code of a model for a language that a document names; None if there is none."""
    if name is None:
        return None
    same = (code for code in codes if _folded(code) == _folded(name))
    return next(same, next((code for code in codes if base(code) == base(name)), None))


def base(code: str) -> str:
    """Return the language of a code without its region or script."""
    return _folded(code).split("-")[0]


def _folded(code: str) -> str:
    """Return a code in one spelling: pt-br for pt_BR.UTF-8."""
    return code.split(".")[0].split("@")[0].replace("_", "-").lower()


def require_target(to: str | None, named: str | None, *, where: str) -> None:
    """Raise an error if a document is in another language than the one that is asked for."""
    if to is not None and named is not None and base(to) != base(named):
        raise ManyheadsError(
            f"this file names '{named}' as the language of its translations, which would be in '{to}'.",
            where=where,
            cure=f"Give a file that names no language or '{to}', such as the template that this one was made from.",
        )
