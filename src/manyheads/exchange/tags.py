"""The language tags of an exported model, which its user must put in front of each text."""

from __future__ import annotations

from manyheads.config.corpora import language_tag
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.runs.folder import RunFolder


def tags_note(recipe: TranslationRecipe) -> str | None:
    """Return a note on how to select the target language of an exported model; None if it has no language tags."""
    tags = [language_tag(target) for target in dict.fromkeys(target for _, target in recipe.data.directions)]
    if not tags:
        return None
    languages = "one of several languages" if len(tags) > 1 else "one language"
    return (
        f"This model writes {languages}, selected by a tag and a space in front of each text, such as "
        f'"{tags[0]} …". Its tags: {", ".join(tags)}.'
    )


def exported_readme(run: RunFolder, recipe: TranslationRecipe) -> bytes:
    """Return the README.md of an exported folder: the run's card and the note on tags; empty if there is neither."""
    card = run.card_file.read_bytes() if run.card_file.exists() else b""
    note = tags_note(recipe)
    return card if note is None else b"\n".join(part for part in (card, f"## Languages\n\n{note}\n".encode()) if part)
