"""What must survive translation is recognised, where it stands, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.documents.placeholders import placeholders, protected, same_placeholders


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Copied {0} of {1:N2} files", ["{0}", "{1:N2}"]),
        ("Hello {name}, hello {{ user.name }}{}", ["{name}", "{{ user.name }}", "{}"]),
        ("${path}: $(Build.SourceBranch)", ["${path}", "$(Build.SourceBranch)"]),
        ("%s, %d, %5.1f%% and %1$s", ["%s", "%d", "%5.1f", "%1$s"]),
        ("%(count)d files in %PATH%, %1 of %2", ["%(count)d", "%PATH%", "%1", "%2"]),
        ("启动%1内核，共%s个", ["%1", "%s"]),
        ("<b>bold</b>, a <a href='x.html'>link</a><br/>", ["<b>", "</b>", "<a href='x.html'>", "</a>", "<br/>"]),
        ("<0>text</0>", ["<0>", "</0>"]),
        ("See https://example.org/a?b=1, (www.example.org).", ["https://example.org/a?b=1", "www.example.org"]),
        ("Write to me.too@mail.example.org.", ["me.too@mail.example.org"]),
        ("{% trans %}", ["{% trans %}"]),
        ('[X0X] and <x id="1"/>, [XOX]', ["[X0X]", '<x id="1"/>']),
    ],
)
def test_placeholders_are_found_in_their_order(text, expected):
    assert [one.text for one in placeholders(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "50% discount, 100 % sure, 5%des",
        "&File, &&Open, A & B",
        "<path>, <none>, a < b > c",
        "{a sentence in braces}",
        "{count, plural, one {# file} other {# files}}",
        "https:// is a scheme",
        "%%s",
        "user @ home",
    ],
)
def test_what_is_translated_is_no_placeholder(text):
    assert placeholders(text) == []


@pytest.mark.parametrize(
    "text, expected",
    [
        (
            r"See /etc/hosts, ~/a.txt, ../b/c.py and C:\Users\me.",
            ["/etc/hosts", "~/a.txt", "../b/c.py", r"C:\Users\me"],
        ),
        ("MSB3352: 2.20.0, v1.2.3 at 192.168.0.1:80", ["MSB3352", "2.20.0", "v1.2.3", "192.168.0.1:80"]),
        ("0x1F of 550e8400-e29b-41d4-a716-446655440000", ["0x1F", "550e8400-e29b-41d4-a716-446655440000"]),
        ("Port 33418", ["33418"]),
        ("↩ 👍🏽 👨\u200d👩\u200d👧 🇩🇪 \ue123", ["↩", "👍🏽", "👨\u200d👩\u200d👧", "🇩🇪", "\ue123"]),
        ("# files of {0}", ["#", "{0}"]),
        ("Run `git init -q`, see ``True`` or `https://a.org/b`.", ["`git init -q`", "``True``", "`https://a.org/b`"]),
        ("请确保扩展`{0}`已安装, I don`t know, you can`t", ["`{0}`"]),
        ("``quoted'' text, a ` alone, and `a link <https://a.org>`_", ["https://a.org"]),
        ("and/or, km/h, 24/7, TCP/IP, 3 of 1984, 1.000.000, 12,345,678, 15.11.2026, 1st, #5", []),
    ],
)
def test_a_translator_keeps_paths_codes_and_pictures_too(text, expected):
    assert [one.text for one in protected(text)] == expected


pieces = st.sampled_from(
    [
        "{0}",
        "{",
        "}",
        "%",
        "s",
        "C:\\",
        "`",
        "🇩",
        "12345",
        "#",
        "%s",
        "%%",
        "$",
        "(x)",
        "<b>",
        "<",
        ">",
        "/",
        "@a.b",
        "http://",
        "w",
        " ",
    ]
)


@LAW
@given(text=st.lists(pieces).map("".join))
def test_they_stand_where_they_say_and_never_overlap(text):
    for found in (placeholders(text), protected(text)):
        end = 0
        for one in found:
            assert end <= one.start < one.end
            assert text[one.start : one.end] == one.text
            end = one.end
    kept = protected(text)
    assert all(any(one.start <= some.start and some.end <= one.end for one in kept) for some in placeholders(text))


def test_both_sides_must_have_the_same_in_any_order():
    assert same_placeholders("%s has %d files", "%d Dateien hat %s")
    assert not same_placeholders("%s has %d files", "%s hat Dateien")
    assert not same_placeholders("{0} and {0}", "{0}")


def test_addresses_and_attributes_may_be_those_of_another_language():
    assert same_placeholders(
        '<a href="/en">See https://example.org/en-us/</a>', '<a href="/de">Siehe https://example.org/de-de/</a>'
    )
    assert not same_placeholders("See https://example.org", "Siehe dort")
