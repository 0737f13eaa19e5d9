"""Fonts for every script: the ones installed that have the characters of a text, and one clear note if none has."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache

DEFAULT = "DejaVu Sans"  # comes with matplotlib: Latin with all accents, Greek, Cyrillic, Arabic, and more
LIKED = ("Noto Sans", "Source Han Sans", "WenQuanYi", "Droid Sans Fallback", "SimHei", "PingFang", "Arial Unicode")

EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH")

EMPTY = "Last Resort"  # comes with matplotlib and has a box for every character


def families_for(texts: Iterable[str]) -> list[str]:
    """Return the names of fonts that together have every character of the texts; note what no font has."""
    missing = {ord(character) for text in texts for character in text if character.isprintable()}
    missing -= _characters(_path_of(DEFAULT))
    families = [DEFAULT, *_take(missing)]
    if missing and _add_new():
        families += _take(missing)
    if missing:
        _note("".join(chr(one) for one in sorted(missing)))
    return families


def _take(missing: set[int]) -> list[str]:
    """Return the names of known fonts that have missing characters, and remove these from the set."""
    families = []
    for name, path in _others() if missing else []:
        found = missing & _characters(path)
        if found:
            families.append(name)
            missing -= found
        if not missing:
            break
    return families


@lru_cache
def _note(characters: str) -> None:
    """Say once that some characters cannot be drawn, and what brings a font for them."""
    some = characters if len(characters) <= 12 else f"{characters[:12]}…"
    names = [unicodedata.name(one, "") for one in characters]
    east_asian = sum(name.startswith(EAST_ASIAN) for name in names)
    packages = [*(["fonts-noto-cjk"] if east_asian else []), *(["fonts-noto"] if east_asian < len(names) else [])]
    print(
        f"No installed font has {some}: these appear as boxes. On Debian and Ubuntu, 'apt-get install "
        f"{' '.join(packages)}' brings one; elsewhere, install Noto Sans{' CJK' if east_asian else ''}.",
        file=sys.stderr,
    )


@lru_cache
def _add_new() -> bool:
    """Add the fonts that were installed after matplotlib made its list of them, once; return whether there are any."""
    from matplotlib import font_manager

    known = {one.fname for one in font_manager.fontManager.ttflist}
    new = [path for path in font_manager.findSystemFonts() if path not in known]
    for path in new:
        with suppress(OSError, RuntimeError):  # a file that is no font
            font_manager.fontManager.addfont(path)
    return bool(new)


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
