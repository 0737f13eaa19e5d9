"""The server under load: many clients at once, then four times as many, beside the engine's own speed.

    python benchmarks/serving_load.py runs/multi30k --sentences test.en [--clients 64] [--seconds 300]

The engine first translates the sentences offline (as `manyheads translate` does), before and after the load, in a
process of its own on the same cores. Then a server is started, and clients send requests of 1 to 8 sentences, one after
the other, each with its own mix. Every answer is compared with the engine's own. One that differs is translated once
more alone: rounding depends on what stands in a batch with a sentence, so two nearly equal hypotheses may change
places; that is a tie if the model's own log-probabilities say so, and a mix-up otherwise. The generator's own processor
time is reported because it shares the cores with the server. Then four times as many clients overload the server, which
must refuse quickly and recover. Without --sentences, dates in forty locales are translated.

    python benchmarks/serving_load.py tatoeba --pairs en-de=test.en-de.tsv en-fr=test.en-fr.tsv en-zh=test.en-zh.tsv

A run of several languages is served in both directions of each file of pairs, and each request is in another one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
MOST_SENTENCES = 8
LANGUAGES = "xx", "yy"  # what a run of one direction is served as
Direction = tuple[str, str]
Texts = dict[Direction, dict[str, str]]
"""Of each direction, its sentences and what the engine itself makes of them."""
CLOSE = 0.01  # log-probabilities that differ by less, relatively, are a tie


def read_sentences(options: argparse.Namespace) -> list[tuple[Direction, list[str]]]:
    """Return different sentences of each direction, which the server will take as one each."""
    from manyheads.data.generated import task

    if options.pairs:
        return [one for given in options.pairs for one in both_directions(given, options.count)]
    if options.sentences is None:
        lines = [pair.source for pair in task("dates").pairs("train", count=2 * options.count)]
    else:
        lines = options.sentences.read_text(encoding="utf-8").splitlines()
    return [(LANGUAGES, single_sentences(lines, options.count))]


def both_directions(given: str, count: int) -> list[tuple[Direction, list[str]]]:
    """Return the sentences of both sides of `en-de=FILE`, whose lines have a tab between the sides."""
    from manyheads.data.text.files import read_lines

    names, _, path = given.partition("=")
    first, _, second = names.partition("-")
    rows = [line.split("\t")[:2] for line in read_lines(Path(path))]
    sides = zip(*rows, strict=True)
    return [
        (direction, single_sentences(side, count))
        for direction, side in zip([(first, second), (second, first)], sides, strict=True)
    ]


def single_sentences(lines: Iterable[str], count: int) -> list[str]:
    """Return at most `count` different lines that are one sentence each."""
    from manyheads.decoding.text.sentences import split_sentences

    kept = [line.strip() for line in dict.fromkeys(lines) if len(split_sentences(line).sentences) == 1]
    return kept[:count]


OFFLINE = """
import json, sys, time
from manyheads.decoding.translator import Translator
run, seconds = sys.argv[1], float(sys.argv[2])
asked = json.load(sys.stdin)
translator = Translator(run)
found = [[one.text for one in translator.translations(texts, source=source, to=to)] for source, to, texts in asked]
began, computed, done = time.perf_counter(), time.process_time(), 0
while time.perf_counter() - began < seconds:
    for source, to, texts in asked:
        translator.translate(texts, source=source, to=to)
        done += len(texts)
speed = done / (time.perf_counter() - began)
frugality = done / (time.process_time() - computed)
print(json.dumps({"speed": speed, "frugality": frugality, "texts": found}))
"""


def named(direction: Direction) -> tuple[str | None, str | None]:
    """Return a direction as the translator is told it: not at all, where the run has only one."""
    return (None, None) if direction == LANGUAGES else direction


def offline(run: Path, sentences: list[tuple[Direction, list[str]]], seconds: float) -> dict[str, Any]:
    """Return the engine's own answers, and its sentences per second, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, str(run), str(seconds)],
        input=json.dumps([(*named(direction), texts) for direction, texts in sentences]),
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


class Server:
    """The real command in a process of its own."""

    def __init__(self, run: Path, options: list[str], *, languages: Direction | None = LANGUAGES) -> None:
        served = str(run) if languages is None else f"{languages[0]}-{languages[1]}={run}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "manyheads", "serve", served, "--port", "0", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        said = self._process.stderr.readline()
        found = re.search(r"http://\S+", said)
        if found is None:
            raise SystemExit(said + self._process.stderr.read())
        self.url = found[0]

    @property
    def memory(self) -> float:
        """The server's resident memory in MiB."""
        fields = Path(f"/proc/{self._process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    @property
    def processor_seconds(self) -> float:
        """What the server has computed so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def is_running(self) -> bool:
        """Whether it has not crashed."""
        return self._process.poll() is None

    def stop(self) -> int:
        """Stop it in order and return its status."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(60)


@dataclass
class Load:
    """What the clients of one phase saw."""

    seconds: float = 0.0
    requests: int = 0
    sentences: int = 0
    refused: int = 0
    errors: list[str] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    refusal_latencies: list[float] = field(default_factory=list)
    differing: list[tuple[Direction, str, str]] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    generator_seconds: float = 0.0
    server_seconds: float = 0.0


class Connection:
    """A client's connection: as little HTTP as there can be, so that the generator leaves the cores to the server."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        self._host, self._port = place.hostname, place.port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, values: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        """Send JSON and return the status, the headers and the body of the answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        body = json.dumps(values).encode()
        writer.write(
            f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        content = await reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.close()
        return int(head[0].split()[1]), headers, content

    def close(self) -> None:
        """Close it; the next request opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def client(url: str, number: int, expected: Texts, until: float, load: Load, *, retry: bool) -> None:
    """Send request after request; who is refused comes back, soon in an overload, since that is what makes it one."""
    chance = random.Random(number)
    sentences = {direction: list(texts) for direction, texts in expected.items()}
    connection = Connection(url)
    while time.perf_counter() < until:
        direction = chance.choice(list(sentences))
        asked = chance.sample(sentences[direction], chance.randint(1, MOST_SENTENCES))
        began = time.perf_counter()
        try:
            status, headers, content = await connection.post(
                "/translate", {"q": "\n".join(asked), "source": direction[0], "target": direction[1]}
            )
        except (OSError, EOFError) as error:
            load.errors.append(repr(error))
            connection.close()
            continue
        seconds = time.perf_counter() - began
        if retry and status in (429, 503) and "retry-after" in headers:
            load.refused += 1
            load.refusal_latencies.append(seconds)
            await asyncio.sleep(0.1)
        elif status != 200:
            load.errors.append(f"{status} {content[:200]!r}")
        else:
            load.latencies.append(seconds)
            load.requests += 1
            load.sentences += len(asked)
            note_differences(direction, asked, json.loads(content)["translatedText"].split("\n"), expected, load)
    connection.close()


def note_differences(direction: Direction, asked: list[str], found: list[str], expected: Texts, load: Load) -> None:
    """Note what is not what the engine itself said."""
    if len(asked) != len(found):
        load.errors.append(f"{len(asked)} sentences became {len(found)}")
        return
    own = expected[direction]
    load.differing += [(direction, one, text) for one, text in zip(asked, found, strict=True) if text != own[one]]


async def sample_memory(server: Server, load: Load, every: float) -> None:
    """Sample the server's memory until cancelled."""
    while True:
        load.memory.append(round(server.memory, 1))
        await asyncio.sleep(every)


async def phase(server: Server, expected: Texts, *, clients: int, seconds: float, retry: bool) -> Load:
    """Run a number of clients for a time."""
    load = Load()
    began, computed, server_computed = time.perf_counter(), time.process_time(), server.processor_seconds
    sampling = asyncio.create_task(sample_memory(server, load, max(0.2, seconds / 100)))
    until = began + seconds
    await asyncio.gather(*(client(server.url, number, expected, until, load, retry=retry) for number in range(clients)))
    sampling.cancel()
    load.seconds = time.perf_counter() - began
    load.generator_seconds = time.process_time() - computed
    load.server_seconds = server.processor_seconds - server_computed
    return load


def mixed_up(run: Path, differing: list[tuple[Direction, str, str]]) -> tuple[int, int]:
    """Return how many differing answers are mix-ups and how many ties."""
    from manyheads.decoding.translator import Translator

    if not differing:
        return 0, 0
    translator = Translator(run)
    tied: dict[tuple[Direction, str, str], bool] = {}
    for direction in dict.fromkeys(direction for direction, _, _ in differing):
        different = list(dict.fromkeys(one for one in differing if one[0] == direction))
        source, to = named(direction)
        sources = [text for _, text, _ in different]
        own = translator.translate(sources, batch_sentences=1, source=source, to=to)
        served = [sum(row) for row in translator.score(sources, [text for _, _, text in different], to=to)]
        best = [sum(row) for row in translator.score(sources, own, to=to)]
        for one, text, ours, others in zip(different, own, best, served, strict=True):
            tied[one] = text == one[2] or abs(ours - others) <= CLOSE * max(1.0, abs(ours))
    ties = sum(tied[one] for one in differing)
    return len(differing) - ties, ties


def percentile(values: list[float], share: float) -> float | None:
    """Return the value below which such a share lies, in milliseconds; None if there are no values."""
    return round(1000 * sorted(values)[min(len(values) - 1, int(share * len(values)))], 1) if values else None


def milliseconds(value: float | None) -> str:
    """Return a time for the table."""
    return "" if value is None else f"{value:,.0f} ms"


def summary(load: Load, run: Path) -> dict[str, Any]:
    """Return what a phase gave."""
    mix_ups, ties = mixed_up(run, load.differing)
    half = len(load.memory) // 2
    return {
        "seconds": round(load.seconds, 1),
        "requests": load.requests,
        "sentences": load.sentences,
        "sentences_per_second": round(load.sentences / load.seconds, 1),
        "errors": len(load.errors),
        "first_errors": load.errors[:5],
        "mixed_up": mix_ups,
        "ties": ties,
        "refused": load.refused,
        "p50_ms": percentile(load.latencies, 0.5),
        "p99_ms": percentile(load.latencies, 0.99),
        "refused_p50_ms": percentile(load.refusal_latencies, 0.5),
        "refused_p99_ms": percentile(load.refusal_latencies, 0.99),
        "sentences_per_processor_second": round(load.sentences / load.server_seconds, 1),
        "generator_processor_share": round(load.generator_seconds / load.seconds, 3),
        "server_processor_share": round(load.server_seconds / load.seconds, 3),
        "memory_mib": {
            "first": load.memory[0],
            "median_of_first_half": statistics.median(load.memory[: half or 1]),
            "median_of_second_half": statistics.median(load.memory[half:]),
            "most": max(load.memory),
        },
        "memory_samples_mib": load.memory,
    }


async def measure(server: Server, expected: Texts, options: argparse.Namespace) -> dict[str, Load]:
    """Warm up, load, overload, and see that the server recovers."""
    short = max(2.0, options.seconds / 10)
    await phase(server, expected, clients=options.clients, seconds=min(5.0, short), retry=False)
    return {
        "load": await phase(server, expected, clients=options.clients, seconds=options.seconds, retry=False),
        "overload": await phase(server, expected, clients=4 * options.clients, seconds=short, retry=True),
        "recovery": await phase(server, expected, clients=options.clients, seconds=short, retry=False),
    }


def table(results: dict[str, Any]) -> str:
    """Return the results as Markdown."""
    rows = [
        f"Offline, the engine translates {results['offline_sentences_per_second']:,.0f} sentences a second; under load "
        f"the server translates {results['load']['sentences_per_second']:,.0f}: {results['ratio']:.2f}×. "
        f"For a second of processor time: {results['offline_sentences_per_processor_second']:,.0f} and "
        f"{results['load']['sentences_per_processor_second']:,.0f}.",
        "",
        "| | clients | requests | sentences/s | errors | mixed up | ties | refused | p50 | p99 | refused p99 | "
        "generator CPU | server CPU | memory, first → second half |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, factor in (("load", 1), ("overload", 4), ("recovery", 1)):
        one = results[name]
        memory = one["memory_mib"]
        times = " | ".join(milliseconds(one[key]) for key in ("p50_ms", "p99_ms", "refused_p99_ms"))
        rows.append(
            f"| {name} | {factor * results['clients']} | {one['requests']:,} | {one['sentences_per_second']:,.0f} | "
            f"{one['errors']} | {one['mixed_up']} | {one['ties']} | {one['refused']:,} | {times} | "
            f"{one['generator_processor_share']:.2f} | {one['server_processor_share']:.2f} | "
            f"{memory['median_of_first_half']:.0f} → {memory['median_of_second_half']:.0f} MiB |"
        )
    return "\n".join(rows)


def main() -> None:
    """Run the benchmark, print the table, and write both forms of the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the run folder, or the name of a model of the package")
    parser.add_argument(
        "--pairs", nargs="*", default=[], help="files of pairs, served in both directions", metavar="EN-DE=FILE"
    )
    parser.add_argument("--sentences", type=Path, help="a file with one source sentence per line")
    parser.add_argument("--count", type=int, default=1000, help="different sentences of each direction")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--offline-seconds", type=float, default=20.0)
    parser.add_argument(
        "--serve", nargs="*", default=[], help="further options of the server, without --", metavar="A=B"
    )
    parser.add_argument("--out", type=Path, default=HERE / "results" / "serving_load.json")
    options = parser.parse_args()
    sentences = read_sentences(options)
    before = offline(options.run, sentences, options.offline_seconds)
    expected = {
        direction: dict(zip(texts, own, strict=True))
        for (direction, texts), own in zip(sentences, before["texts"], strict=True)
    }
    languages = None if options.pairs else LANGUAGES
    server = Server(options.run, [f"--{one}" for one in options.serve], languages=languages)
    loads = asyncio.run(measure(server, expected, options))
    alive, status = server.is_running, server.stop()
    after = offline(options.run, sentences, options.offline_seconds)
    speed = statistics.mean([before["speed"], after["speed"]])
    results: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "clients": options.clients,
        "directions": len(expected),
        "offline_sentences_per_second": round(speed, 1),
        "offline_before_and_after": [round(before["speed"], 1), round(after["speed"], 1)],
        "offline_sentences_per_processor_second": round(statistics.mean([before["frugality"], after["frugality"]]), 1),
        "crashed": not alive,
        "status_at_the_end": status,
        **{name: summary(load, options.run) for name, load in loads.items()},
    }
    results["ratio"] = round(results["load"]["sentences_per_second"] / speed, 3)
    printed = table(results)
    print(printed)
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    options.out.with_suffix(".md").write_text(printed + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
