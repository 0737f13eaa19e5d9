"""The latency of the server while many connections send half of a request, beside its latency without them.

    python benchmarks/half_open.py src/manyheads/shipped/tatoeba [--connections 200] [--seconds 60]

One client sends one sentence after another: for half of the time on a server that is otherwise idle, then with the
half-open connections, then idle again. Half of the connections send headers without an end, and the others a body that
does not arrive; each sends a little more every few seconds, and begins again when the server closes it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import statistics
import time
from pathlib import Path
from urllib.parse import urlsplit

from serving_load import Connection, Server

LANGUAGES = "en", "de"
SENTENCE = "The children are playing in the garden with their friends."
PAUSE = 5.0  # seconds between two pieces of a half-open request
HEADERS = b"POST /translate HTTP/1.1\r\nHost: localhost\r\n", b"X-More: x\r\n"
BODY = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n{", b" "


async def half_open(url: str, begin: bytes, more: bytes, opened: list[int]) -> None:
    """Send the beginning of a request, and then a little more of it for ever; connect again where it is closed."""
    place = urlsplit(url)
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            opened[0] += 1
            writer.write(begin)
            while not reader.at_eof():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(1000), PAUSE)
                writer.write(more)
            writer.close()


async def latencies(url: str, seconds: float) -> list[float]:
    """Return the seconds that each of a row of requests took."""
    connection, found = Connection(url), []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        asked = {"q": SENTENCE, "source": LANGUAGES[0], "target": LANGUAGES[1]}
        status, _, content = await connection.post("/translate", asked)
        if status != 200:
            raise SystemExit(f"{status} {content!r}")
        found.append(time.perf_counter() - began)
    connection.close()
    return found


async def measure(server: Server, connections: int, seconds: float) -> dict[str, object]:
    """Return the latencies and the processor time of the server, with and without half-open connections."""
    url = server.url
    await latencies(url, 2.0)  # the model is loaded at the first request
    marks = [server.processor_seconds]
    before = await latencies(url, seconds / 2)
    marks.append(server.processor_seconds)
    opened = [0]
    clients = [
        asyncio.create_task(half_open(url, *(HEADERS if number % 2 else BODY), opened)) for number in range(connections)
    ]
    during = await latencies(url, seconds)
    marks.append(server.processor_seconds)
    for one in clients:
        one.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    after = await latencies(url, seconds / 2)
    return {
        "connections": connections,
        "opened": opened[0],
        "idle": summary([*before, *after]),
        "half_open": summary(during),
        "processor_ms_per_request_idle": round(1000 * (marks[1] - marks[0]) / len(before), 1),
        "processor_ms_per_request_half_open": round(1000 * (marks[2] - marks[1]) / len(during), 1),
        "ratio_of_medians": round(statistics.median(during) / statistics.median([*before, *after]), 2),
        "ratio_of_95th_percentiles": round(percentile(during, 95) / percentile([*before, *after], 95), 2),
    }


def percentile(values: list[float], percent: int) -> float:
    """Return a percentile of some numbers."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def summary(seconds: list[float]) -> dict[str, float]:
    """Return the number of requests, and their latencies in milliseconds."""
    milliseconds = {f"p{percent}_ms": round(1000 * percentile(seconds, percent), 1) for percent in (50, 95, 99)}
    return {"requests": len(seconds), **milliseconds}


def main() -> None:
    """Measure one server, and print and write the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "half_open.json")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    server = Server(arguments.run, [], languages=LANGUAGES)
    try:
        result = asyncio.run(measure(server, arguments.connections, arguments.seconds))
    finally:
        server.stop()
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "load_before": round(load, 1)}
    printed = json.dumps({**result, **machine}, indent=2)
    print(printed)
    arguments.out.write_text(printed + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
