"""The catalogue is complete and consistent, and true of the real files where those are at hand."""

import os
import re
from pathlib import Path

import pytest

from manyheads.config.reading import load_cut
from manyheads.data.public import catalogue
from manyheads.data.public.catalogue import CATALOGUE, find
from manyheads.data.public.download import content_sha256, get, is_verified
from manyheads.data.public.public_corpus import Corpus, DataFile
from manyheads.errors import ManyheadsError

NAMES = [
    "multi30k",
    "multi30k-tok",
    "tatoeba-deu-eng",
    "tatoeba-fra-eng",
    "tatoeba-cmn-eng",
    "tatoeba-dev-eng-zho",
    "cmudict-g2p",
    "babi",
    "babi-10k",
    "scan",
    "wikitext-2",
    "tinyshakespeare",
    "glove-100d",
    "europarl",
    "d365",
    "software",
    "php",
    "pydoc",
    "djdoc",
    "ghdocs",
    "k8s",
    "twlaw",
    "cow",
]
FILES = [file for corpus in CATALOGUE for file in corpus.files]


def real_data() -> Path:
    folder = os.environ.get("MANYHEADS_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs the public corpora: set MANYHEADS_DATA to a folder that has them.")
    return Path(folder)


def test_every_corpus_has_its_name():
    assert [corpus.name for corpus in CATALOGUE] == NAMES


@pytest.mark.parametrize("corpus", CATALOGUE, ids=NAMES)
def test_a_corpus_says_what_it_is_and_under_which_licence(corpus: Corpus):
    assert corpus.files
    assert corpus.description
    assert "\n" not in corpus.description
    assert corpus.licence
    assert corpus.homepage
    assert corpus.attribution
    for name in corpus.spdx.split(" AND "):
        assert re.fullmatch(r"NONE|LicenseRef-[A-Za-z-]+|[A-Z][A-Za-z0-9]*(-[A-Za-z0-9.]+)*", name)


def test_nothing_that_forbids_it_may_be_in_shipped_weights():
    for corpus in CATALOGUE:
        if corpus.spdx == "NONE" or "-NC-" in corpus.spdx:
            assert not corpus.shippable
    assert {corpus.name for corpus in CATALOGUE if not corpus.shippable} == {
        "multi30k",
        "multi30k-tok",
        "tatoeba-dev-eng-zho",
    }


def test_the_translator_learns_only_from_what_may_be_shipped():
    recipe = load_cut(Path(__file__).parents[2] / "recipes" / "cuts" / "manyheads-1.yaml")
    allowed = {f"data:{file.path}" for corpus in CATALOGUE if corpus.shippable for file in corpus.files}
    assert {corpus.pairs for corpus in recipe.corpora} <= allowed


def test_paths_are_unique_relative_and_compressed():
    paths = [file.path for file in FILES]
    assert len(set(paths)) == len(paths)
    for path in paths:
        assert path.endswith(".gz")
        assert not path.startswith("/")
        assert ".." not in Path(path).parts


@pytest.mark.parametrize("file", FILES, ids=[file.path for file in FILES])
def test_checksums_and_addresses_are_well_formed(file: DataFile):
    assert re.fullmatch("[0-9a-f]{64}", file.content_sha256)
    assert file.content_bytes > 0
    assert file.url is None or file.url.startswith("https://")
    # A public archive needs the member that is meant; a public .gz file that is kept, its own checksum.
    if file.url is not None and file.url.endswith((".zip", ".tar.gz")):
        assert file.member is not None
    elif file.url is not None:
        assert file.fetched_sha256 is not None


def test_a_corpus_without_an_address_says_why():
    for corpus in CATALOGUE:
        if any(file.url is None for file in corpus.files):
            assert corpus.note


def test_the_checksum_of_the_fetched_bytes():
    multi30k = find("multi30k").files[0]
    assert multi30k.fetched_sha256 == multi30k.packed_sha256 != multi30k.content_sha256
    shakespeare = find("tinyshakespeare").files[0]
    assert shakespeare.fetched_sha256 == shakespeare.content_sha256
    assert find("babi").files[0].fetched_sha256 is None
    assert find("glove-100d").files[0].fetched_sha256 is None


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ManyheadsError, match=r"no corpus 'multi3k' in the catalogue\. Did you mean 'multi30k'\?"):
        find("multi3k")
    with pytest.raises(ManyheadsError, match="Known: babi, babi-10k, cmudict-g2p"):
        find("qqqqqq")


def test_the_catalogue_cannot_be_changed():
    with pytest.raises(AttributeError):
        CATALOGUE[0].name = "other"  # type: ignore[misc]
    assert isinstance(catalogue.CATALOGUE, tuple)


@pytest.mark.parametrize("file", FILES, ids=[file.path for file in FILES])
def test_the_real_file_has_the_content_that_the_catalogue_promises(file: DataFile):
    path = real_data() / file.path
    if not path.exists():
        pytest.skip(f"the folder MANYHEADS_DATA has no {file.path}.")
    assert content_sha256(path, archive=file.is_archive) == file.content_sha256


@pytest.mark.parametrize("name", ["multi30k-tok", "babi", "tinyshakespeare", "ghdocs"])
def test_a_real_corpus_is_copied_and_verified(name: str, tmp_path: Path):
    source = real_data()
    if not all((source / file.path).exists() for file in find(name).files):
        pytest.skip(f"the folder MANYHEADS_DATA has no {name}.")
    paths = get(name, tmp_path, source=source)
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [file.path for file in find(name).files]
    assert all(is_verified(path, file) for path, file in zip(paths, find(name).files, strict=True))
