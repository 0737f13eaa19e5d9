"""Questions about facts: the format of bAbI, JSON, the archive, the words, and batches with empty memories."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manyheads.config.corpora import CorpusSettings
from manyheads.config.tasks.memory_questions import StoriesSettings
from manyheads.data.batches.memories import MemoryBatches, MemoryRows, places_with_noise
from manyheads.data.formats.detection import with_format
from manyheads.data.generated import Split
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.files import data_folder
from manyheads.data.text.records import Pair
from manyheads.data.text.stories import StoryQuestion, read_questions, read_stories, stories_of
from manyheads.data.tokens.word_list import WordList, words_of
from manyheads.errors import ManyheadsError
from manyheads.runs.inputs import corpus_inputs

STORY = """\
1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Mary got the milk.
5 What is Mary carrying? \tmilk,football\t4
1 How are you, Sandra?
2 Sandra went to the garden.
3 Where is Sandra?\tgarden\t2
"""


def read(text: str, memory: int = 50) -> list[StoryQuestion]:
    return list(read_stories(text.splitlines(), where="file", memory=memory))


def asked(text: str, memory: int = 50) -> list[StoryQuestion]:
    return list(read_questions(text.splitlines(), where="file", memory=memory))


def test_a_question_is_about_the_facts_of_its_story_before_it():
    first, second, third = read(STORY)
    moved, went, got = "Mary moved to the bathroom.", "John went to the hallway.", "Mary got the milk."
    assert first == StoryQuestion((moved, went), "Where is Mary?", "bathroom")
    assert second == StoryQuestion((moved, went, got), "What is Mary carrying?", "milk,football")
    assert third == StoryQuestion(("How are you, Sandra?", "Sandra went to the garden."), "Where is Sandra?", "garden")


def test_the_most_recent_facts_are_kept_and_the_others_counted():
    assert [(len(one.facts), one.dropped) for one in read(STORY, memory=2)] == [(2, 0), (2, 1), (2, 0)]
    assert read(STORY, memory=2)[1].facts == ("John went to the hallway.", "Mary got the milk.")


def test_a_line_of_json_is_a_story_with_a_question():
    line = json.dumps({"facts": ["A is B.", "B is C."], "question": "What is A?", "answer": "C"})
    assert read(line) == [StoryQuestion(("A is B.", "B is C."), "What is A?", "C")]
    assert asked(line) == read(line)
    assert asked('{"facts": ["A."], "question": "B?"}') == [StoryQuestion(("A.",), "B?", None)]


def test_what_is_to_be_answered_needs_neither_numbers_nor_answers():
    expected = [StoryQuestion(("Mary went to the hall.", "John left."), "Where is Mary?", None)]
    assert asked("Mary went to the hall. John left. Where is Mary?") == expected
    assert asked("Mary went to the hall.\nJohn left.\n\nWhere is Mary?") == expected
    assert asked("1 Mary went to the hall.\n2 John left.\n3 Where is Mary?") == expected
    assert asked("1 Mary went to the hall.\n2 John left.\n3 Where is Mary?\thall\t1") == expected
    assert [one.facts for one in asked("1 A.\n2 B?\n1 C.\n2 D?")] == [("A.",), ("C.",)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 Where is Mary?\tbathroom\t1", "file:1: this question comes before any fact."),
        ("1 Mary left.\n1 Where is Mary?\tout", "file:2: this question comes before any fact."),
        ("1 Mary left.\n2 Where is Mary?\t\t1", "file:2: this question has no answer."),
        ("1 Mary left.\nWhere is Mary?\tout", "file:2: this line has no number."),
        ('{"facts": [], "question": "A?", "answer": "B"}', "file:1: this question comes before any fact."),
        ('{"facts": "A.", "question": "A?", "answer": "B"}', "'facts' is missing or not a list of strings."),
        ('{"facts": ["A."], "answer": "B"}', "'question' is missing or not a string."),
        ('{"facts": ["A."], "question": "A?", "answer": 3}', "'answer' is not a string, or is empty."),
        ('{"facts": ["A."], "question": "A?"}', "file:1: this question has no answer."),
        ('{"facts": ["A."]', "file:1: this line is not JSON"),
    ],
)
def test_a_mistake_in_a_file_is_one_sentence(text: str, sentence: str):
    with pytest.raises(ManyheadsError) as caught:
        read(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_without_questions_is_refused(tmp_path: Path):
    for content in ("", "1 Mary left.\n2 John left.\n"):
        file = tmp_path / "facts.txt"
        file.write_text(content, encoding="utf-8")
        with pytest.raises(ManyheadsError, match="this file has no question"):
            stories_of(StoriesSettings(files=(str(file),)), memory=5, split="train")


def test_several_files_are_tasks_with_the_names_of_the_files(tmp_path: Path):
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(STORY, encoding="utf-8")
    settings = StoriesSettings.model_validate([str(tmp_path / "one.txt"), str(tmp_path / "two.txt")])
    assert [one.task for one in stories_of(settings, memory=9, split="train")] == ["one"] * 3 + ["two"] * 3
    alone = StoriesSettings.model_validate(str(tmp_path / "one.txt"))
    assert {one.task for one in stories_of(alone, memory=9, split="train")} == {""}
    assert len(stories_of(StoriesSettings.model_validate(str(tmp_path)), memory=9, split="train")) == 6


def archive(place: Path, members: dict[str, str]) -> Path:
    with tarfile.open(place, "w:gz") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content.encode())
            tar.addfile(entry, io.BytesIO(content.encode()))
    return place


def test_the_archive_of_babi_is_read_in_the_order_of_the_tasks(tmp_path: Path):
    other = "1 A is B.\n2 What is A?\tB\t1\n"
    members = {"en/qa2_two_train.txt": other, "en/qa1_one_test.txt": other, "en/qa1_one_train.txt": STORY}
    place = archive(tmp_path / "babi.tar.gz", {**members, "en/readme.txt": "no story"})
    settings = StoriesSettings.model_validate({"babi": str(place), "numbers": [1, 2]})
    assert [one.task for one in stories_of(settings, memory=9, split="train")] == ["qa1"] * 3 + ["qa2"]
    test = StoriesSettings.model_validate({"babi": str(place), "numbers": [1], "split": "test"})
    assert [one.answer for one in stories_of(test, memory=9, split="train")] == ["B"]
    with pytest.raises(ManyheadsError, match="no train questions of these tasks: 3, 4"):
        stories_of(settings.model_copy(update={"numbers": (1, 3, 4)}), memory=9, split="train")


def test_a_path_alone_may_be_an_archive():
    assert StoriesSettings.model_validate("data:babi/x.tar.gz").babi == "data:babi/x.tar.gz"


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00damaged"])
def test_what_is_no_archive_is_refused_with_a_sentence(content: bytes, tmp_path: Path):
    place = tmp_path / "babi.tar.gz"
    place.write_bytes(content)
    with pytest.raises(ManyheadsError, match="this is not an archive of bAbI") as caught:
        stories_of(StoriesSettings(babi=str(place)), memory=9, split="train")
    assert "\n" not in str(caught.value)


BABI = data_folder() / "babi" / "babi_tasks_1-20_v1-2_en.tar.gz"


@pytest.mark.skipif(not BABI.exists(), reason="MANYHEADS_DATA has no bAbI: manyheads data get babi")
@pytest.mark.parametrize("split", ["train", "test"])
def test_babi_has_a_thousand_questions_of_each_task(split: str):
    found = stories_of(StoriesSettings(babi=str(BABI), split=split), memory=50, split="train")
    tasks = [one.task for one in found]
    assert {task: tasks.count(task) for task in tasks} == {f"qa{number}": 1000 for number in range(1, 21)}
    assert {one.answer for one in found if one.task == "qa6"} == {"yes", "no"}
    assert all("," in one.answer for one in found if one.task == "qa19")  # a path of two directions is one answer
    assert {one.dropped > 0 for one in found if one.task == "qa3"} == {False, True}


def test_words_are_in_lower_case_without_punctuation():
    assert words_of("Mary's milk, isn't it?  A well-known one!") == [
        "mary's",
        "milk",
        "isn't",
        "it",
        "a",
        "well-known",
        "one",
    ]


def test_an_answer_is_a_word_even_if_it_is_a_list():
    words = WordList.collect(["Mary left."], ["Milk,football", "mary"])
    assert words.words == ["", "left", "mary", "milk,football"]
    assert (words.ids("Mary, John left!"), words.unknown("Mary, John left!")) == ([2, 1], ["john"])
    assert (words.answer_id("milk,football"), words.answer_id("milk")) == (3, None)


def rows(memory: int = 50) -> tuple[MemoryRows, WordList]:
    examples = read(STORY, memory)
    words = WordList.collect(
        (s for one in examples for s in (*one.facts, one.question)), [one.answer for one in examples]
    )
    return MemoryRows.of(examples, words), words


def sentences_in(batch, words: WordList, row: int) -> list[str]:
    facts = batch.sentences[batch.facts[row, : batch.counts[row]]]
    return [" ".join(words.words[i] for i in fact if i) for fact in facts]


def test_a_batch_has_the_most_recent_fact_first_and_the_right_answer():
    table, words = rows()
    batch = table.lay_out(np.array([1, 0]))
    assert sentences_in(batch, words, 0) == [
        "mary got the milk",
        "john went to the hallway",
        "mary moved to the bathroom",
    ]
    assert sentences_in(batch, words, 1) == ["john went to the hallway", "mary moved to the bathroom"]
    assert [words.words[i] for i in batch.answers] == ["milk,football", "bathroom"]
    assert len(batch.sentences) == 4  # three different facts, and no fact


@pytest.mark.parametrize("count", [1, 5, 20])
def test_empty_memories_are_inserted_without_changing_the_order(count: int):
    random = np.random.default_rng(0)
    drawn = [places_with_noise(count, 0.2, random) for _ in range(200)]
    assert all((np.diff(places) > 0).all() and len(places) == count for places in drawn)
    assert {int(places[-1]) + 1 - count for places in drawn} == set(range(int(np.ceil(0.2 * count)) + 1))


def test_the_noise_follows_from_the_seed_and_the_number_of_the_batch():
    table, words = rows()
    one, same, other = (MemoryBatches(table, size=2, memory=50, noise=0.9, seed=seed) for seed in (1, 1, 2))

    def facts(batches: MemoryBatches, index: int) -> list[list[str]]:
        batch = batches[index]
        return [sentences_in(batch, words, row) for row in range(len(batch.counts))]

    backwards = [facts(same, index) for index in reversed(range(20))][::-1]
    assert [facts(one, index) for index in range(20)] == backwards
    assert backwards != [facts(other, index) for index in range(20)]
    assert len({str(facts(one, index)) for index in range(20)}) > 5
    assert any("" in row for index in range(20) for row in facts(one, index))


def test_with_noise_no_more_is_laid_out_than_the_memory_holds():
    table, _ = rows(memory=2)
    batches = MemoryBatches(table, size=3, memory=2, noise=0.9, seed=1)
    for index in range(20):
        batch = batches[index]
        assert batch.facts.shape[1] <= 2
        assert batch.counts.max() <= 2


def test_an_epoch_has_every_question_once_as_far_as_batches_are_full():
    table, _ = rows()
    batches = MemoryBatches(table, size=1, memory=50, noise=0.0, seed=1)
    assert batches.per_epoch == 3
    assert sorted(int(batches[index].examples[0]) for index in range(3, 6)) == [0, 1, 2]


def pairs_of(place: Path, *, split: Split = "train", **keys: Any) -> list[Pair]:
    settings = CorpusSettings.model_validate(with_format({"pairs": str(place), **keys}))
    return list(open_corpus(settings, split=split).pairs())


@pytest.fixture
def every_task(tmp_path: Path) -> Path:
    members = {
        f"en/qa{number}_x_{part}.txt": f"1 {part} {number} is A.\n2 What is A?\t{part}\t1\n"
        for number in range(1, 21)
        for part in ("train", "test")
    }
    return archive(tmp_path / "babi.tar.gz", members)


def test_an_archive_of_babi_is_a_corpus_of_pairs(every_task: Path):
    numbers = range(1, 21)
    for split in ("train", "test"):
        assert pairs_of(every_task, split=split) == [Pair(f"{split} {n} is A. What is A?", split) for n in numbers]
    kept = pairs_of(every_task, keep={"task": ["qa7", "qa2"]})
    assert [pair.source.split()[1] for pair in kept] == ["7", "2"]


def test_the_pairs_are_the_questions_that_a_memory_network_reads(tmp_path: Path):
    place = archive(tmp_path / "babi.tar.gz", {"en/qa1_one_train.txt": STORY})
    found = pairs_of(place, keep={"task": ["qa1"]})
    assert found == [Pair(one.source, one.answer or "") for one in read(STORY)]


def test_an_archive_of_anything_else_is_refused_with_what_to_do(tmp_path: Path):
    place = archive(tmp_path / "mine.tar.gz", {"train.tsv": "one\ttwo\n"})
    with pytest.raises(ManyheadsError, match=r"only that of bAbI is read.*Unpack it"):
        list(open_corpus(CorpusSettings(pairs=str(place)), split="train").pairs())


def test_the_part_of_an_archive_decides_whether_a_corpus_is_the_same(every_task: Path):
    settings = CorpusSettings.model_validate({"pairs": str(every_task)})
    one_task = CorpusSettings.model_validate({"pairs": str(every_task), "keep": {"task": ["qa1"]}})
    keys = {open_corpus(settings, split=split).key() for split in ("train", "test")}
    assert len(keys | {open_corpus(one_task, split="train").key()}) == 3
    assert [one.is_text for one in corpus_inputs(settings, "training")] == [False]


@pytest.mark.parametrize(
    ("split", "keys", "message"),
    [
        ("valid", {}, "an archive of bAbI has no validation questions.*data.held_out"),
        ("train", {"keep": {"task": ["qa21"]}}, "`keep` names tasks of bAbI"),
        ("train", {"keep": {"answer": ["A"]}}, "`keep` names tasks of bAbI"),
    ],
)
def test_what_an_archive_does_not_have_is_refused(every_task: Path, split: Split, keys: dict, message: str):
    with pytest.raises(ManyheadsError, match=message):
        pairs_of(every_task, split=split, **keys)
