"""Plural forms: which a language has, and which of them a number takes.

gettext chooses a form by a formula that the catalogue states (`plural_formula.py`). Where it states none, the table
here has the formula of the language: CLDR's rules for whole numbers, with CLDR's names of the forms, which Android
writes. Forms that only fractions or millions take are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from manyheads.documents.plural_formula import Formula, parse_formula
from manyheads.errors import ManyheadsError

CATEGORIES = ("zero", "one", "two", "few", "many", "other")
MOST_FORMS = 10
TRIED = 1001  # numbers from 0 that must have a form; msgfmt tries as many

OFTEN = 5  # of these numbers; msgfmt lets forms for fewer lack placeholders

_HEADER = re.compile(r"\s*nplurals\s*=\s*(\w+)\s*;\s*plural\s*=\s*([^;]*);?\s*")
_PLACEHOLDER = re.compile(r"%(?:\d+\$|\(\w+\))?[-+ #0']*[\d.*]*(?:hh?|ll?|[Lqjzt])?[a-zA-Z]|\{[^{}]*\}")

_FEW_OF_TEN = "n%10>=2 && n%10<=4 && (n%100<12 || n%100>14)"
_RULES = (  # the formula, CLDR's names of its forms in order, and the languages
    ("0", "other", "bo dz id ig ja jv km ko la lo ms my sah su th tt vi wo yo yue zh"),
    (
        "n != 1",
        "one other",
        "af an ast az bg ca ce ckb da de dv ee el en eo es et eu fi fo fur fy gl ha haw hu ia io it ka kk kl ks ku ky "
        "lb lg ml mn mr nb ne nl nn no ny om or os pap ps pt_PT rm sc scn sd sn so sq st sv sw syr ta te tk tn tr ts "
        "ug ur uz ve vo xh yi",
    ),
    ("n > 1", "one other", "ak am as bho bn fa ff fr gu hi ht hy kab kn ln mg nso pa pt si ti wa zu"),
    ("n==1 ? 0 : n==2 ? 1 : 2", "one two other", "he iu se"),
    ("n%10==1 && n%100!=11 ? 0 : 1", "one other", "is mk"),
    ("n>=1 && n<=3 || n%10!=4 && n%10!=6 && n%10!=9 ? 0 : 1", "one other", "ceb fil"),
    ("n==1 ? 0 : n>=2 && n<=4 ? 1 : 2", "one few other", "cs sk"),
    (f"n==1 ? 0 : {_FEW_OF_TEN} ? 1 : 2", "one few many", "pl"),
    (f"n%10==1 && n%100!=11 ? 0 : {_FEW_OF_TEN} ? 1 : 2", "one few many", "be ru uk"),
    (f"n%10==1 && n%100!=11 ? 0 : {_FEW_OF_TEN} ? 1 : 2", "one few other", "bs hr sr"),
    ("n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<11 || n%100>19) ? 1 : 2", "one few other", "lt"),
    ("n%10==0 || n%100>=11 && n%100<=19 ? 0 : n%10==1 && n%100!=11 ? 1 : 2", "zero one other", "lv"),
    ("n==1 ? 0 : n==0 || n%100>=1 && n%100<=19 ? 1 : 2", "one few other", "ro"),
    ("n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3", "one two few other", "dsb hsb sl"),
    ("n==1 || n==11 ? 0 : n==2 || n==12 ? 1 : n>=3 && n<=19 ? 2 : 3", "one two few other", "gd"),
    ("n==1 ? 0 : n==2 ? 1 : n>=3 && n<=6 ? 2 : n>=7 && n<=10 ? 3 : 4", "one two few many other", "ga"),
    (
        "n==1 ? 0 : n==2 ? 1 : n==0 || n%100>=3 && n%100<=10 ? 2 : n%100>=11 && n%100<=19 ? 3 : 4",
        "one two few many other",
        "mt",
    ),
    ("n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n==3 ? 3 : n==6 ? 4 : 5", "zero one two few many other", "cy"),
    (
        "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5",
        "zero one two few many other",
        "ar",
    ),
)


@dataclass(frozen=True)
class PluralForms:
    """The plural forms of a language: how many, the formula that chooses one, and CLDR's names of them if known."""

    count: int
    formula: str
    names: tuple[str, ...] = ()

    @cached_property
    def _choose(self) -> Formula:
        """The formula as a function."""
        return parse_formula(self.formula)

    @cached_property
    def _one_is_alone(self) -> bool:
        """Whether the form for 1 is for no other number."""
        return all(self.form(number) != self.form(1) for number in range(TRIED) if number != 1)

    def form(self, number: int) -> int:
        """Return the form that a number takes, from 0."""
        return self._choose(number)

    def is_rare(self, form: int) -> bool:
        """Return whether a form is for so few numbers that its text need not say which."""
        return self._uses[form] < OFTEN

    @cached_property
    def _uses(self) -> Counter[int]:
        """How many numbers take each form."""
        return Counter(map(self.form, range(TRIED)))

    def takes_singular(self, form: int, singular: str, plural: str) -> bool:
        """Whether a form is translated from the singular, and not from the plural.

        The form for 1 is. But where it is for other numbers too, as in French for 0 and in Russian for 21, a singular
        such as "One file", without the placeholders of its plural, would hide the number.
        """
        if self.count == 1 or form != self.form(1):
            return False
        return self._one_is_alone or sorted(_PLACEHOLDER.findall(singular)) == sorted(_PLACEHOLDER.findall(plural))


_FORMS = {
    language: PluralForms(len(names.split()), formula, tuple(names.split()))
    for formula, names, languages in _RULES
    for language in languages.split()
}


def known_languages() -> list[str]:
    """Return the languages whose plural forms are known."""
    return sorted(_FORMS)


def plurals_of(language: str | None) -> PluralForms | None:
    """Return the plural forms of a language such as `de`, `pt-BR` or `zh_Hans`; None if they are not known."""
    parts = (language or "").replace("-", "_").split("_")
    name = "_".join([parts[0].lower(), *(part.upper() for part in parts[1:2])])
    return _FORMS.get(name, _FORMS.get(parts[0].lower()))


def stated_plurals(header: str, *, where: str) -> PluralForms | None:
    """Return the plural forms that a `Plural-Forms` field states; None if it is empty or the field of a template."""
    if not header.strip() or "INTEGER" in header:
        return None
    found = _HEADER.fullmatch(header)
    if found is None or not found[1].isdecimal() or not 1 <= int(found[1][:9]) <= MOST_FORMS:
        raise _refusal(f"the plural forms '{header[:80]}' cannot be read", where)
    forms = PluralForms(int(found[1]), found[2].strip())
    try:
        too_large = next((number for number in range(TRIED) if forms.form(number) >= forms.count), None)
    except ValueError as error:
        raise _refusal(f"the plural formula '{forms.formula[:80]}' cannot be read: {error}", where) from None
    except ZeroDivisionError:
        raise _refusal(f"the plural formula '{forms.formula[:80]}' divides by zero", where) from None
    if too_large is not None:
        problem = f"the plural formula gives the number {too_large} form {forms.form(too_large)}"
        raise _refusal(f"{problem}, and there are {forms.count} forms, from 0", where)
    return forms


def _refusal(problem: str, where: str) -> ManyheadsError:
    """Return the error for plural forms that are refused."""
    return ManyheadsError(f"{problem}.", where=where, cure='Write them as in "nplurals=2; plural=(n != 1);".')
