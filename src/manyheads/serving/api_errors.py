"""Errors that become responses with a status and `{"error": …}`, in the format of LibreTranslate."""

from __future__ import annotations


class ApiError(Exception):
    """An error response; `retry_after` is the number of seconds after which the client may try again."""

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        self.status = status
        self.message = message
        self.retry_after = retry_after
        super().__init__(message)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the response."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}


def missing_field(name: str) -> ApiError:
    """Return the error for a request without a required field."""
    return ApiError(400, f"Invalid request: missing {name} parameter")


def wrong_type(name: str, expected: str) -> ApiError:
    """Return the error for a field of the wrong type."""
    return ApiError(400, f"Invalid request: {name} parameter is not {expected}")


def too_large(size: int, limit: int, *, of: str, cure: str = "Send it in parts.") -> ApiError:
    """Return the error for a request with too many of something, which `of` names.

    The message begins with the words of LibreTranslate.
    """
    return ApiError(
        400,
        f"Invalid request: request ({size}) exceeds text limit ({limit}): it has {size:,} {of}, and at most {limit:,} "
        f"are accepted. {cure}",
    )


def overloaded(message: str, *, retry_after: int = 1) -> ApiError:
    """Return the error for a request that the server has no capacity for at the moment."""
    return ApiError(503, f"Slowdown: {message}", retry_after=retry_after)


class ClientDisconnectedError(Exception):
    """The client closed the connection before the response."""
