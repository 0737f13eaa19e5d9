"""The description of a public corpus and its files in the catalogue."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file of a corpus: its path in the data folder, the checksum of its content, and how it is published."""

    path: str
    """The path inside the data folder. The file is always compressed there, however it is published."""
    content_sha256: str
    """The checksum of the decompressed content; for a `.tar.gz`, of the listing described in `catalogue`."""
    content_bytes: int
    """The size of the content."""
    url: str | None = None
    """The exact public address; None if no address is known that gives this content."""
    packed_sha256: str | None = None
    """The checksum of the compressed bytes at `url`, if these are kept as they are."""
    archive: str | None = None
    """The name of the public archive that contains the file."""
    member: str | None = None
    """The file or folder inside that archive."""
    folder: str | None = None
    """The name of that folder inside the `.tar.gz` of the data folder."""
    leave_out: tuple[str, ...] = ()
    """Files of the public folder that are not part of this corpus."""

    @property
    def is_archive(self) -> bool:
        """Whether the file in the data folder is an archive of several files."""
        return self.path.endswith(".tar.gz")

    @property
    def public_name(self) -> str | None:
        """The file name that the publisher uses, if there is one."""
        return self.archive or (self.url.rsplit("/", 1)[-1] if self.url else None)

    @property
    def fetched_sha256(self) -> str | None:
        """The sha256 of the bytes at `url`; None if only the checksum of the content inside is known."""
        if self.url is None or self.member is not None:
            return None
        return self.packed_sha256 if self.url.endswith(".gz") else self.content_sha256


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A public corpus: its name, its description, what the licence allows, and its files."""

    name: str
    description: str
    licence: str
    """As stated by the publisher."""
    spdx: str
    """The same as an SPDX expression; NONE if no licence is stated."""
    attribution: str
    """Whom to credit wherever the corpus, or anything made from it, is shown."""
    shippable: bool
    """Whether weights trained on it may be distributed, with the attribution."""
    homepage: str
    """The page or the package that publishes it."""
    files: tuple[DataFile, ...]
    note: str = ""
    """What a user should read before downloading it."""

    @property
    def content_bytes(self) -> int:
        """The size of all files, decompressed."""
        return sum(file.content_bytes for file in self.files)
