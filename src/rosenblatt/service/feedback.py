"""Feedback on predictions: each has an id, by which a request tells whether it was right."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from ..learners.feedback import check_judged, explore
from ..parameters import InputError
from .asking import OpenRows, can_ask
from .http import Endpoints, Request, RequestError, Response, Route, to_json
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


class FeedbackEndpoints(Endpoints):
    """Feedback on the predictions of a service."""

    def __init__(self, service: "Service") -> None:
        super().__init__(service)
        self.pending = Counter[tuple[str, bool]]()

    def routes(self) -> Iterable[Route]:
        """The endpoint, for which a token to learn is needed."""
        return (
            Route("POST", "/feedback", "learn", self.give, "Learn whether predictions are right."),
        )

    async def give(self, request: Request) -> Response:
        """Learn feedback, all or nothing; answer when it is on disk."""
        learning = self.service.check_learning()
        given = parse_feedback(request.body, self.service.limits.rows)
        refuse_contrary(self.pending[name, not right] for name, right in given.items())
        now = Counter(given.items())
        self.pending += now
        try:
            found = await self.find(given, learning)
            jobs = [one for one in found if isinstance(one, Job)]
            request.rows = len(jobs)
            done = [one for one in found if isinstance(one, int)]
            done += await asyncio.gather(*(self.service.write(job, learning) for job in jobs))
        finally:
            self.pending -= now
        return to_json({"sequence": max(done), "examples": len(given)}, 202)

    async def find(self, given: Mapping[str, bool], learning: Learning) -> list[Job | int]:
        """The jobs of learning feedback, or the examples that it was learnt as before."""

        def look() -> list[Any]:
            keys = [(make_key(name, True), make_key(name, False)) for name in given]
            return [[learning.log.find_request(key) for key in both] for both in keys]

        known = await asyncio.wrap_future(learning.call(look))
        judged = [
            (name, right, *both) for (name, right), both in zip(given.items(), known, strict=True)
        ]
        refuse_contrary(no if right else yes for _, right, yes, no in judged)
        return [self.make_job(name, right, yes or no, learning) for name, right, yes, no in judged]

    def make_job(self, name: str, right: bool, known: Any, learning: Learning) -> Job | int:
        """The job of learning feedback on a prediction, or the example that it was learnt as."""
        if known is not None:
            return int(known.last)
        prediction = self.service.predictions.get(name)
        if prediction is None:
            sentence = f"There is no prediction {name[:80]}; only the last ones are kept, and none "
            raise RequestError(404, "unknown-prediction", f"{sentence}over a restart.")
        value = make_example(prediction, right, learning.served)
        text = orjson.dumps(value).decode()
        return Job([text], [value], key=make_key(name, right))


def make_key(name: str, right: bool) -> bytes:
    """The key under which the log keeps a judgement."""
    return hash_bytes(f"feedback {name} {right}".encode())


def refuse_contrary(known: Iterable[Any]) -> None:
    """Refuse judgements of predictions that were judged otherwise."""
    if any(known):
        sentence = "A prediction was judged otherwise before; that is not changed."
        raise RequestError(409, "judged-before", sentence)


def parse_feedback(body: bytes, most: int) -> dict[str, bool]:
    """Whether the predictions were right, by their ids."""
    value = parse_json(body)
    listed = value if isinstance(value, list) else [value]
    given = [one if isinstance(one, dict) else {} for one in listed]
    for one in given:
        well_formed = one.keys() == {"id", "right"} and isinstance(one["id"], str)
        if not well_formed or not isinstance(one["right"], bool):
            raise RequestError(400, "bad-body", BODY)
    if not 0 < len(given) <= most:
        raise RequestError(400 if not given else 413, "bad-body", f"{BODY} At most {most:,}.")
    judged = {one["id"]: one["right"] for one in given}
    refuse_contrary(judged[one["id"]] != one["right"] for one in given)
    return judged


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
