"""A Dask cluster: named tasks, and waiting for results only while there are workers."""

import json
import os
import re
import time
from asyncio import run_coroutine_threadsafe
from collections.abc import Callable
from concurrent.futures import CancelledError, wait as wait_for
from secrets import token_hex
from typing import Any, TypeVar, cast

from dask import config
from distributed import Client, Future, KilledWorker, get_client, wait
from distributed.comm.core import CommClosedError

from ..parameters import ParameterError

ADDRESS = re.compile(r"(\w+://)?(\[\S+\]|[^\s/:]+):\d{1,5}(/\S*)?|inproc://\S+")
LOST_AT_MOST = 10  # times that work is repeated because workers were lost with their data

T = TypeVar("T")


class WorkersLostError(RuntimeError):
    """No worker is left to continue.

    See Also
    --------
    fit : Raises it when ``patience`` seconds have passed without a worker.

    Examples
    --------
    >>> issubclass(WorkersLostError, RuntimeError)
    True
    """

    code = "workers-lost"


def connect(address: str) -> Client:
    """Connect to ``local:N``, to an address such as ``tcp://…``, or to a scheduler's file.

    Parameters
    ----------
    address : str
        ``local:4`` starts four workers here; they end with the client.
    """
    kind, _, count = address.partition(":")
    try:
        if kind == "local":
            workers = int(count) if count else os.cpu_count()
            if workers == 0:
                raise ValueError("at least one worker is needed")
            with config.set({"distributed.nanny.pre-spawn-environ": {}}):  # see docs/scale.md
                return Client(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=":0",
                    set_as_default=False,
                )
        if os.path.exists(address):
            with open(address, encoding="utf-8") as file:
                address = json.load(file)["address"]
        if ADDRESS.fullmatch(address) is None:  # Dask might look for it for ever
            raise ValueError("there is no such file, and an address has a host and a port")
        # as the default, a client that finds no scheduler would stay behind
        return Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ParameterError(
            f"cluster={address!r} must be local:N, a scheduler's address such as tcp://host:8786, "
            f"or a scheduler's file: {str(error).rstrip('.')}.",
            code="cluster-address",
        ) from None


class Cluster:
    """A Dask client, by default the one made last.

    Attributes
    ----------
    client
        The client.
    patience
        How many seconds to wait for a worker when there are none.
    """

    def __init__(self, client: Client | None = None, patience: float = 30.0) -> None:
        try:
            self.client = client or get_client()
        except ValueError:
            raise ParameterError(
                "There is no Dask client; make one first, such as distributed.Client(), or pass "
                "client.",
                code="no-client",
            ) from None
        self.patience, self.token, self.count = patience, token_hex(6), 0

    def submit(
        self, what: str, function: Callable[..., Any], *arguments: Any, where: Any = None
    ) -> Any:
        """Submit a task, if possible to one of the workers given by ``where``.

        Dask's dashboard shows it as ``what``.
        """
        self.count += 1
        key = f"perceptron-{what}-{self.count}-{self.token}"
        pinned = {"workers": where, "allow_other_workers": True} if where else {}
        return self.client.submit(function, *arguments, key=key, pure=False, **pinned)

    def submit_each(
        self, what: str, function: Callable[..., Any], parts: list[Any], *arguments: Any
    ) -> list[Any]:
        """Submit a task per partition, where it is: function(part, its number, …)."""
        holders = self.find_holders(parts)
        return [
            self.submit(what, function, part, number, *arguments, where=holders[number])
            for number, part in enumerate(parts)
        ]

    def ask_each(
        self, what: str, function: Callable[..., Any], parts: list[Any], *arguments: Any
    ) -> list[Any]:
        """Return what a function of a partition and its number finds in each."""
        return self.retry_when_lost(
            lambda: self.get_results(self.submit_each(what, function, parts, *arguments))
        )

    def find_holders(self, parts: list[Any]) -> list[Any]:
        """Return the workers that hold each partition."""
        if not isinstance(parts[0], Future):
            return [None] * len(parts)
        found = self.client.who_has(parts)
        return [list(found.get(part.key, ())) for part in parts]

    def share(self, value: Any, everywhere: bool = True) -> Any:
        """Send a value to one worker, or to all; raise TimeoutError if one is lost meanwhile.

        Dask's scheduler would try for ever to send it to a worker that is gone, and send nothing
        else before. It gives up when the value is released.
        """
        known, lost, loop = set(self.client.nthreads()), False, cast(Any, self.client.loop)
        self.count += 1
        key = f"perceptron-weights-{self.count}-{self.token}"
        options = {"broadcast": everywhere, "timeout": self.patience, "asynchronous": True}
        scattered = self.client.scatter({key: value}, **options)
        sending = run_coroutine_threadsafe(scattered, loop.asyncio_loop)
        while not wait_for([sending], 1.0).done:
            there = set(self.client.nthreads())
            lost, known = lost or bool(known - there), known | there
            if lost:
                Future(key, self.client).release()
        if lost:
            raise TimeoutError
        return sending.result()[key]

    def count_workers(self) -> int:
        """Return the number of workers."""
        return len(self.client.nthreads())

    def get_results(self, futures: list[Any]) -> list[Any]:
        """Wait for tasks and fetch their results.

        Fetching waits, too: the workers that hold results may be lost after the tasks are done.
        """
        self.wait(futures)
        loop: Any = self.client.loop
        gathered = self.client.gather(futures, asynchronous=True)
        fetching = run_coroutine_threadsafe(gathered, loop.asyncio_loop)
        try:
            return list(self.wait_while_workers_last(fetching.result))
        finally:
            fetching.cancel()

    def wait(self, futures: list[Any]) -> None:
        """Wait for tasks."""
        with self.client.as_current():  # or Dask would ask for a default one
            self.wait_while_workers_last(lambda seconds: wait(futures, timeout=seconds))

    def wait_while_workers_last(self, waiting: Callable[[float], T]) -> T:
        """Return the result of ``waiting``; raise if there are no workers for ``patience`` seconds.

        ``waiting`` takes a number of seconds and raises TimeoutError after them.
        """
        idle_since = None
        while True:
            try:
                return waiting(1.0)
            except TimeoutError:
                if self.count_workers():
                    idle_since = None
                    continue
            now = time.monotonic()
            idle_since = idle_since or now
            if now - idle_since >= self.patience:
                raise self.make_lost_error()

    def make_lost_error(self) -> WorkersLostError:
        """Make the error to raise when there are no workers."""
        return WorkersLostError(f"no worker came back within {self.patience:g} seconds")

    def retry_when_lost(self, work: Callable[[], T]) -> T:
        """Return the result of ``work``; repeat it if workers were lost with their data."""
        for _ in range(LOST_AT_MOST):
            try:
                return work()
            except KilledWorker as killed:
                raise WorkersLostError(f"a task ended several workers ({killed.task})") from killed
            except (CancelledError, CommClosedError, TimeoutError) as lost:
                try:
                    self.client.wait_for_workers(1, timeout=self.patience)
                except (TimeoutError, OSError, RuntimeError):
                    raise self.make_lost_error() from lost
        raise WorkersLostError(f"workers were lost {LOST_AT_MOST} times in one epoch")
