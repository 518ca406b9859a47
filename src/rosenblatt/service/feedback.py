"""Feedback on predictions: each has an id, by which a request tells whether it was right."""

import asyncio
import threading
from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from ..learners.feedback import check_judged, explore
from ..parameters import InputError
from .asking import OpenRows, can_ask
from .http import Request, RequestError, Response, Route, to_json
from .learning import Job, Learning
from .log import hash_bytes
from .model import ServedModel
from .requests import parse_json

if TYPE_CHECKING:
    from .app import Service

MOST_WAITING = 100_000  # predictions; the oldest are dropped
BODY = 'Send {"id": ID, "right": true or false}, or a list of these.'


class Prediction(NamedTuple):
    """A row as JSON, the class that was predicted, and the probability of drawing it."""

    row: bytes
    label: Any
    probability: float

    @property
    def size(self) -> int:
        """The number of bytes of the row."""
        return len(self.row)


class Predictions:
    """The last predictions that may get feedback; they are kept in memory only.

    Parameters
    ----------
    name
        The beginning of all ids, another one at each start of the service.
    """

    def __init__(self, name: str) -> None:
        self.name, self.numbers, self.lock = name, count(1), threading.Lock()
        self.random, self.open = np.random.default_rng(), OpenRows(MOST_WAITING)

    def add(self, served: ServedModel, rows: Sequence[Any], answer: dict[str, Any]) -> None:
        """Give each prediction of an answer an id; those of a rule that explores are drawn."""
        learner, chances = served.learner, np.ones(len(rows))
        with self.lock:
            if learner.rule.draws:
                best = np.array([learner.codes[label] for label in answer["labels"]])
                exploration, numbers = (
                    learner.parameters["exploration"],
                    self.random.random(len(best)),
                )
                drawn, chances = explore(best, len(learner.classes), exploration, numbers)
                answer["labels"] = learner.classes[drawn].tolist()
                answer["draw_probabilities"] = chances.tolist()
            made = zip(rows, answer["labels"], chances.tolist(), strict=True)
            answer["ids"] = [self.keep(*one) for one in made]

    def keep(self, row: Any, label: Any, probability: float) -> str:
        """Keep a prediction; return its id."""
        name = f"{self.name}-{next(self.numbers)}"
        self.open.add(name, Prediction(orjson.dumps(row), label, probability))
        return name

    def get(self, name: str) -> Any:
        """The prediction with an id, or None."""
        with self.lock:
            return self.open.get(name)


def takes_feedback(served: ServedModel) -> bool:
    """Whether rows are objects of columns, each with one class."""
    return can_ask(served) and not served.learner.multilabel


def wants_feedback(request: Request, served: ServedModel, learning: Learning | None) -> bool:
    """Whether the predictions of a request get ids; always if the rule learns from feedback."""
    able, asked = learning is not None and takes_feedback(served), request.query("feedback", "0")
    if asked not in ("0", "1"):
        raise RequestError(400, "feedback", "feedback must be 0 or 1.")
    if asked == "1" and not able:
        sentence = "Feedback is for a service that learns classes from rows with columns."
        raise RequestError(400, "no-feedback", sentence)
    return able and (asked == "1" or served.learner.rule.draws)


class FeedbackEndpoints:
    """Feedback on the predictions of a service."""

    def __init__(self, service: "Service") -> None:
        self.service = service

    def routes(self) -> Iterable[Route]:
        """The endpoint, for which a token to learn is needed."""
        return (
            Route("POST", "/feedback", "learn", self.give, "Learn whether predictions are right."),
        )

    async def give(self, request: Request) -> Response:
        """Learn feedback; answer when it is on disk."""
        learning = self.service.check_learning()
        given = parse_feedback(request.body, self.service.limits.rows)
        found = [await self.find(name, right, learning) for name, right in given]
        jobs = [one for one in found if isinstance(one, Job)]
        request.rows = len(jobs)
        done = [one for one in found if isinstance(one, int)]
        try:
            done += await asyncio.gather(*(self.service.write(job, learning) for job in jobs))
        except RequestError as error:
            if error.code != "key-reused":
                raise
            sentence = "A prediction was judged otherwise before; that is not changed."
            raise RequestError(409, "judged-before", sentence) from None
        return to_json({"sequence": max(done), "examples": len(jobs)}, 202)

    async def find(self, name: str, right: bool, learning: Learning) -> Job | int:
        """The job of learning feedback on a prediction, or the example that it was learnt as."""
        key = hash_bytes(f"feedback {name}".encode())
        prediction = self.service.predictions.get(name)
        if prediction is not None:
            value = make_example(prediction, right, learning.served)
            return Job([orjson.dumps(value).decode()], [value], lambda outcome: None, key)
        known = await asyncio.wrap_future(learning.call(lambda: learning.log.find_request(key)))
        if known is None:
            sentence = f"There is no prediction {name[:80]}; only the last ones are kept, and none "
            raise RequestError(404, "unknown-prediction", f"{sentence}over a restart.")
        return int(known.last)


def parse_feedback(body: bytes, most: int) -> list[tuple[str, bool]]:
    """The ids of a body, and whether the predictions were right."""
    value = parse_json(body)
    listed = value if isinstance(value, list) else [value]
    given = [one if isinstance(one, dict) else {} for one in listed]
    for one in given:
        well_formed = one.keys() == {"id", "right"} and isinstance(one["id"], str)
        if not well_formed or not isinstance(one["right"], bool):
            raise RequestError(400, "bad-body", BODY)
    if not 0 < len(given) <= most:
        raise RequestError(400 if not given else 413, "bad-body", f"{BODY} At most {most:,}.")
    return [(one["id"], one["right"]) for one in given]


def make_example(prediction: Prediction, right: bool, served: ServedModel) -> Any:
    """What the log keeps of feedback: an example where the label is known, else the judgement."""
    learner, label = served.learner, prediction.label
    if not takes_feedback(served) or label not in learner.codes:
        sentence = "The model was replaced by one that does not have the predicted class."
        raise RequestError(409, "model-changed", sentence)
    try:
        check_judged(learner, right)
    except InputError as error:
        raise RequestError(422, error.code, str(error)) from None
    example = orjson.loads(prediction.row) | {served.maker.label: label}
    if len(learner.classes) > 2:
        return [right, prediction.probability, example] if learner.rule.draws else example
    if not right:
        (example[served.maker.label],) = set(learner.classes.tolist()) - {label}
    return example
