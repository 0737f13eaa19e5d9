"""TMX as tools write it, and as those who mean harm do."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.data.formats.memories import read_memory
from manyheads.data.formats.memory_units import MemoryUnit
from manyheads.data.formats.tmx import read_tmx
from manyheads.errors import ManyheadsError

HEADER = '<tmx version="1.4"><header srclang="en"/><body>'
FOOTER = "</body></tmx>"
MEMORY = (
    f"<?xml version='1.0'?>\n<!DOCTYPE tmx SYSTEM 'tmx14.dtd'>\n{HEADER}\n"
    "<tu tuid='1'><note>a <seg/>note</note><prop type='x'>text</prop>\n"
    "<tuv xml:lang='en'><seg>Save &amp; <hi>close</hi> ü</seg></tuv>\n<tuv lang='de'><seg><![CDATA[Auf <&]]></seg>"
    f"</tuv></tu>\n<tu srclang='*all*'><tuv><seg/></tuv></tu>{FOOTER}"
)


def units(*blocks: bytes) -> list[MemoryUnit]:
    """Return the units of a file in blocks."""
    return list(read_tmx(iter(blocks), "memory.tmx"))


def segment(content: str) -> str:
    """Return the text that is read of the content of a segment."""
    ((_, text),) = units(f"{HEADER}<tu><tuv xml:lang='en'><seg>{content}</seg></tuv></tu>{FOOTER}".encode())[0].texts
    return text


def test_units_have_their_texts_languages_and_lines():
    assert units(MEMORY.encode()) == [
        MemoryUnit(4, [("en", "Save & close ü"), ("de", "Auf <&")], "en"),
        MemoryUnit(7, [("und", "")], "en"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_memories_are_read_in_the_encodings_of_unicode(encoding: str):
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    assert units((mark + MEMORY).encode(encoding)) == units(MEMORY.encode())


def test_a_declared_encoding_is_heeded():
    declared = MEMORY.replace("<?xml version='1.0'?>", "<?xml version='1.0' encoding='windows-1252'?>")
    assert units(declared.encode("cp1252")) == units(MEMORY.encode())


@LAW
@given(cuts=st.lists(st.integers(1, len(MEMORY.encode()) - 1), max_size=8))
def test_blocks_may_end_anywhere(cuts: list[int]):
    whole = MEMORY.encode()
    ends = sorted({*cuts, len(whole)})
    assert units(*(whole[begin:end] for begin, end in zip([0, *ends], ends, strict=False))) == units(whole)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a <bpt i='1'>&lt;b></bpt>bold<ept i='1'>&lt;/b></ept> word", "a bold word"),
        ("press <ph x='1'>%1$s</ph>, please", "press %1$s, please"),
        ("one<ph>&lt;br class='x</ph>two", "one two"),
        ("see <ph>\\footnote{<sub>a note</sub>}</ph>.", "see  ."),
        ("<it pos='begin'>\\b</it>text <ut>\\par</ut><hi>and <hi>more</hi></hi>", "text and more"),
    ],
)
def test_codes_are_left_out_and_placeholders_stay(content: str, text: str):
    assert segment(content) == text


def hostile() -> Iterator[tuple[str, list[bytes], str]]:
    """Yield names, blocks and what is said."""
    block = b"x" * (1 << 18)
    bomb = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    yield "entity bomb", [f"<!DOCTYPE tmx [<!ENTITY a0 'x'>{bomb}]><tmx>&a9;</tmx>".encode()], "entities"
    yield "file", [b"<!DOCTYPE tmx [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><tmx>&x;</tmx>"], "entities"
    yield "parameters", [b"<!DOCTYPE tmx [<!ENTITY % x SYSTEM 'x.dtd'>%x;]><tmx/>"], "entities"
    yield "entity of a DTD", [b"<!DOCTYPE tmx SYSTEM 'tmx14.dtd'><tmx>&nbsp;</tmx>"], "'nbsp'"
    yield "depth", [b"<a>" * 1000], "levels"
    yield "endless comment", [b"<tmx><!--", *[block] * 40], "longer than"
    yield "endless tag", [b"<tmx ", *[block] * 40], "longer than"
    yield "not closed", [HEADER.encode()], "no element found"
    yield "wrong end", [b"<tmx>\n<tu>\n</tmx>"], "memory.tmx:3"
    yield "nothing", [], "no element found"
    yield "wrong encoding declared", [b"<?xml version='1.0' encoding='utf-8'?><tmx>\xfc</tmx>"], "not well-formed"
    yield "unknown encoding", [b"<?xml version='1.0' encoding='klingon'?><tmx>\xfc</tmx>"], "klingon"


@pytest.mark.parametrize(("blocks", "said"), [pytest.param(*rest, id=name) for name, *rest in hostile()])
def test_what_is_not_safe_is_refused_in_a_sentence(blocks: list[bytes], said: str):
    with pytest.raises(ManyheadsError) as raised:
        units(*blocks)
    assert said in str(raised.value)
    assert "memory.tmx" in str(raised.value)


def test_memory_is_bounded_whatever_a_unit_holds():
    block = b"x" * (1 << 18)
    begin = f"{HEADER}<tu><tuv xml:lang='en'><seg>".encode()
    tracemalloc.start()
    ((_, text),) = units(begin, *[block] * 100, f"</seg></tuv></tu>{FOOTER}".encode())[0].texts
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(text) < peak < 100 * len(block) / 2


def test_a_truncated_archive_is_refused(tmp_path: Path):
    import gzip

    path = tmp_path / "memory.tmx.gz"
    path.write_bytes(gzip.compress(MEMORY.encode())[:-20])
    with pytest.raises(ManyheadsError, match=r"this \.gz file is damaged"):
        list(read_memory(path))
