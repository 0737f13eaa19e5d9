"""The answers that are no results: a status and `{"error": …}`, as LibreTranslate gives them."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818
    """A request that is not answered with a result; `retry_after` says after how many seconds it may be."""

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        self.status = status
        self.message = message
        self.retry_after = retry_after
        super().__init__(message)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}


def missing(name: str) -> Refusal:
    """Return the refusal of a request without one of its fields."""
    return Refusal(400, f"Invalid request: missing {name} parameter")


def not_a(name: str, kind: str) -> Refusal:
    """Return the refusal of a field of the wrong kind."""
    return Refusal(400, f"Invalid request: {name} parameter is not {kind}")


def too_long(size: int, limit: int, *, of: str, cure: str = "Send it in parts.") -> Refusal:
    """Return the refusal of a request with too much in it, `of` names what: LibreTranslate's words, then a sentence."""
    return Refusal(
        400,
        f"Invalid request: request ({size}) exceeds text limit ({limit}): it has {size:,} {of}, and at most {limit:,} "
        f"are accepted. {cure}",
    )


def overloaded(message: str, *, retry_after: int = 1) -> Refusal:
    """Return the refusal of a request that would be accepted at a quieter time."""
    return Refusal(503, f"Slowdown: {message}", retry_after=retry_after)


class Disconnected(Exception):  # noqa: N818
    """The client has gone; nobody waits for an answer."""
