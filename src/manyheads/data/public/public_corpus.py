"""What the catalogue knows about a public corpus and its files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file of a corpus: its name in the data folder, the checksum of its content, and its public form."""

    path: str
    """Where the file lies inside the data folder; always compressed, whatever the public form is."""
    content_sha256: str
    """Of the decompressed content; for a `.tar.gz`, of the listing described at the head of this module."""
    content_bytes: int
    """Size of that content."""
    url: str | None = None
    """The exact public address; None where no address is known to give this very content."""
    packed_sha256: str | None = None
    """Of the compressed bytes at `url`, where those are kept as they are."""
    archive: str | None = None
    """Name of the public archive that holds the file."""
    member: str | None = None
    """The file or folder inside that archive."""
    folder: str | None = None
    """The name that such a folder has inside the `.tar.gz` of the data folder."""
    leave_out: tuple[str, ...] = ()
    """Files of the public folder which are not part of this corpus."""

    @property
    def is_archive(self) -> bool:
        """Whether the file in the data folder is an archive of several files."""
        return self.path.endswith(".tar.gz")

    @property
    def public_name(self) -> str | None:
        """The name under which the publisher offers the file, where there is one."""
        return self.archive or (self.url.rsplit("/", 1)[-1] if self.url else None)

    @property
    def fetched_sha256(self) -> str | None:
        """The sha256 of the bytes at `url`; None where only the content inside them is known."""
        if self.url is None or self.member is not None:
            return None
        return self.packed_sha256 if self.url.endswith(".gz") else self.content_sha256


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A public corpus: its name, what it is, what its licence allows, and its files."""

    name: str
    description: str
    licence: str
    """As stated by the publisher."""
    spdx: str
    """The same as an SPDX expression, for machines; NONE where no licence is stated."""
    attribution: str
    """Whom to name wherever the corpus, or what was made from it, is shown."""
    shippable: bool
    """Whether weights trained on it may be shipped, with the attribution."""
    homepage: str
    """The page or the package that publishes it."""
    files: tuple[DataFile, ...]
    note: str = ""
    """What a user should know before fetching it."""

    @property
    def content_bytes(self) -> int:
        """Size of all its files, decompressed."""
        return sum(file.content_bytes for file in self.files)
