"""Whatever a model writes, the placeholders of a text are in its translation, and the rest is what the model writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads import Translator
from manyheads.data.tokens.tokenizers import END, Tokenizers
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.protector import Marked, Protector
from manyheads.decoding.search.hypothesis import Hypothesis
from manyheads.decoding.text.placing import Placing
from manyheads.decoding.text.protecting import carried, found_symbols, without
from manyheads.decoding.text.splitting import Splitter
from manyheads.documents.placeholders import protected
from manyheads.documents.splices import spliced
from manyheads.runs.folder import RunFolder
from run_folders import PROSE, make_run

ENGINES = ("torch", "ctranslate2")
KEPT = [
    *("{0}", "%s", "%(name)s", "{{ x }}", "${home}", "[X0X]", "<b>", "</b>"),
    *("https://example.org/a.B?c=1", "me@example.org", "/etc/hosts", "C:\\Users", "MSB3352", "👍🏽"),
]
TEXTS = [
    *(f"15 november {one} 2026 monday" for one in KEPT),
    "%s: 3 may {0}, {1}{2}",
    "(%d) <b>monday</b> 4 june.",
    "march 5 <b>{0}</b> https://example.org/a.b.",
    "v{0} monday, {0} may",
]
MESSAGE = "monday {n, plural, one {# may} other {{name} june}}."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(
        tmp_path_factory.mktemp("runs") / "prose",
        data=PROSE,
        tokenizer={"symbols": True, "byte_fallback": True, "vocabulary": 700},
    ).path


@pytest.fixture(scope="module", params=ENGINES)
def translator(request: pytest.FixtureRequest, run: Path) -> Translator:
    if request.param == "ctranslate2":
        pytest.importorskip("ctranslate2")
    return Translator(run, engine=request.param)


def counts(text: str, output: str) -> dict[str, tuple[int, int]]:
    """Return how often each part to be kept is in a text, and how often it is in an output."""
    found = [one.text for one in protected(text)]
    return {one: (found.count(one), output.count(one)) for one in found}


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_every_placeholder_is_in_every_candidate_as_often_as_in_the_text(translator):
    for text, found in zip(TEXTS, translator.translations(TEXTS, n_best=3), strict=True):
        assert found.candidates
        for candidate in found.candidates:
            numbers = counts(text, candidate.text)
            assert numbers and all(here == there for here, there in numbers.values()), candidate.text


def test_the_rest_is_what_the_model_writes_without_them(translator):
    text = "15 november {0} 2026"
    (whole,) = translator.translations([text])
    (bare,) = translator.translations(["15 november 2026"])
    assert squeezed(whole.text.replace("{0}", "")) == squeezed(bare.text)
    assert whole.candidates[0].log_probability == pytest.approx(bare.candidates[0].log_probability, abs=1e-5)


def test_texts_without_placeholders_are_as_ever_and_stay_in_their_order(translator):
    plain = ["15 november 2026", "", "3 may"]
    mixed = [plain[0], "{0}", plain[1], "%s monday", plain[2]]
    found = translator.translations(mixed)
    assert [found[row] for row in (0, 2, 4)] == translator.translations(plain, placeholders=False)
    assert found[1].text == "{0}" and "%s" in found[3].text


def test_the_option_turns_it_off(translator):
    assert "{0}" not in translator.translate("15 november {0}", placeholders=False)


def test_an_output_begins_with_the_prefix_whether_or_not_it_has_placeholders(translator):
    text = "15 november {0} 2026 %s"
    for prefix in ("2026", "{0} 2026", "2026 %s {0}"):
        found = translator.translate(text, prefix=prefix)
        assert squeezed(found).startswith(squeezed(prefix))
        assert counts(text, found) == {"{0}": (1, 1), "%s": (1, 1)}


def test_alignments_are_between_the_tokens_of_the_whole_texts(translator):
    text = "15 november {0} 2026"
    best = translator.translations([text], alignments=True)[0].candidates[0]
    source, target = translator.tokenizers.source, translator.tokenizers.target
    assert target.decode(best.tokens) == best.text
    attention = np.asarray(best.attention)
    assert attention.shape == (len(best.tokens), len(source.encode(text)) + 1)
    assert np.allclose(attention.sum(axis=1), 1.0, atol=1e-4)
    zeros = [row for row, token in enumerate(target.pieces(best.tokens)) if token.strip("▁") == "{"]
    assert [source.pieces(source.encode(text))[attention[row].argmax()].strip("▁") for row in zeros] == ["{"] * len(
        zeros
    )


def test_formats_by_place_and_tags_keep_their_order(translator):
    for text in ("%d monday 3 may %s june <b>march</b> 4", "<i>monday</i> may <b>june 5</b> {0}"):
        found = [one.text for one in protected(translator.translate(text))]
        turns = [one.text for one in protected(text) if one.text != "{0}"]
        assert [one for one in found if one in turns] == turns


def test_the_skeleton_of_a_plural_form_stays_and_its_texts_are_translated(translator):
    found = translator.translate(MESSAGE)
    skeleton = ["{n, plural, one {", "} other {", "}}"]
    assert [found.count(one) for one in skeleton] == [1, 1, 1]
    assert found.index(skeleton[0]) < found.index("#") < found.index(skeleton[1]) < found.index("{name}")
    assert "june" not in found


def test_the_forms_of_a_plural_are_translated_as_whole_sentences(translator):
    whole = "{n, plural, one {monday # may.} other {monday {name} june.}}"
    assert translator.translate(MESSAGE) == translator.translate(whole)
    assert translator.translate(MESSAGE).startswith("{n, plural, one {")


def test_a_model_without_attention_keeps_them_too(tmp_path):
    run = make_run(tmp_path / "plain", data=PROSE, kind="recurrent", source_attention="none")
    translator = Translator(run.path, engine="torch")
    assert counts(TEXTS[0], translator.translate(TEXTS[0])) == {KEPT[0]: (1, 1)}


# --- Copy symbols ----------------------------------------------------------------------------------------------------


class Copier:
    """An engine whose outputs are its sources, each changed by a function."""

    aligns = False

    def __init__(self, tokenizers: Tokenizers, *changes) -> None:
        self.tokenizers, self.changes = tokenizers, changes
        self.read: list[str] = []

    def search(self, sources, options, *, prefix: Sequence[int] = ()):
        texts = [self.tokenizers.source.decode(ids) for ids in sources]
        self.read += texts
        return [[self._hypothesis(change(text)) for change in self.changes] for text in texts]

    def _hypothesis(self, text: str) -> Hypothesis:
        return Hypothesis([*self.tokenizers.target.encode(text), END], -1.0, -1.0, finished=True)

    def score(self, sources, targets):
        raise NotImplementedError


def protect(run: Path, text: str, *changes, **options) -> tuple[list[str], list[str]]:
    """Return the outputs for a text by an engine that changes what it reads, and what it has read."""
    tokenizers = RunFolder.open(run).tokenizers()
    engine = Copier(tokenizers, *changes)
    protector = Protector(engine, tokenizers, lambda text: any(map(str.isalpha, text)))
    marked = Marked(text, tokenizers.source.encode(text), [], protected(text))
    (found,) = protector.translate([marked], TranslationOptions(**options))
    return [one.text for one in found], engine.read


def same(text: str) -> str:
    return text


def test_symbols_carry_placeholders_through_a_model_that_has_them(run):
    outputs, read = protect(run, "monday '{0}' may %s", lambda text: " ".join(reversed(text.split())))
    assert outputs == ["%s may '{0}' monday"]
    assert read == ["monday '<copy0>' may <copy1>"]


def test_an_output_further_down_the_beam_is_better_than_one_that_lost_a_symbol(run):
    outputs, read = protect(run, "monday {0}", lambda text: "may", same, lambda text: f"may {text}", n_best=2)
    assert outputs == ["monday {0}", "may monday {0}"] and len(read) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("<copy1>", ""),
        lambda text: text.replace("<copy1>", "<copy1> <copy1>"),
        lambda text: text.replace("<copy1>", "<copy7>"),
        lambda text: text.replace("<copy0>", "<x>").replace("<copy1>", "<copy0>").replace("<x>", "<copy1>"),
    ],
)
def test_an_output_with_a_symbol_lost_doubled_or_out_of_turn_is_not_taken(run, change):
    outputs, read = protect(run, "%d monday %s may", change)
    assert len(read) == 2 and "<copy" not in read[1]
    assert outputs == ["%d monday %s may"]


def test_more_placeholders_than_symbols_are_put_back_as_well(run):
    text = " may ".join(f"{{{number}}}" for number in range(40))
    outputs, _ = protect(run, text, same)
    assert counts(text, outputs[0]) == {f"{{{number}}}": (1, 1) for number in range(40)}


def test_a_symbol_that_the_text_has_already_is_not_used(run):
    assert protect(run, "<copy0> may {0}", same)[1] == ["<copy0> may <copy1>"]


# --- Readings, places, parts -----------------------------------------------------------------------------------------

pieces = st.lists(
    st.sampled_from([*KEPT, "may", "June.", " ", " ", "  ", ", ", "(", ")", '"', "v", "-", "文"]), max_size=12
)
PIECES = pieces.map("".join)


@LAW
@given(text=PIECES)
def test_readings_and_their_splices_make_the_sentence(text):
    found = protected(text)
    for reading in (without(text, found), without(text, found, singly=True), carried(text, found)):
        assert spliced(reading.text, reading.splices) == text
    reading = carried(text, found)
    assert spliced(reading.text, found_symbols(reading, reading.text)) == text


class Words:
    """A tokenizer whose tokens are words."""

    def encode(self, text: str) -> list[str]:
        return text.split()

    def encode_all(self, texts: Sequence[str], *, threads: int | None = 1) -> list[list[str]]:
        return [text.split() for text in texts]


@LAW
@given(text=PIECES, longest=st.integers(1, 4), by_sentence=st.booleans())
def test_no_part_of_a_text_ends_within_what_is_kept(text, longest, by_sentence):
    splitter = Splitter(Words(), is_prose=True, by_sentence=by_sentence)
    for limit in (0, longest):
        parts = splitter.split(text, longest=limit)
        whole = "".join(gap + sentence for gap, sentence in zip(parts.gaps, [*parts.sentences, ""], strict=True))
        assert whole == text
        offset, edges = 0, []
        for gap, sentence in zip(parts.gaps, [*parts.sentences, ""], strict=True):
            edges += [offset + len(gap), offset + len(gap) + len(sentence)]
            offset = edges[-1]
        assert not any(one.start < edge < one.end for one in protected(text) for edge in edges)


def test_a_placeholder_goes_where_the_attention_of_its_neighbours_is():
    source, output = "a b c d", "C D A B"
    ends = [1, 3, 5, 7]
    attention = np.eye(4)[[2, 3, 0, 1]].tolist()
    placing = Placing(source, ends, output, ends, attention)
    assert placing.of(source.index(" b")) == output.index(" B")
    assert placing.of(source.index(" d")) == output.index(" D")
    assert placing.of(0) == 0 and placing.of(len(source)) == len(output)
    by_share = Placing(source, ends, output, ends, None)
    assert by_share.of(source.index("c")) == output.index("A")


@pytest.mark.parametrize(
    ("source", "output", "expected"), [("Data:", "Daten:", 6), ("Go back", "Geh!", 3), ("Go back.", "Geh!", 4)]
)
def test_at_the_end_of_a_sentence_its_punctuation_decides(source, output, expected):
    assert Placing(source, [], output, [], None).of(len(source)) == expected
