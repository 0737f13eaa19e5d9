"""Fonts for every script: the ones installed that have the characters of a text, and one clear note if none has."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import lru_cache

DEFAULT = "DejaVu Sans"  # comes with matplotlib: Latin with all accents, Greek, Cyrillic, Arabic, and more
LIKED = ("Noto Sans", "Source Han Sans", "WenQuanYi", "Droid Sans Fallback", "SimHei", "PingFang", "Arial Unicode")

EMPTY = "Last Resort"  # comes with matplotlib and has a box for every character


def families_for(texts: Iterable[str]) -> list[str]:
    """Return the names of fonts that together have every character of the texts; note what no font has."""
    missing = {ord(character) for text in texts for character in text if character.isprintable()}
    missing -= _characters(_path_of(DEFAULT))
    families = [DEFAULT]
    for name, path in _others() if missing else []:
        found = missing & _characters(path)
        if found:
            families.append(name)
            missing -= found
        if not missing:
            break
    if missing:
        _note("".join(chr(one) for one in sorted(missing)))
    return families


@lru_cache
def _note(characters: str) -> None:
    """Say once that some characters cannot be drawn."""
    some = characters if len(characters) <= 12 else f"{characters[:12]}…"
    print(
        f"No installed font has {some}: these appear as boxes. Noto Sans comes for every script.",
        file=sys.stderr,
    )


def _path_of(name: str) -> str:
    """Return the file of a font."""
    from matplotlib import font_manager

    return str(font_manager.findfont(name))


def _others() -> list[tuple[str, str]]:
    """Return the upright, ordinary fonts that are installed, names and files, those made for many scripts first."""
    from matplotlib import font_manager

    upright = [
        one for one in font_manager.fontManager.ttflist if one.style == "normal" and one.weight in (400, "normal")
    ]
    plain = [one for one in upright if not one.name.startswith(EMPTY)]
    ranked = sorted(plain, key=lambda one: (not one.name.startswith(LIKED), one.name))
    return list({one.name: one.fname for one in ranked}.items())


@lru_cache(maxsize=512)
def _characters(path: str) -> frozenset[int]:
    """Return the code points that a font has; a file that cannot be read has none."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
