"""Metrics for Prometheus: counted as requests are answered, or read from the model when asked."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from .http import Response

if TYPE_CHECKING:
    from .app import Service

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The metrics of one service."""

    def __init__(self, service: "Service") -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "rosenblatt_requests", "Requests answered.", ["path", "status"], registry=registry
        )
        self.seconds = Histogram(
            "rosenblatt_request_seconds",
            "Time from the headers of a request to the end of its response.",
            ["path"],
            buckets=SECONDS,
            registry=registry,
        )
        self.rows = Counter("rosenblatt_rows", "Rows of requests.", ["path"], registry=registry)
        self.sync = Histogram(
            "rosenblatt_sync_seconds",
            "Time to write a group of examples to the log and to sync it.",
            buckets=SECONDS,
            registry=registry,
        )
        registry.register(ModelCollector(service))
        self.children: dict[tuple[str, int], Any] = {}  # finding them takes longer than counting

    def count(self, path: str, status: int, seconds: float, rows: int = 0) -> None:
        """Count an answered request."""
        found = self.children.get((path, status))
        if found is None:
            found = (
                self.requests.labels(path, str(status)),
                self.seconds.labels(path),
                self.rows.labels(path),
            )
            self.children[path, status] = found
        requests, times, all_rows = found
        requests.inc()
        times.observe(seconds)
        if rows:
            all_rows.inc(rows)

    def to_response(self) -> Response:
        """All metrics, in the text format of Prometheus."""
        return Response(generate_latest(self.registry), kind=CONTENT_TYPE_LATEST)


class ModelCollector(Collector):
    """Reads the state of a service when Prometheus asks for it."""

    def __init__(self, service: "Service") -> None:
        self.service = service

    def collect(self) -> Iterator[Metric]:
        """All values of the moment."""
        from .responses import about

        service, learning = self.service, self.service.learning
        served, published = service.current()
        model = about(served, published, learning)
        progress = served.progress
        yield gauge("open_requests", "Requests being answered.", service.open)
        yield gauge("sequence", "Number of the last example learnt.", model["sequence"])
        yield gauge("published_sequence", "Number in predictions.", model["published"])
        yield gauge("saved_sequence", "Number in the model file.", model["saved"])
        yield gauge("writable", "1 if examples can be learnt, else 0.", not model["failure"])
        yield counter("updates", "Updates of the weights.", model["mistakes"])
        yield counter("errors", "Examples predicted wrongly before learning.", progress.errors)
        yield counter("refused_examples", "Logged examples that were skipped.", progress.refused)
        shares = {name: share for name, share in model["error"].items() if share is not None}
        yield gauge("error_ratio", "Share of wrong predictions before learning.", shares, "last")
        classes = progress.classes
        yield counter(
            "class_examples",
            "Examples learnt, by class.",
            {name: examples for name, (examples, _) in classes.items()},
            "class",
        )
        yield counter(
            "class_errors",
            "Examples predicted wrongly before learning, by class.",
            {name: errors for name, (_, errors) in classes.items()},
            "class",
        )
        if learning is not None and learning.shadow is not None:
            errors = learning.shadow.compare(served)
            both = {"shadow": errors["error"], "model": errors["error_of_model"]}
            known = {name: error for name, error in both.items() if error is not None}
            meaning = "Share of wrong predictions before learning, on the same last examples."
            yield gauge("compared_error_ratio", meaning, known, "model")
        if learning is not None:
            age = time.monotonic() - learning.saved_at
            yield gauge("log_bytes", "Size of the log.", learning.log.size)
            yield gauge("queue_requests", "Requests that wait to be learnt.", learning.jobs.qsize())
            yield gauge("snapshot_age_seconds", "Time since the model file was written.", age)


def gauge(name: str, meaning: str, value: Any, label: str | None = None) -> Metric:
    """A value that can fall, or one for each value of a label."""
    return make_family(GaugeMetricFamily, name, meaning, value, label)


def counter(name: str, meaning: str, value: Any, label: str | None = None) -> Metric:
    """A value that only rises, or one for each value of a label."""
    return make_family(CounterMetricFamily, name, meaning, value, label)


def make_family(kind: Any, name: str, meaning: str, value: Any, label: str | None) -> Metric:
    """A metric with one value, or with one for each value of a label."""
    labels = [] if label is None else [label]
    family: Metric = kind(f"rosenblatt_{name}", meaning, labels=labels)
    values = {(): value} if label is None else {(str(one),): value[one] for one in value}
    for names, number in values.items():
        family.add_metric(names, number)  # type: ignore[attr-defined]
    return family
