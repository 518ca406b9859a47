"""A shadow model: it learns the examples of another model's log and answers no request."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..learners import load_model
from .log import Log, LogError
from .model import MOST_RECENT, ServedModel, open_model
from .replay import Replay

INTERVAL = 0.2  # seconds between looks at the log


class Shadow(threading.Thread):
    """Follows a log with a model of its own, from the first example that the log has.

    The shadow is kept in memory only: at each start it learns the log again, in the background. So
    it is always what its model file and the log make, also after examples were forgotten.

    Attributes
    ----------
    data : bytes
        The model file that it began with.
    first : int
        The row of the log that it began after.
    served : ServedModel
        What it has learnt.
    """

    def __init__(self, path: Path, log: Path, say: Callable[[str], None] = print) -> None:
        super().__init__(name="rosenblatt-shadow", daemon=True)
        self.path, self.data, self.say = path, path.read_bytes(), say
        self.ended, self.lock = threading.Event(), threading.Lock()
        self.log = Log(log, writes=False)
        try:
            self.begin()
            self.served.check_learning()
        except BaseException:
            self.log.close()
            raise

    def begin(self) -> None:
        """Begin with the first example of the log."""
        self.first = self.log.models()[0]
        model = load_model(self.path, self.data)
        self.served: ServedModel = open_model(model, str(self.path))
        self.served.log, self.served.sequence = self.log.identity, self.first

    def run(self) -> None:
        """Learn what is new in the log, until the end."""
        while not self.ended.wait(INTERVAL):
            try:
                with self.lock:
                    if not self.ended.is_set():
                        self.learn(self.ended.is_set)
            except LogError:  # the learning thread reports it and tries again, too
                continue
            except Exception as error:  # the service works without its shadow
                self.say(f"The shadow {self.path} ended: {error}")
                break
        self.log.close()

    def learn(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """Learn what is new in the log; the caller holds the lock."""
        self.log.refresh()
        lacks = self.log.models()[0] > self.served.sequence
        if self.served.log != self.log.identity or lacks:  # forgotten or trimmed
            self.begin()
        replay = Replay(self.log, self.say, follows_changes=False)
        for _ in replay.steps(self.served):
            if is_over():
                break

    def catch_up(self) -> ServedModel:
        """The model after the last example of the log."""
        with self.lock:
            self.learn()
        return self.served

    def stop(self) -> None:
        """End."""
        self.ended.set()
        if self.is_alive() and threading.current_thread() is not self:
            self.join()

    def compare(self, served: ServedModel) -> dict[str, Any]:
        """The errors of the shadow and of the model, on the same last examples."""
        shadow = self.served
        count = min(shadow.progress.examples, served.progress.examples, MOST_RECENT)
        return {
            "path": str(self.path),
            "estimator": shadow.kept.estimator,
            "sequence": shadow.sequence,
            "refused": shadow.progress.refused,
            "examples": count,
            "error": shadow.progress.error(count),
            "error_of_model": served.progress.error(count),
        }
