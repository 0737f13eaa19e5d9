"""Fonts for every script: the installed fonts that have the characters of a text, and a note if there are none."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache

from manyheads.errors import Notice

DEFAULT = "DejaVu Sans"  # part of matplotlib: Latin with all accents, Greek, Cyrillic, Arabic, and more
PREFERRED = ("Noto Sans", "Source Han Sans", "WenQuanYi", "Droid Sans Fallback", "SimHei", "PingFang", "Arial Unicode")

EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH")

EMPTY = "Last Resort"  # part of matplotlib: it has a box for every character


def font_families(texts: Iterable[str]) -> list[str]:
    """Return the names of fonts that together have every character of the texts; warn of missing ones."""
    missing = {ord(character) for text in texts for character in text if character.isprintable()}
    missing -= characters_of(_path_of(DEFAULT))
    families = [DEFAULT, *_remove_covered(missing)]
    if missing and add_new_fonts():
        families += _remove_covered(missing)
    if missing:
        note_missing("".join(chr(code) for code in sorted(missing)))
    return families


def _remove_covered(missing: set[int]) -> list[str]:
    """Return the names of installed fonts that have missing characters, and remove these from the set."""
    families = []
    for name, path in installed_fonts() if missing else []:
        covered = missing & characters_of(path)
        if covered:
            families.append(name)
            missing -= covered
        if not missing:
            break
    return families


@lru_cache
def note_missing(characters: str) -> None:
    """Warn, once per process, which characters cannot be drawn, and which package has a font for them."""
    some = characters if len(characters) <= 12 else f"{characters[:12]}…"
    names = [unicodedata.name(character, "") for character in characters]
    east_asian = sum(name.startswith(EAST_ASIAN) for name in names)
    packages = [*(["fonts-noto-cjk"] if east_asian else []), *(["fonts-noto"] if east_asian < len(names) else [])]
    warnings.warn(
        f"No installed font has {some}: these appear as boxes. On Debian and Ubuntu, 'apt-get install "
        f"{' '.join(packages)}' brings one; elsewhere, install Noto Sans{' CJK' if east_asian else ''}.",
        Notice,
        stacklevel=2,
    )


@lru_cache
def add_new_fonts() -> bool:
    """Add, once per process, fonts installed after matplotlib cached its list; return whether there are any."""
    from matplotlib import font_manager

    known = {font.fname for font in font_manager.fontManager.ttflist}
    new = [path for path in font_manager.findSystemFonts() if path not in known]
    for path in new:
        with suppress(OSError, RuntimeError):  # not a font file
            font_manager.fontManager.addfont(path)
    return bool(new)


def _path_of(name: str) -> str:
    """Return the file of a font."""
    from matplotlib import font_manager

    return str(font_manager.findfont(name))


def installed_fonts() -> list[tuple[str, str]]:
    """Return the names and files of installed fonts of regular style and weight, fonts for many scripts first."""
    from matplotlib import font_manager

    regular = [
        font for font in font_manager.fontManager.ttflist if font.style == "normal" and font.weight in (400, "normal")
    ]
    usable = [font for font in regular if not font.name.startswith(EMPTY)]
    ranked = sorted(usable, key=lambda font: (not font.name.startswith(PREFERRED), font.name))
    return list({font.name: font.fname for font in ranked}.items())


@lru_cache(maxsize=512)
def characters_of(path: str) -> frozenset[int]:
    """Return the code points of a font file; none if it cannot be read."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
