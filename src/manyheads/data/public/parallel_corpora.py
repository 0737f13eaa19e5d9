"""Parallel text with English from public repositories, on which the shipped translator was trained.

The files were made by aligning and filtering the sentences of these repositories, so they have no public address:
`manyheads data get NAME --from FOLDER` copies them from a folder that has them.
"""

from __future__ import annotations

from manyheads.data.public.public_corpus import Corpus, DataFile

Row = tuple[str, int, str]  # language, bytes of the content, sha256 of the content


def _files(name: str, *rows: Row) -> tuple[DataFile, ...]:
    """Return the file of each language that is paired with English."""
    return tuple(
        DataFile(path=f"parallel/{name}.{language}-en.tsv.gz", content_bytes=size, content_sha256=sha256)
        for language, size, sha256 in rows
    )


def _made_from(origin: str) -> str:
    """Return a note on why there is no public address."""
    return f"Made from {origin} by aligning and filtering; the result itself is not published."


PARALLEL: tuple[Corpus, ...] = (
    Corpus(
        name="europarl",
        description="European Parliament, debates of 1999–2012, English⇥German or French (299,824 + 299,789 pairs)",
        licence="reuse authorised with the source named",
        spdx="LicenseRef-European-Parliament",
        attribution="Source: European Parliament",
        shippable=True,
        homepage="https://github.com/UDS-SFB-B6-Datasets/Multilingual-Parallel-Direct-Europarl",
        note=_made_from("the repository at 4e284f1"),
        files=_files(
            "europarl",
            ("de", 61_790_625, "576feb1128d9cd5aa4a976f3a031c8449d35e289126d4b29fb7ff76f26132df6"),
            ("fr", 63_107_810, "77fc81d17159977988ddaa5e02579afe6d102a11df13a1d214f35207f29ff243"),
        ),
    ),
    Corpus(
        name="d365",
        description="Dynamics 365 documentation, English⇥German, French or Chinese (139,363 + 146,770 + 140,095 pairs)",
        licence="CC-BY 4.0",
        spdx="CC-BY-4.0",
        attribution="Microsoft, Dynamics 365 documentation",
        shippable=True,
        homepage="https://github.com/MicrosoftDocs",
        note=_made_from("the repositories Dynamics-365-Operations and their translations"),
        files=_files(
            "d365",
            ("de", 26_404_315, "285cf6baf7eecf3130a95fa7252ef56547ba660526c8f7f6033e3a152655985c"),
            ("fr", 28_898_123, "644fbcad2e3557fd2a6b99c3c421ce68a6e43c29068d2d6e834e2d48c3ee9b2e"),
            ("zh", 22_351_338, "22d224cfea0f708bba106e4e3a84b919968a67b16246810415b4f4180d1ca308"),
        ),
    ),
    Corpus(
        name="software",
        description=(
            "Strings of user interfaces, many with placeholders, English⇥German, French or Chinese⇥origin "
            "(80,269 + 76,340 + 72,674 pairs)"
        ),
        licence="MIT (VS Code, .NET, Azure Pipelines), BSD (JupyterLab), Unicode (CLDR), Apache-2.0 (Home Assistant)",
        spdx="MIT AND BSD-3-Clause AND Unicode-3.0 AND Apache-2.0",
        attribution=(
            "Visual Studio Code, .NET and Azure Pipelines (Microsoft), JupyterLab (Project Jupyter), "
            "CLDR (Unicode, Inc.), Home Assistant"
        ),
        shippable=True,
        homepage="GitHub: the projects Visual Studio Code, .NET, Azure Pipelines, JupyterLab, CLDR and Home Assistant",
        note=_made_from("the translations of the projects that the third column names"),
        files=_files(
            "software",
            ("de", 10_132_573, "7fdd0f732ed4487957476ac0b72edd9eff70eb58a2d7a08a75ee031ca7890fef"),
            ("fr", 9_777_397, "299c6102a7a9ca87ae7326f89750e0bc9c7e7fd277d69c2b436633aaf56b4dbf"),
            ("zh", 7_858_434, "622d2c4cc16856b5bc35c13bee5368e3e086ebd47013c06308587ac981c672c4"),
        ),
    ),
    Corpus(
        name="php",
        description="PHP manual, English⇥German, French or Chinese (25,245 + 63,764 + 25,439 pairs)",
        licence="CC-BY 3.0",
        spdx="CC-BY-3.0",
        attribution="PHP Documentation Group",
        shippable=True,
        homepage="https://github.com/php",
        note=_made_from("the repositories doc-en, doc-de, doc-fr and doc-zh"),
        files=_files(
            "php",
            ("de", 4_199_873, "f0208af22bd763fb48900d9b3e3fd99560bd87f3d97ead7a58d39245313a0167"),
            ("fr", 9_840_711, "2dfb443a280e751ccce4af5ac708de7c0bd8f47db2d0b6e0b8cc4b0c288f3586"),
            ("zh", 3_765_006, "0f46117a33902e679e29870bb80de7a8ea9bd261ebd91b580a674bb0ca6923ad"),
        ),
    ),
    Corpus(
        name="pydoc",
        description="Python documentation, English⇥French or Chinese (30,171 + 76,653 pairs)",
        licence="CC0 (translations), PSF (text)",
        spdx="CC0-1.0 AND PSF-2.0",
        attribution="Python documentation translators; Python Software Foundation",
        shippable=True,
        homepage="https://github.com/python",
        note=_made_from("the repositories python-docs-fr and python-docs-zh-cn"),
        files=_files(
            "pydoc",
            ("fr", 5_901_339, "8db9cdab2992f689f7a9e8bf43f547826bb2391fc6d72e3f3ad9b24a606d9871"),
            ("zh", 13_539_455, "57d176ad092cba5cc051b5b1f26d685015a1ef6817404b9b55d1c49fab4bb2fc"),
        ),
    ),
    Corpus(
        name="djdoc",
        description="Django documentation, English⇥French or Chinese (31,237 + 36,237 pairs)",
        licence="BSD-3",
        spdx="BSD-3-Clause",
        attribution="Django Software Foundation and contributors",
        shippable=True,
        homepage="https://github.com/django/django-docs-translations",
        note=_made_from("the repository at b599584e"),
        files=_files(
            "djdoc",
            ("fr", 6_415_913, "6c5dda63e1415b966cfc832783ed2f916c0b8aba533f00458f23e96c25eafc7c"),
            ("zh", 6_657_495, "1a504f68a9e5f950bd9b94639f485c1146437f473dd1c0aafc95e22cea282ab5"),
        ),
    ),
    Corpus(
        name="ghdocs",
        description="GitHub documentation of 2021 and 2022, English⇥German or Chinese (13,653 + 26,434 pairs)",
        licence="CC-BY 4.0",
        spdx="CC-BY-4.0",
        attribution="GitHub, GitHub documentation",
        shippable=True,
        homepage="https://github.com/github/docs",
        note=_made_from("the repository's revisions of 2021 and 2022"),
        files=_files(
            "ghdocs",
            ("de", 2_703_847, "0bafc9ffed1452944003cc2bfe8cf823158162c0fb0b462e575189afccd2decb"),
            ("zh", 4_488_928, "c735a4e28da43f22281bdc14132b9985cd0b818709a76c25cfaf8fb08263e6a8"),
        ),
    ),
    Corpus(
        name="k8s",
        description="Kubernetes documentation, English⇥Chinese (58,790 pairs)",
        licence="CC-BY 4.0",
        spdx="CC-BY-4.0",
        attribution="The Kubernetes Authors",
        shippable=True,
        homepage="https://github.com/kubernetes/website",
        note=_made_from("the repository at 56464fe6"),
        files=_files(
            "k8s",
            ("zh", 10_762_314, "e91b63f05be79990bf2ae965d4e7b331d4b1cd91e1266c4466e4478c0be98ec5"),
        ),
    ),
    Corpus(
        name="twlaw",
        description="Laws of Taiwan, official translations, English⇥Chinese in simplified characters (199,413 pairs)",
        licence="laws and official translations carry no copyright there",
        spdx="LicenseRef-no-copyright",
        attribution="Ministry of Justice, R.O.C. (Taiwan)",
        shippable=True,
        homepage="https://github.com/kong0107/mojLawSplitJSON",
        note=_made_from("the repository at 0d26e6c"),
        files=_files(
            "twlaw",
            ("zh", 50_780_242, "829418fc54fc72863eedb0a1d884f870c34867e91b53fb0a43cd07514c84c4a4"),
        ),
    ),
    Corpus(
        name="cow",
        description="Chinese Open Wordnet, words, English⇥Chinese⇥synset (51,360 pairs)",
        licence="WordNet licence",
        spdx="LicenseRef-WordNet",
        attribution="Chinese Open Wordnet (Wang and Bond, 2013); WordNet, Princeton University",
        shippable=True,
        homepage="https://github.com/omwn/omw-data",
        note=_made_from("the repository at f75be19"),
        files=_files(
            "cow",
            ("zh", 1_657_539, "32edaf55df6a8679014d87a24d9524f42dd9a6f4fcd70578779d7defa2d6f1ee"),
        ),
    ),
)
