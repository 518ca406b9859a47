"""Metrics for Prometheus: counted as requests are answered, or read from the model when asked."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily as Count, GaugeMetricFamily as Gauge, Metric
from prometheus_client.registry import Collector

from .responses import about

if TYPE_CHECKING:
    from .app import Service

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
WRONG = "Examples predicted wrongly before they were learnt"


class Metrics(Collector):
    """The metrics of one service."""

    def __init__(self, service: "Service") -> None:
        self.service, registry = service, CollectorRegistry()
        self.registry = registry
        requests, answered = "Requests answered.", "Time from the headers to the end of a response."
        synced = "Time to write a group of examples to the log and to sync it."
        timed: Any = {"buckets": SECONDS, "registry": registry}
        labels = ["path", "status"]
        self.requests = Counter("rosenblatt_requests", requests, labels, registry=registry)
        self.rows = Counter("rosenblatt_rows", "Rows of requests.", ["path"], registry=registry)
        self.seconds = Histogram("rosenblatt_request_seconds", answered, ["path"], **timed)
        self.sync = Histogram("rosenblatt_sync_seconds", synced, **timed)
        ProcessCollector(registry=registry)
        registry.register(self)

    def count(self, path: str, status: int, seconds: float, rows: int = 0) -> None:
        """Count an answered request."""
        self.requests.labels(path, str(status)).inc()
        self.seconds.labels(path).observe(seconds)
        if rows:
            self.rows.labels(path).inc(rows)

    def describe(self) -> Iterator[Metric]:
        """Nothing: the registry would ask for all values to learn their names."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """The state of the model and of the log."""
        service, learning = self.service, self.service.learning
        predictor = service.current()
        model, progress = about(predictor, learning), predictor.served.progress
        shares = {name: share for name, share in model.error.items() if share is not None}
        counts = {name: count for name, (count, _) in progress.classes.items()}
        errors = {name: count for name, (_, count) in progress.classes.items()}
        found: list[tuple[Any, str, str, Any, str]] = [
            (Gauge, "sequence", "Number of the last example learnt.", model.sequence, ""),
            (Gauge, "published_sequence", "Number in predictions.", model.published, ""),
            (Gauge, "saved_sequence", "Number in the model file.", model.saved, ""),
            (Gauge, "writable", "1 if examples can be learnt, else 0.", not model.failure, ""),
            (Count, "updates", "Updates of the weights.", model.mistakes, ""),
            (Count, "errors", f"{WRONG}; sum of errors of numbers.", progress.errors, ""),
            (Count, "refused_examples", "Logged examples that were skipped.", model.refused, ""),
            (Count, "class_examples", "Examples learnt, by class.", counts, "class"),
            (Count, "class_errors", f"{WRONG}, by class.", errors, "class"),
            (Gauge, "error_ratio", f"Share of: {WRONG}; mean error of numbers.", shares, "last"),
        ]
        if learning is not None:
            waiting, age = learning.jobs.qsize(), time.monotonic() - learning.saved_at
            found += [
                (Gauge, "log_bytes", "Size of the log.", learning.log.size, ""),
                (Gauge, "queue_requests", "Requests that wait to be learnt.", waiting, ""),
                (Gauge, "snapshot_age_seconds", "Time since the model file was written.", age, ""),
            ]
        for kind, name, meaning, value, label in found:
            family = kind(f"rosenblatt_{name}", meaning, labels=[label] if label else [])
            values = {(one,): value[one] for one in value} if label else {(): value}
            for names, number in values.items():
                family.add_metric(names, number)
            yield family
