"""The learning thread: requests that arrive together share one sync, then are acknowledged."""

import queue
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, cast

from ..reading.batches import Batch, join_batches
from ..storage.file import save_model
from ..storage.model import Model
from .log import PRIVATE, KeyedRequest, LogError, hash_bytes
from .model import ServedModel
from .replay import Replay, erase, has_seen, recover
from .requests import RequestError, make_texts, parse_json

MOST_TOGETHER = 20_000  # rows that share one sync
PATIENCE = 0.5  # of a sync, to wait for as many requests as shared the last one
LONGEST_SYNC = 0.02  # seconds that are taken for one, so that a slow disk adds no more waiting
PUBLISHING = 0.05  # of the time at most
LONGEST_WAIT = 0.5  # seconds until what was learnt is published
TICK = 0.5  # seconds between two looks at what is due
RETRY = 2.0  # seconds between attempts to use the log again after a write error
SAVED_EXAMPLES = 20_000  # after which the model is written


@dataclass(frozen=True)
class Keeping:
    """When the model file is written, and how many classes it may have.

    Attributes
    ----------
    seconds
        The model is written N seconds after it has learnt something, or after 20,000 examples.
    most_classes
        New labels become classes up to this number, unless it is None.
    """

    seconds: float = 60.0
    most_classes: int | None = None


@dataclass
class Job:
    """Examples of one request.

    Attributes
    ----------
    texts
        The examples for the log.
    key
        The hash of the request's key; a second request with the same key is not learnt.
    made, maker
        The examples as rows, and what made them; another model has to make them again.
    future
        Gets the sequence number of the last example once it is on disk.
    """

    texts: list[str]
    key: bytes | None = None
    made: Batch | None = None
    maker: Any = None
    future: "Future[int]" = field(default_factory=Future)

    @property
    def digest(self) -> bytes:
        """A hash of the examples, however they were written."""
        plain = make_texts([parse_json(text) for text in self.texts])
        return hash_bytes("\n".join(plain).encode())


@dataclass
class Call:
    """A function to call between two groups of examples, and the future of its result."""

    function: Callable[[], Any]
    future: "Future[Any]" = field(default_factory=Future)


def settle(job: Job | Call, outcome: Any) -> None:
    """Set the outcome of a job, unless it has one or is no longer awaited."""
    if job.future.done() or not job.future.set_running_or_notify_cancel():
        return
    if isinstance(outcome, BaseException):
        job.future.set_exception(outcome)
    else:
        job.future.set_result(outcome)


class Learning(threading.Thread):
    """The thread that writes examples to the log, learns them in that order, and saves the model.

    Attributes
    ----------
    predictor : Predictor
        The newest weights; it is replaced and never changed.
    failure : str or None
        Why examples cannot be taken at the moment.
    has_died : bool
        Whether the thread ended by an error.
    on_sync : callable
        Called with the seconds that each sync took.
    """

    def __init__(
        self,
        path: Path,
        keeping: Keeping | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        super().__init__(name="rosenblatt-learning", daemon=True)
        self.path, self.keeping, self.say = path, keeping or Keeping(), say
        self.served, self.log, self.saved_sequence = recover(path, say)
        self.changing = threading.Lock()  # held while the model is replaced
        self.erase_at: float | None = None  # when to remove forgotten examples from files
        self.jobs: queue.SimpleQueue[Job | Call | None] = queue.SimpleQueue()
        self.ended, self.ending = False, threading.Lock()  # after which nothing is queued
        self.failure: str | None = None
        self.has_died = False
        self.snapshots = ThreadPoolExecutor(1, "rosenblatt-snapshot")
        self.saving: Future[None] | None = None
        self.saved_at = time.monotonic()
        self.due = self.again_at = self.retry_at = 0.0
        self.expected, self.syncing = 1, 0.0  # requests of the last group, seconds of its sync
        self.on_sync: Callable[[float], object] = lambda seconds: None
        self.publish()

    # From other threads

    def call(self, function: Callable[[], Any]) -> Future[Any]:
        """Call a function in the learning thread, between two groups of examples."""
        return self.take(Call(function))

    def take(self, job: Job | Call) -> Future[Any]:
        """Queue a job, or refuse it if the thread has ended; return its future."""
        with self.ending:
            if self.ended:
                settle(job, LogError(self.failure or "The service is stopping."))
            else:
                self.jobs.put(job)
        return job.future

    def stop(self) -> None:
        """Learn what is queued, write the model, and end the thread."""
        self.jobs.put(None)
        self.join()

    # The thread

    def run(self) -> None:
        """Take jobs until the thread is stopped; then refuse those that are left."""
        try:
            while self.process_group():
                pass
            self.finish()
        except BaseException as error:  # a mistake of ours: nothing more is acknowledged
            self.has_died = True
            self.failure = f"The learning thread ended: {error!r}."
            self.say(self.failure)
            raise
        finally:
            self.refuse_rest()

    def process_group(self) -> bool:
        """Take one group of jobs and learn it; return whether there are more to come."""
        is_behind = self.predictor.sequence < self.served.sequence
        wait = max(0.0, self.due - time.monotonic()) if is_behind else TICK
        try:
            job = self.jobs.get(timeout=wait)
        except queue.Empty:
            self.run_due_work()
            return True
        group: list[Job] = []
        # It waits a little for as many requests as shared the last sync.
        count, until = 0, time.monotonic() + PATIENCE * self.syncing
        while isinstance(job, Job):
            group.append(job)
            count += len(job.texts)
            try:
                if count >= MOST_TOGETHER:
                    break
                wait = until - time.monotonic() if len(group) < self.expected else 0.0
                job = self.jobs.get(timeout=max(0.0, wait))
            except queue.Empty:
                break
        try:
            self.learn_group(group)
        except BaseException as error:
            for one in [*group, *([] if job is None else [job])]:
                settle(one, LogError(f"The learning thread ended: {error!r}."))
            raise
        if job is None:
            return False
        if isinstance(job, Call):
            try:
                settle(job, job.function())
            except BaseException as error:  # raised where the result is waited for
                settle(job, error)
        self.run_due_work()
        return True

    def learn_group(self, group: list[Job]) -> None:
        """Write and learn some jobs, and tell each its outcome."""
        if not group:
            return
        self.expected = len(group)
        try:
            self.recover()
            group = list(self.answer_retries(group))
        except (LogError, ValueError) as error:
            self.refuse(group, error)
        else:
            self.write_and_learn(list(self.make_rows(group)) if group else [])

    def answer_retries(self, group: list[Job]) -> Iterator[Job]:
        """Answer requests that were learnt before as they were then; yield the others."""
        keys = set()
        for job in group:
            if job.key in keys:
                self.jobs.put(job)  # it is looked up once the first one is written
                continue
            known = None if job.key is None else self.log.find_request(job.key)
            if known is None:
                keys |= {job.key} - {None}
                yield job
            elif known.digest in (None, job.digest):
                settle(job, known.last)
            else:
                sentence = "This Idempotency-Key was used for another body."
                settle(job, RequestError(409, "key-reused", sentence))

    def refuse(self, group: list[Job], error: Exception) -> None:
        """Tell jobs that the log cannot be written."""
        self.fail(str(error))
        for job in group:
            settle(job, error)

    def make_rows(self, group: list[Job]) -> Iterator[tuple[list[Job], Batch]]:
        """Jobs and their rows; jobs with examples that cannot be learnt get the error."""
        try:
            yield group, self.served.check_learnable(join_batches([*map(self.make, group)]))
        except Exception as error:  # of one of them, which gets it
            if len(group) > 1:
                yield from (one for job in group for one in self.make_rows([job]))
            else:
                settle(group[0], error)

    def make(self, job: Job) -> Batch:
        """The rows of a job, as the present model makes them."""
        is_made = job.made is not None and job.maker is self.served.maker
        return cast(Batch, job.made) if is_made else self.served.make(job.texts)

    def write_and_learn(self, made: list[tuple[list[Job], Batch]]) -> None:
        """Put examples on disk, acknowledge them, and learn them."""
        group = [job for jobs, _ in made for job in jobs]
        if not group:
            return
        begun, ends = time.monotonic(), list(accumulate(len(job.texts) for job in group))
        requests = [
            KeyedRequest(job.key, job.digest, end - len(job.texts), end - 1)
            for job, end in zip(group, ends, strict=True)
            if job.key is not None
        ]
        before = self.log.last
        try:
            self.log.append([text for job in group for text in job.texts], requests)
        except (LogError, ValueError) as error:
            self.refuse(group, error)
            return
        seconds = time.monotonic() - begun
        self.on_sync(seconds)
        self.syncing = min(seconds, LONGEST_SYNC)
        for job, end in zip(group, ends, strict=True):
            settle(job, before + end)
        self.served.learn(join_batches([given for _, given in made]))
        self.check_learnt()

    def recover(self) -> None:
        """After a write error, learn exactly what the log holds before accepting more."""
        if self.failure is None:
            return
        self.log.reopen()
        replay = Replay(self.log, self.say)
        if self.served.log == self.log.identity:
            self.replace(replay.run(self.served))
        else:  # examples were forgotten
            self.replace(replay.rebuild())
        self.check_learnt()
        if self.log.is_erasing:
            self.erase_at = time.monotonic()
        self.say(f"The log can be written again; it has {self.log.last:,} examples.")
        self.failure = None

    def check_learnt(self) -> None:
        """Raise RuntimeError if the model has not learnt exactly what the log holds."""
        if self.served.sequence != self.log.last:
            raise RuntimeError(
                f"the log has {self.log.last} examples and the model {self.served.sequence}"
            )

    def fail(self, sentence: str) -> None:
        """Note why the log cannot be written, and report it once."""
        if sentence != self.failure:
            self.say(f"{sentence} Nothing is learnt until it can be written; predictions continue.")
        self.failure, self.retry_at = sentence, time.monotonic() + RETRY

    def refuse_rest(self) -> None:
        """Accept no more jobs, and refuse those that wait."""
        with self.ending:
            self.ended = True
        error = LogError(self.failure or "The service is stopping.")
        with suppress(queue.Empty):
            while True:
                job = self.jobs.get_nowait()
                if job is not None:
                    settle(job, error)

    def finish(self) -> None:
        """Write the model and close the log, without what was refused."""
        with suppress(OSError, ValueError):
            self.recover()
        self.publish()
        self.snapshots.shutdown(wait=True)
        try:
            self.save(self.served.model())
        except (OSError, ValueError) as error:
            self.say(f"{error} The log has all examples; the model is rebuilt from it.")
        self.log.close()

    # Replacing the model

    def replace(self, served: ServedModel) -> None:
        """Continue with a model that has learnt all of the log that it should."""
        if served is not self.served:
            served.name, served.log = str(self.path), self.log.identity
            served.most_classes = self.served.most_classes
            served.sequence = self.log.last
            self.served = served
            self.publish()

    def change(
        self,
        served: ServedModel,
        action: str,
        source: int,
        model: bytes | None = None,
    ) -> int:
        """Write a change of the model to the log, then serve that model; return its number."""
        self.recover()
        try:
            number = self.log.append_change(action, source, model)
        except LogError as error:
            self.fail(str(error))
            raise
        self.replace(served)
        return number

    def forget(self, served: ServedModel, examples: Collection[int]) -> None:
        """Continue with a model that has not seen some examples, and erase these everywhere."""
        self.recover()
        served = Replay(self.log, self.say, examples).run(served)
        changes = self.log.changes()
        snapshots = [one for one in self.log.models() if has_seen(changes, one, examples)]
        try:
            self.log.forget(examples, snapshots)
        except LogError as error:
            self.fail(str(error))
            raise
        self.replace(served)
        self.erase()

    def erase(self) -> None:
        """Remove the bytes of forgotten examples from all files; after an error do it again soon.

        Meanwhile the service learns on, with a model that has not seen these examples.
        """
        self.erase_at = time.monotonic() + RETRY
        if self.saving is not None:
            self.saving.result()  # or an older model would be saved afterwards
        erase(self.log, self.served, self.path)
        self.erase_at = None
        self.saved_sequence, self.saved_at = self.served.sequence, time.monotonic()

    # Publishing and saving

    def run_due_work(self) -> None:
        """Publish and save if it is time; after a write error, try the log again."""
        now = time.monotonic()
        if self.failure is not None and now >= self.retry_at:
            try:
                self.recover()
            except (LogError, ValueError) as error:
                self.fail(str(error))
        if self.erase_at is not None and now >= self.erase_at and self.failure is None:
            with suppress(OSError, ValueError):  # the client that waits for it was told
                self.erase()
        sequence = self.served.sequence
        if self.predictor.sequence < sequence and now >= self.due:
            self.publish()
        behind = sequence - self.saved_sequence
        due = behind >= SAVED_EXAMPLES or now >= self.saved_at + self.keeping.seconds
        due = due and now >= self.again_at and (self.saving is None or self.saving.done())
        if behind and due:
            self.saving = self.snapshots.submit(self.try_to_save, self.served.model())

    def publish(self) -> None:
        """Let predictions use what was learnt; large models are copied less often."""
        begun = time.monotonic()
        self.predictor = self.served.make_predictor()
        ended = time.monotonic()
        self.due = ended + min((ended - begun) / PUBLISHING, LONGEST_WAIT)

    def try_to_save(self, model: Model) -> None:
        """Write the model; report an error and try again later: the log has all examples."""
        try:
            self.save(model)
        except (OSError, ValueError) as error:
            self.again_at = time.monotonic() + self.keeping.seconds
            self.say(f"{error} It is tried again; the log has all examples.")

    def save(self, model: Model) -> None:
        """Write the model, all or nothing."""
        save_model(self.path, model)
        self.path.chmod(PRIVATE)
        self.saved_sequence, self.saved_at = model.facts["service"]["sequence"], time.monotonic()

    def snapshot(self) -> Path:
        """Write the model if it has changed since it was saved; return its path.

        Call it between two groups.
        """
        if self.saving is not None:
            self.saving.result()
        if self.saved_sequence < self.served.sequence or not self.path.exists():
            self.save(self.served.model())
        return self.path
