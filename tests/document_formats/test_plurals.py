"""Plural forms: the formulas give what Babel's copy of CLDR gives, and hostile ones are refused in one sentence."""

from __future__ import annotations

import gettext

import pytest
from babel import Locale
from babel.messages.plurals import get_plural

from manyheads.documents.plural_formula import DEEPEST, LONGEST, parse_formula
from manyheads.documents.plurals import known_languages, plurals_of, stated_plurals
from manyheads.errors import ManyheadsError

NUMBERS = range(201)


@pytest.mark.parametrize("language", known_languages())
def test_a_language_has_the_forms_of_cldr(language: str):
    forms = plurals_of(language)
    assert forms is not None
    rule = Locale.parse(language).plural_form
    assert [forms.names[forms.form(number)] for number in NUMBERS] == [rule(number) for number in NUMBERS]
    assert {forms.form(number) for number in range(1001)} == set(range(forms.count))


@pytest.mark.parametrize("language", ["en", "de", "fr", "pl", "ru", "zh", "ar"])
def test_babel_divides_numbers_into_the_same_forms(language: str):
    theirs, ours = get_plural(language), plurals_of(language)
    stated = stated_plurals(f"nplurals={theirs.num_plurals}; plural={theirs.plural_expr};", where="line 1")
    assert ours is not None and stated is not None
    together = {(ours.form(number), stated.form(number)) for number in NUMBERS}  # Babel counts Arabic's forms otherwise
    assert len(together) == ours.count == stated.count == theirs.num_plurals


@pytest.mark.parametrize(
    "formula",
    [*sorted({plurals_of(language).formula for language in known_languages()}), "!(n%2)", "n-n/3*2>=1", "(n<3)+(n>5)"],
)
def test_a_formula_gives_what_gettext_of_python_gives(formula: str):
    ours, theirs = parse_formula(formula), gettext.c2py(formula)
    assert [ours(number) for number in NUMBERS] == [theirs(number) for number in NUMBERS]


@pytest.mark.parametrize(("name", "same"), [("pt-BR", "pt"), ("pt-pt", "pt_PT"), ("zh_Hans_CN", "zh"), ("DE", "de")])
def test_a_regional_language_is_found(name: str, same: str):
    assert plurals_of(same) is not None
    assert plurals_of(name) == plurals_of(same)


def test_subtraction_wraps_around_as_in_c():
    assert parse_formula("n - 1")(0) == 2**64 - 1


@pytest.mark.parametrize(
    "header",
    [
        "nplurals=2; plural=n>",
        "nplurals=2; plural=(n;",
        "nplurals=2; plural=n)",
        "nplurals=2; plural=",
        "nplurals=2; plural=n n",
        "nplurals=2; plural=n ? 1",
        "nplurals=2; plural=__import__('os').system('true')",
        "nplurals=2; plural=1/n",
        "nplurals=2; plural=n%3",
        "nplurals=2",
        "nplurals=-1; plural=0;",
        "nplurals=0; plural=0;",
        "nplurals=99999999999999999999; plural=0;",
        f"nplurals=2; plural={'(' * DEEPEST}n{')' * DEEPEST};",
        f"nplurals=2; plural={'!' * (LONGEST - 1)}n;",
        f"nplurals=2; plural={'n ? 0 : ' * (LONGEST // 10)}0;",
        f"nplurals=2; plural=n{'+0' * LONGEST};",
        "something else",
    ],
)
def test_a_hostile_formula_is_refused_in_one_sentence(header: str):
    with pytest.raises(ManyheadsError, match=r"^line 7: the plural form[^\n]*\. Write them as in [^\n]*\.$"):
        stated_plurals(header, where="line 7")


@pytest.mark.parametrize("sign", ["+", "*", "&&", "||", "%", "=="])
def test_the_longest_formula_is_computed(sign: str):
    formula = sign.join(["n"] * (LONGEST // (len(sign) + 1)))
    assert parse_formula(formula)(1) in (0, 1, formula.count("n"))


@pytest.mark.parametrize("header", ["", " ", "nplurals=INTEGER; plural=EXPRESSION;"])
def test_a_template_states_no_forms(header: str):
    assert stated_plurals(header, where="line 1") is None


@pytest.mark.parametrize(
    ("language", "form", "singular", "plural", "expected"),
    [
        ("de", 0, "One file", "%d files", True),
        ("de", 1, "One file", "%d files", False),
        ("fr", 0, "One file", "%d files", False),  # also for 0
        ("fr", 0, "%d file", "%d files", True),
        ("ru", 0, "One file", "{n} files", False),  # also for 21
        ("ru", 0, "{n} file", "{n} files", True),
        ("zh", 0, "%d file", "%d files", False),
        ("ar", 0, "%d file", "%d files", False),
        ("ar", 1, "One file", "%d files", True),
    ],
)
def test_a_form_is_translated_from_the_singular_or_the_plural(
    language: str, form: int, singular: str, plural: str, expected: bool
):
    forms = plurals_of(language)
    assert forms is not None and forms.takes_singular(form, singular, plural) is expected
