"""Questions to a person: predictions whose labels would teach most, and the labels that come."""

import threading
from collections.abc import Iterable, Sequence
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np
import orjson

from ..learners.asking import Asker, find_margins
from ..parameters import ParameterError
from .http import Endpoints, Request, RequestError, Response, Route, to_json
from .learning import Job
from .log import hash_bytes
from .model import ServedModel
from .requests import parse_json

MOST_OPEN = 1000  # questions; the oldest are dropped
MOST_BYTES = 16 << 20  # of their rows
SHOWN = 20  # questions of one answer


class Question(NamedTuple):
    """A row whose label is asked for, and what the model predicted."""

    number: int
    row: dict[str, Any]
    label: Any
    size: int


class OpenRows(dict[Any, Any]):
    """Rows that wait for an answer, by key, oldest first; the oldest of too many are dropped.

    Entries have the ``size`` of their row in bytes; ``size`` is the sum. ``most`` is the largest
    number of rows.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most, self.size = most, 0

    def add(self, key: Any, entry: Any) -> None:
        """Add an entry."""
        self[key] = entry
        self.size += entry.size
        while len(self) > self.most or (self.size > MOST_BYTES and len(self) > 1):
            self.remove(next(iter(self)))

    def remove(self, key: Any) -> Any:
        """Remove and return an entry."""
        entry = self.pop(key)
        self.size -= entry.size
        return entry


class Questions:
    """The rows whose labels are asked for; they are kept in memory only.

    Parameters
    ----------
    share
        The share of predictions to ask for.
    """

    def __init__(self, share: float) -> None:
        self.asker, self.lock, self.numbers = Asker(share), threading.Lock(), count(1)
        self.open = OpenRows(MOST_OPEN)  # by the hash of the row
        self.answered = 0

    def choose(self, rows: Sequence[Any], labels: Sequence[Any], scores: Any, sets: bool) -> Any:
        """Flag the predictions to ask about, and keep their rows; ``sets``: labels are sets."""
        margins = find_margins(np.asarray(scores, float), sets).tolist()
        with self.lock:
            flags = [self.asker.ask(margin) for margin in margins]
            for row, label, is_asked in zip(rows, labels, flags, strict=True):
                if is_asked:
                    self.add(row, label)
        return flags

    def add(self, row: dict[str, Any], label: Any) -> None:
        """Keep a question, unless the same row is asked about; drop the oldest of too many."""
        text = orjson.dumps(row)
        key = hash_bytes(text)
        if key not in self.open:
            self.open.add(key, Question(next(self.numbers), row, label, len(text)))

    def take(self, number: int) -> Question | None:
        """Remove the question with a number, if it is open."""
        with self.lock:
            for key, question in self.open.items():
                if question.number == number:
                    self.open.remove(key)
                    return question  # type: ignore[no-any-return]
        return None

    def put_back(self, question: Question) -> None:
        """Keep a question again that could not be answered."""
        with self.lock:
            self.open.add(hash_bytes(orjson.dumps(question.row)), question)

    def about(self) -> dict[str, Any]:
        """Counts, for ``/model``."""
        return {
            "share": self.asker.share,
            "predictions": self.asker.rows,
            "asked": self.asker.asked,
            "answered": self.answered,
            "waiting": len(self.open),
        }

    def newest(self) -> list[dict[str, Any]]:
        """Some open questions, newest first."""
        with self.lock:
            found = list(islice(reversed(self.open.values()), SHOWN))
        return [{"number": one.number, "row": one.row, "label": one.label} for one in found]


def can_ask(served: ServedModel) -> bool:
    """Whether rows are objects of columns, and labels are classes."""
    maker = served.maker
    return bool(maker.columns) and not maker.of_lines and not served.has_numbers


def check_asking(served: ServedModel) -> None:
    """Refuse a model of lines, sentences or numbers."""
    if not can_ask(served):
        raise ParameterError(
            f"{served.name}: {{ask?}} is for rows with columns and classes, not for lines, "
            "sentences or numbers; leave it out.",
            code="ask-kind",
        )


class AskEndpoints(Endpoints):
    """The questions of a service, and answers to them."""

    def routes(self) -> Iterable[Route]:
        """All endpoints; those with rows need a token to learn."""
        return (
            Route("GET", "/ask", "", self.service.page, "A page to label rows."),
            Route("GET", "/ask/rows", "learn", self.rows, "Rows whose labels are asked for."),
            Route("POST", "/ask/{number}", "learn", self.label, "Learn a row with its label."),
            Route("DELETE", "/ask/{number}", "learn", self.skip, "Drop a row without a label."),
        )

    @property
    def questions(self) -> Questions:
        """The questions; refuse requests if the service does not ask."""
        found = self.service.questions
        if found is None:
            sentence = "This service does not ask for labels; it was started without asking."
            raise RequestError(403, "does-not-ask", sentence)
        return found

    def take(self, request: Request) -> Question:
        """Remove the question that a request is about."""
        number = request.parameters["number"]
        known = number.isascii() and number.isdecimal() and len(number) < 19
        question = self.questions.take(int(number)) if known else None
        if question is None:
            sentence = f"There is no open question {number[:20]}; it may be answered already."
            raise RequestError(404, "unknown-question", sentence)
        return question

    async def rows(self, request: Request) -> Response:
        """The newest questions."""
        questions = self.questions
        return to_json({**questions.about(), "questions": questions.newest()})

    async def label(self, request: Request) -> Response:
        """Learn the row of a question with the label in the body."""
        learning, body = self.service.check_learning(), parse_json(request.body)
        if not isinstance(body, dict) or body.keys() != {"label"}:
            raise RequestError(400, "bad-body", 'Send {"label": LABEL}.')
        question = self.take(request)
        example = question.row | {learning.served.maker.label: body["label"]}
        text = orjson.dumps(example).decode()
        key = hash_bytes(f"ask {self.service.run_name} {question.number}".encode())
        try:
            job = Job([text], [example], key=key)
            sequence = await self.service.write(job, learning)
        except BaseException:
            self.questions.put_back(question)
            raise
        self.questions.answered += 1
        return to_json({"sequence": sequence, "examples": 1}, 202)

    async def skip(self, request: Request) -> Response:
        """Drop a question."""
        return to_json({"number": self.take(request).number})
