"""The learning thread: requests that arrive together share one sync, then are acknowledged."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

from ..learners.linear import LinearLearner
from ..storage.file import load_model, save_model
from ..storage.model import Model
from .log import PRIVATE, Log, LogError
from .model import ServedModel, open_model, rebuilt
from .rows import Learnable, together

MOST_TOGETHER = 20_000  # rows that share one sync
PATIENCE = 0.5  # of a sync, to wait for as many requests as shared the last one
LONGEST_SYNC = 0.02  # seconds that are taken for one, lest a slow disk makes requests wait more
PUBLISHING = 0.05  # of the time at most
LONGEST_WAIT = 0.5  # seconds until what was learnt is published
RETRY = 2.0  # seconds between attempts to use the log again after a write error
DAY = 86_400.0


@dataclass(frozen=True)
class Keeping:
    """When the model is written, and how long examples are kept.

    Attributes
    ----------
    examples, seconds
        The model is written after so many examples, or so long after it has learnt something.
    days
        Examples are forgotten after so many days; None to keep them all.
    """

    examples: int = 20_000
    seconds: float = 60.0
    days: float | None = None


class Job(NamedTuple):
    """Examples of one request, and whom to tell their last sequence number, or the error.

    A few come as what they say, and become rows together with those of other requests.
    """

    texts: Sequence[str]
    examples: Learnable | Sequence[Any]
    tell: Callable[[int | Exception], None]


class Call(NamedTuple):
    """A function to call between two groups of examples, and the future of its result."""

    function: Callable[[], Any]
    future: "Future[Any]"

    def run(self) -> None:
        """Call the function, unless whoever waits has cancelled it."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.function())
        except BaseException as error:  # raised where the result is waited for
            self.future.set_exception(error)

    def tell(self, error: Exception) -> None:
        """Say that the function will not be called."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


class Published(NamedTuple):
    """What predictions are made with: a copy of the weights, and what they have learnt."""

    learner: LinearLearner
    sequence: int


def log_path(path: Path) -> Path:
    """Where the log of a model file is."""
    return path.with_name(path.name + ".log")


def recovered(path: Path, say: Callable[[str], None]) -> tuple[ServedModel, Log, int]:
    """The model after the last example of its log, the log, and the last example in the file."""
    place = log_path(path)
    if not place.exists():
        model = load_model(path)
        served = open_model(model, str(path))
        served.refuse_to_learn()
        if served.sequence:
            say(f"There is no log {place}; a new one goes on after example {served.sequence:,}.")
        log = Log.create(place, path.read_bytes(), served.sequence)
        served.log = log.identity
        return served, log, served.sequence
    log = Log(place, writes=True)
    try:
        if log.lost:
            say(
                f"{place} has lost {log.lost:,} acknowledged examples after number {log.last:,}; "
                "restore a backup of the log, or continue without them."
            )
        served = last_snapshot(path, log, say)
        served.refuse_to_learn()
        begun, told = served.sequence, time.monotonic()
        saved = begun if served.name == str(path) else -1
        for sequence in served.replay(log, say=say):
            if time.monotonic() > told + 5:
                told = time.monotonic()
                say(f"Replaying the log: example {sequence:,} of {log.last:,}.")
        if log.last > begun:
            say(f"{log.last - begun:,} examples were learnt again from {place}.")
    except BaseException:
        log.close()
        raise
    served.name = str(path)
    return served, log, saved


def last_snapshot(path: Path, log: Log, say: Callable[[str], None]) -> ServedModel:
    """The newest model there is to replay the log from: the file, or one in the log."""
    try:
        served = open_model(load_model(path), str(path))
    except (ValueError, FileNotFoundError) as error:
        say(f"{error} The model is rebuilt from {log.path}.")
        return rebuilt(log)
    models = log.models()
    if served.log == 0 and path.read_bytes() == log.model(models[0]):
        served.log, served.sequence = log.identity, models[0]
    if served.log != log.identity:
        raise ValueError(
            f"{path} has not learnt from {log.path}; restore the model that has, or move the log "
            "and the files beside it (-wal, -shm, -last) away to begin a new one."
        )
    if served.sequence < models[0]:
        return rebuilt(log)  # the log was trimmed since
    if served.sequence > log.last:
        say(
            f"{log.path} ends at example {log.last:,}, and the model knows {served.sequence:,}: "
            "the log was cut; it goes on after the model."
        )
        log.keep_model(served.sequence, path.read_bytes())
    return served


class Learning(threading.Thread):
    """Writes examples to the log, learns them in its order, publishes and keeps the model.

    Attributes
    ----------
    published : Published
        The newest weights; it is replaced and never changed.
    failure : str or None
        Why examples cannot be taken at the moment.
    on_sync : callable
        Called with the seconds that each sync took.
    """

    def __init__(
        self, path: Path, keeping: Keeping | None = None, say: Callable[[str], None] = print
    ) -> None:
        super().__init__(name="rosenblatt-learning", daemon=True)
        self.path, self.keeping, self.say = path, keeping or Keeping(), say
        self.served, self.log, self.saved_sequence = recovered(path, say)
        self.jobs: queue.SimpleQueue[Job | Call | None] = queue.SimpleQueue()
        self.ended, self.ending = False, threading.Lock()  # after which nothing is queued
        self.failure: str | None = None
        self.told: str | None = None
        self.snapshots = ThreadPoolExecutor(1, "rosenblatt-snapshot")
        self.saving: Future[None] | None = None
        self.saved_at = time.monotonic()
        self.due = self.again_at = self.retry_at = 0.0
        self.expected, self.syncing = 1, 0.0  # requests of the last group, seconds of its sync
        self.on_sync: Callable[[float], object] = ignore_seconds
        self.publish()

    # From other threads

    def take(self, job: Job) -> None:
        """Write and learn examples, soon."""
        self.enqueue(job)

    def call(self, function: Callable[[], Any]) -> Future[Any]:
        """Have something done between two groups of examples."""
        future: Future[Any] = Future()
        self.enqueue(Call(function, future))
        return future

    def enqueue(self, job: Job | Call) -> None:
        """Queue a job, or refuse it if the thread has ended: nothing would ever take it."""
        with self.ending:
            if not self.ended:
                self.jobs.put(job)
                return
        job.tell(LogError(self.failure or "The service is stopping."))

    def stop(self) -> None:
        """Learn the rest, write the model, and end."""
        self.jobs.put(None)
        self.join()

    # The thread

    def run(self) -> None:
        """Take jobs until there are no more; then none is left that waits for an outcome."""
        try:
            while self.turn():
                pass
            self.finish()
        except BaseException as error:  # a mistake of ours: nothing more is acknowledged
            self.failure = f"The learning thread ended: {error!r}."
            self.say(self.failure)
            raise
        finally:
            self.refuse_rest()

    def turn(self) -> bool:
        """One group of jobs; whether there are more to come."""
        try:
            job = self.jobs.get(timeout=self.time_left())
        except queue.Empty:
            self.keep_up()
            return True
        group: list[Job] = []
        count, until = 0, time.monotonic() + PATIENCE * self.syncing
        while isinstance(job, Job):
            group.append(job)
            count += len(job.texts)
            try:
                if count >= MOST_TOGETHER:
                    break
                job = self.next_job(group, until)
            except queue.Empty:
                break
        try:
            self.learn_group(group)
        except BaseException as error:
            for one in (*group, job):  # a second outcome of a job is ignored
                if one is not None:
                    one.tell(LogError(f"The learning thread ended: {error!r}."))
            raise
        if job is None:
            return False
        if isinstance(job, Call):
            job.run()
        self.keep_up()
        return True

    def learn_group(self, group: list[Job]) -> None:
        """Write and learn some jobs, and tell each its outcome."""
        if group:
            self.expected = len(group)
            self.write_and_learn(list(self.understood(group)))

    def next_job(self, group: list[Job], until: float) -> Job | Call | None:
        """What comes next; as many requests as shared the last sync are waited for a little."""
        if len(group) >= self.expected:
            return self.jobs.get_nowait()
        return self.jobs.get(timeout=max(0.0, until - time.monotonic()))

    def understood(self, group: list[Job]) -> Iterator[tuple[list[Job], Learnable]]:
        """Jobs and their rows; those whose examples cannot be learnt are told why."""
        for jobs in runs(group):
            examples = [one.examples for one in jobs]
            if isinstance(examples[0], Learnable):
                yield jobs, examples[0]
                continue
            try:
                yield jobs, self.served.make_learnable(list(chain.from_iterable(examples)))
            except Exception as error:  # of one of them, whom it is told
                if len(jobs) > 1:
                    yield from (one for job in jobs for one in self.understood([job]))
                else:
                    jobs[0].tell(error)

    def write_and_learn(self, made: list[tuple[list[Job], Learnable]]) -> None:
        """Put examples on disk, acknowledge them, and learn them."""
        group = [job for jobs, _ in made for job in jobs]
        if not group:
            return
        begun = time.monotonic()
        try:
            self.recover()
            before = self.log.last
            self.log.append([text for job in group for text in job.texts])
        except (LogError, ValueError) as error:
            self.fail(str(error))
            for job in group:
                job.tell(error)
            return
        seconds = time.monotonic() - begun
        self.on_sync(seconds)
        self.syncing = min(seconds, LONGEST_SYNC)
        for job in group:
            before += len(job.texts)
            job.tell(before)
        self.served.learn(together([given for _, given in made]))
        self.check_learnt()

    def recover(self) -> None:
        """After a write error, learn exactly what the log holds before more is taken.

        A failed sync does not say whether the examples are on disk; the database does.
        """
        if self.failure is None:
            return
        self.log.reopen()
        for _ in self.served.replay(self.log, say=self.say):
            pass
        self.check_learnt()
        self.say(f"The log can be written again; it has {self.log.last:,} examples.")
        self.failure = self.told = None

    def check_learnt(self) -> None:
        """Stop if the model has not learnt just what the log holds."""
        if self.served.sequence != self.log.last:
            raise RuntimeError(
                f"the log has {self.log.last} examples and the model {self.served.sequence}"
            )

    def fail(self, sentence: str) -> None:
        """Remember why nothing can be written, and say it once."""
        self.failure, self.retry_at = sentence, time.monotonic() + RETRY
        if sentence != self.told:
            self.told = sentence
            self.say(f"{sentence} Nothing is learnt until it can be written; predictions continue.")

    def refuse_rest(self) -> None:
        """Queue nothing more, and tell every waiting job that it will not be done."""
        with self.ending:
            self.ended = True
        error = LogError(self.failure or "The service is stopping.")
        with suppress(queue.Empty):
            while True:
                job = self.jobs.get_nowait()
                if job is not None:
                    job.tell(error)

    def finish(self) -> None:
        """Write the model and leave the log."""
        self.publish()
        self.snapshots.shutdown(wait=True)
        try:
            self.save(self.served.model())
        except (OSError, ValueError) as error:
            self.say(f"{error} The log has all examples; the model is rebuilt from it.")
        self.log.close()

    # Publishing and keeping

    def time_left(self) -> float | None:
        """Seconds until something is due, or None if nothing is."""
        now, due = time.monotonic(), []
        if self.failure is not None:
            due.append(self.retry_at)
        if self.published.sequence < self.served.sequence:
            due.append(self.due)
        if self.saved_sequence < self.served.sequence:
            due.append(max(self.saved_at + self.keeping.seconds, self.again_at))
        return max(0.0, min(due) - now) if due else None

    def keep_up(self) -> None:
        """Publish and save if it is time; after a write error, try the log again."""
        now = time.monotonic()
        if self.failure is not None and now >= self.retry_at:
            try:
                self.recover()
            except (LogError, ValueError) as error:
                self.fail(str(error))
        sequence = self.served.sequence
        if self.published.sequence < sequence and now >= self.due:
            self.publish()
        behind = sequence - self.saved_sequence
        due = behind >= self.keeping.examples or now >= self.saved_at + self.keeping.seconds
        due = due and now >= self.again_at and (self.saving is None or self.saving.done())
        if behind and due:
            self.saving = self.snapshots.submit(self.save_quietly, self.served.model())

    def publish(self) -> None:
        """Let predictions use what was learnt; large models are copied less often."""
        begun = time.monotonic()
        self.published = Published(self.served.published(), self.served.sequence)
        ended = time.monotonic()
        self.due = ended + min((ended - begun) / PUBLISHING, LONGEST_WAIT)

    def save_quietly(self, model: Model) -> None:
        """Write the model; if that is impossible, the log has what it learnt."""
        try:
            self.save(model)
        except (OSError, ValueError) as error:
            self.again_at = time.monotonic() + self.keeping.seconds
            self.say(f"{error} It is tried again; the log has all examples.")

    def save(self, model: Model) -> None:
        """Write the model, all or nothing."""
        save_model(self.path, model)
        self.path.chmod(PRIVATE)
        sequence = model.facts["service"]["sequence"]
        self.saved_sequence, self.saved_at = sequence, time.monotonic()
        if self.keeping.days is not None:
            saved = self.path.read_bytes()
            self.call(lambda: self.keep_in_log(sequence, saved))

    def keep_in_log(self, sequence: int, model: bytes) -> None:
        """Keep a model in the log now and then, and forget what is behind those that are old."""
        assert self.keeping.days is not None
        days = self.keeping.days * DAY
        try:
            if time.time() - self.log.last_kept() >= min(DAY, days / 4):
                self.log.keep_model(sequence, model)
            forgotten = self.log.trim(time.time() - days)
        except (OSError, ValueError) as error:
            self.fail(str(error))
            return
        if forgotten:
            self.say(f"{forgotten:,} examples were forgotten; the model has learnt them.")

    def snapshot(self) -> Path:
        """Write the model as it is now; to be called between two groups."""
        if self.saving is not None:
            self.saving.result()
        if self.saved_sequence < self.served.sequence or not self.path.exists():
            self.save(self.served.model())
        return self.path


def ignore_seconds(seconds: float) -> None:
    """Do nothing with the time of a sync."""


def runs(group: list[Job]) -> Iterator[list[Job]]:
    """Jobs whose examples become rows together, in their order; rows that are there stay alone."""
    for ready, found in groupby(group, lambda job: isinstance(job.examples, Learnable)):
        jobs = list(found)
        yield from ([job] for job in jobs) if ready else [jobs]
