"""A paragraph is translated sentence by sentence, by the library, the command and the server alike."""

from pathlib import Path

import pytest

from manyheads.decoding.translator import Candidate, Translation, Translator, combined
from run_folders import PROSE, make_multilingual_run, make_run
from served import serving

SENTENCES = ["3 May 2021 sat.", "It was 4 May 2020!", "Dr. June met 5 July 2019?", "June 1999 …"]
PARAGRAPH = f"{SENTENCES[0]} {SENTENCES[1]}  {SENTENCES[2]}\n\n{SENTENCES[3]}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_multilingual_run(tmp_path_factory.mktemp("paragraphs") / "run").path


@pytest.fixture(scope="module")
def translator(run: Path) -> Translator:
    return Translator(run)


@pytest.fixture(scope="module")
def expected(translator: Translator) -> str:
    """The paragraph put together by hand."""
    first, second, third, fourth = translator.translate(SENTENCES, to="fr")
    return f"{first} {second}  {third}\n\n{fourth}"


def test_the_library_translates_each_sentence(translator: Translator, expected: str):
    assert translator.translate(PARAGRAPH, to="fr") == expected
    (found,) = translator.translations([PARAGRAPH], to="fr")
    assert [part.source for part in found.parts] == SENTENCES


def test_the_command_and_the_server_give_the_same_translation(command, run: Path, expected: str):
    assert command("translate", "--model", run, "--to", "fr", PARAGRAPH).out == expected + "\n"
    with serving([run]) as server:
        assert server.translate(PARAGRAPH, target="fr").json()["translatedText"] == expected


def test_both_engines_split_alike(run: Path, translator: Translator):
    torch = Translator(run, engine="torch")
    assert torch.translate(PARAGRAPH, to="fr") == translator.translate(PARAGRAPH, to="fr")


def test_alternatives_have_the_alternatives_of_each_sentence():
    def translation(*texts: str) -> Translation:
        return Translation("", [Candidate(text, 0.0, 0.0, []) for text in texts])

    found = combined([translation("a", "b", "c"), translation("d"), translation(), translation("e", "f")])
    assert ["".join(one.text for one in row) for row in found] == ["ade", "bdf", "cdf"]


def test_a_limit_of_zero_reads_the_paragraph_whole(translator: Translator):
    (found,) = translator.translations([PARAGRAPH], to="fr", split_above=0)
    assert found.parts == ()


def test_a_run_of_documents_and_one_on_a_generated_task_read_it_whole(tmp_path: Path):
    documents = make_run(tmp_path / "documents", data={**PROSE, "units": "documents"})
    generated = make_run(tmp_path / "generated")
    for run in (documents, generated):
        (found,) = Translator(run.path).translations([PARAGRAPH])
        assert found.parts == ()


@pytest.mark.parametrize("text", ["123", "!!!", "😀", "3.50 €", "— … —", "٣٤"])
def test_text_without_letters_stays_as_it_is(command, run: Path, translator: Translator, text: str):
    assert translator.translate(text, to="fr") == text
    assert command("translate", "--model", run, "--to", "fr", "--n-best", "2", text).out == f"0.0000\t{text}\n"
    with serving([run]) as server:
        assert server.translate(f"{text}\n3 May", target="fr").json()["translatedText"].startswith(f"{text}\n")


def test_a_generated_task_translates_digits(tmp_path: Path):
    dates = Translator(make_run(tmp_path / "dates").path)
    (found,) = dates.translations(["2026-11-15"])
    assert found.candidates[0].tokens


def test_evaluating_paragraphs_scores_their_sentences(command, run: Path, expected: str, tmp_path: Path):
    source = " ".join(SENTENCES)
    (tmp_path / "pairs.tsv").write_text(f"{source}\t{source}\n", encoding="utf-8")
    saved = tmp_path / "out.txt"
    result = command("evaluate", run, "--pairs", tmp_path / "pairs.tsv", "--to", "fr", "--save", saved)
    assert result.code == 0, result.err
    assert saved.read_text(encoding="utf-8").split() == expected.split()


def test_alignments_count_through_all_sentences(command, run: Path):
    def aligned(text: str) -> list[list[int]]:
        out = command("translate", "--model", run, "--to", "fr", "--alignments", text).out
        return [[int(number) for number in pair.split("-")] for pair in out.split(" ||| ")[1].split()]

    first, second, both = (aligned(text) for text in (*SENTENCES[:2], " ".join(SENTENCES[:2])))
    words, written = len(SENTENCES[0].split()), len(first)
    assert both == [*first, *([source + words, target + written] for source, target in second)]
