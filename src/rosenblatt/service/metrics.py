"""Metrics for Prometheus: counted as requests are answered, or read from the model when asked."""

import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from .http import Response
from .responses import about, find_errors

if TYPE_CHECKING:
    from .app import Service

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
BOUNDS = (*map(str, SECONDS), "+Inf")


class Times:
    """How many times fell between two bounds, and their sum."""

    def __init__(self) -> None:
        self.counts, self.sum = [0] * len(BOUNDS), 0.0

    def add(self, seconds: float) -> None:
        """Count a time."""
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.sum += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """How many times are up to each bound."""
        return [*zip(BOUNDS, accumulate(self.counts), strict=True)]


class Metrics(Collector):
    """The metrics of one service.

    The objects of prometheus-client that count take locks, which a prediction can do without: one
    thread counts requests, another one syncs.
    """

    def __init__(self, service: "Service") -> None:
        self.service = service
        self.requests: Counter[tuple[str, str]] = Counter()
        self.rows: Counter[str] = Counter()
        self.seconds: defaultdict[str, Times] = defaultdict(Times)
        self.sync = Times()
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def count(self, path: str, status: int, seconds: float, rows: int = 0) -> None:
        """Count an answered request."""
        self.requests[path, str(status)] += 1
        self.seconds[path].add(seconds)
        self.rows[path] += rows

    def to_response(self) -> Response:
        """All metrics, in the text format of Prometheus."""
        return Response(generate_latest(self.registry), kind=CONTENT_TYPE_LATEST)

    def describe(self) -> Iterator[Metric]:
        """Nothing: the registry would ask for all values to learn their names."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """All metrics."""
        yield from self.collect_requests()
        yield from self.collect_model()

    def collect_requests(self) -> Iterator[Metric]:
        """What was counted."""
        requests = CounterMetricFamily(
            "rosenblatt_requests", "Requests answered.", labels=["path", "status"]
        )
        for labels, number in self.requests.items():
            requests.add_metric(labels, number)
        yield requests
        yield counter("rows", "Rows of requests.", self.rows, "path")
        meaning = "Time from the headers of a request to the end of its response."
        times = HistogramMetricFamily("rosenblatt_request_seconds", meaning, labels=["path"])
        for path, one in self.seconds.items():
            times.add_metric([path], one.buckets(), one.sum)
        yield times
        meaning = "Time to write a group of examples to the log and to sync it."
        buckets = self.sync.buckets()
        yield HistogramMetricFamily("rosenblatt_sync_seconds", meaning, buckets, self.sync.sum)

    def collect_model(self) -> Iterator[Metric]:
        """The state of the model and of the log."""
        service, learning = self.service, self.service.learning
        predictor = service.current()
        served, model = predictor.served, about(predictor, learning)
        progress = find_errors(served, learning)
        yield gauge("open_requests", "Requests being answered.", service.open)
        yield gauge("sequence", "Number of the last example learnt.", model["sequence"])
        yield gauge("published_sequence", "Number in predictions.", model["published"])
        yield gauge("saved_sequence", "Number in the model file.", model["saved"])
        yield gauge("writable", "1 if examples can be learnt, else 0.", not model["failure"])
        yield counter("updates", "Updates of the weights.", model["mistakes"])
        yield counter(
            "errors",
            "Examples predicted wrongly before learning; sum of errors of numbers.",
            progress.errors,
        )
        yield counter("refused_examples", "Logged examples that were skipped.", model["refused"])
        shares = {name: share for name, share in model["error"].items() if share is not None}
        yield gauge(
            "error_ratio",
            "Share of wrong predictions before learning; mean error of numbers.",
            shares,
            "last",
        )
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
        if service.questions is not None:
            asking = service.questions.about()
            yield counter("asked_labels", "Labels that were asked for.", asking["asked"])
            yield gauge("waiting_labels", "Rows that wait for a label.", asking["waiting"])
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
