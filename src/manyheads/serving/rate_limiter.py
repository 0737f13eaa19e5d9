"""A limit on the requests of each client in a minute."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict

from manyheads.serving.api_errors import ApiError

MOST_CLIENTS = 10_000  # that are remembered
IPV6_PREFIX = 64  # bits of an address that a network assigns; its owner chooses the others


class RateLimiter:
    """A token bucket per client: it fills at `limit` requests per minute, and may be emptied at once."""

    def __init__(self, limit: int) -> None:
        """`limit` 0 is no limit."""
        self._limit = limit
        # The requests left and the time of the last one, of each client, the latest last.
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def check(self, client: str) -> None:
        """Count a request; raise an error if the client has none left."""
        if not self._limit:
            return
        now = time.monotonic()
        left, then = self._buckets.get(client, (float(self._limit), now))
        left = min(float(self._limit), left + (now - then) * self._limit / 60)
        if left < 1:
            wait = max(1, round((1 - left) * 60 / self._limit))
            raise ApiError(429, f"Slowdown: {self._limit} per minute", retry_after=wait)
        self._buckets[client] = left - 1, now
        self._buckets.move_to_end(client)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)


def network(address: str) -> str:
    """Return the part of an address that identifies a client: all of IPv4, the network of IPv6."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a proxy may name its clients otherwise
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((int(parsed), IPV6_PREFIX), strict=False))
