"""API keys. In memory they are hashes with a secret of this process, and are compared in constant time."""

from __future__ import annotations

import hmac
import secrets
from pathlib import Path

from fastapi import Request

from manyheads.errors import ManyheadsError
from manyheads.serving.bodies import Fields

LARGEST_FILE = 1_000_000  # bytes


class Keys:
    """The keys that a server accepts."""

    def __init__(self, keys: list[bytes]) -> None:
        self._secret = secrets.token_bytes(32)
        self._digests = [self._digest(key) for key in keys]

    @classmethod
    def read(cls, path: Path) -> Keys:
        """Read keys from a file, one per line."""
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST_FILE + 1)
        except OSError as error:
            raise ManyheadsError(f"the keys cannot be read: {error.strerror}.", where=str(path)) from None
        if len(content) > LARGEST_FILE:
            raise ManyheadsError("this file is too large for keys.", where=str(path), cure="Write one key per line.")
        keys = [line.strip() for line in content.splitlines() if line.strip()]
        if not keys:
            raise ManyheadsError("there is no key in this file.", where=str(path), cure="Write one key per line.")
        return cls(keys)

    def find(self, given: str) -> str | None:
        """Return a name for a key that is accepted, which does not reveal the key; None for another."""
        digest = self._digest(given.encode("utf-8"))
        accepted = [hmac.compare_digest(digest, known) for known in self._digests]  # all, so that time tells nothing
        return digest.hex() if any(accepted) else None

    def _digest(self, key: bytes) -> bytes:
        """Return the hash of a key."""
        return hmac.digest(self._secret, key, "sha256")


def given_key(request: Request, fields: Fields) -> str:
    """Return the API key of a request, from its fields or its headers; an empty text if it has none."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    in_headers = key.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key", "")
    return fields.optional_text("api_key", "") or in_headers
