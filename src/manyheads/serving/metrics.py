"""Metrics for Prometheus at /metrics: requests, their duration, batches, and queues."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class ServerMetrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("manyheads_requests", "Requests answered.", ["path", "status"], registry=self.registry)
        self.seconds = Histogram(
            "manyheads_request_seconds", "Duration of a request.", ["path"], buckets=_SECONDS, registry=self.registry
        )
        self.in_flight = Gauge("manyheads_requests_in_flight", "Requests being processed.", registry=self.registry)
        self.characters = Counter(
            "manyheads_characters", "Characters to translate.", ["direction"], registry=self.registry
        )
        self.sentences = Counter("manyheads_sentences", "Sentences translated.", ["direction"], registry=self.registry)
        self.batches = Histogram(
            "manyheads_batch_sentences",
            "Sentences in a batch.",
            ["directions"],
            buckets=_SENTENCES,
            registry=self.registry,
        )
        self.busy = Counter(
            "manyheads_engine_seconds", "Time of all batches together.", ["directions"], registry=self.registry
        )
        self.waiting = Gauge(
            "manyheads_waiting_sentences", "Sentences waiting.", ["directions"], registry=self.registry
        )

    def record_batch(self, directions: str, sentences: Mapping[str, int], seconds: float) -> None:
        """Count a batch of a model, which has these directions; its sentences by direction; and its time."""
        self.batches.labels(directions).observe(sum(sentences.values()))
        self.busy.labels(directions).inc(seconds)
        for direction, count in sentences.items():
            self.sentences.labels(direction).inc(count)

    def exposition(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)
