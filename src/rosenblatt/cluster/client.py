"""A Dask cluster: named tasks, and waiting for results only while there are workers."""

import json
import os
import re
import time
from asyncio import run_coroutine_threadsafe
from collections.abc import Callable
from concurrent.futures import CancelledError, wait as wait_for
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar, cast

from dask import config
from distributed import Client, Future, KilledWorker, get_client
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
                options = {"threads_per_worker": 1, "dashboard_address": ":0"}
                return Client(n_workers=workers, set_as_default=False, **options)
        if os.path.exists(address):
            address = json.loads(Path(address).read_text("utf-8"))["address"]
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
        self.patience = patience

    def submit_each(
        self, function: Callable[..., Any], parts: list[Any], *arguments: Any
    ) -> list[Any]:
        """Submit a task per partition, if possible where it is: function(part, its number, …)."""
        tasks, holders = [], self.client.who_has(parts)
        for number, part in enumerate(parts):
            where = list(holders.get(part.key, ()))
            pinned: Any = {"workers": where, "allow_other_workers": True} if where else {}
            task = self.client.submit(function, part, number, *arguments, pure=False, **pinned)
            tasks.append(task)
        return tasks

    def ask_each(
        self, function: Callable[..., Any], parts: list[Any], *arguments: Any
    ) -> list[Any]:
        """Return what a function of a partition and its number finds in each."""
        return self.retry_when_lost(
            lambda: self.get_results(self.submit_each(function, parts, *arguments))
        )

    def share(self, value: Any) -> Any:
        """Send a value to all workers; raise TimeoutError if one is lost meanwhile.

        Dask's scheduler would try for ever to send it to a worker that is gone, and send nothing
        else before. It gives up when the value is released.
        """
        known, lost, key = set(self.client.nthreads()), False, f"weights-{token_hex(12)}"
        options = {"broadcast": True, "timeout": self.patience, "asynchronous": True}
        sending = self.begin(self.client.scatter({key: value}, **options))
        while not wait_for([sending], 1.0).done:
            there = set(self.client.nthreads())
            lost, known = lost or bool(known - there), known | there
            if lost:
                Future(key, self.client).release()
        if lost:
            raise TimeoutError
        return sending.result()[key]

    def begin(self, work: Any) -> Any:
        """Begin what the client does in its own thread."""
        return run_coroutine_threadsafe(work, cast(Any, self.client.loop).asyncio_loop)

    def get_results(self, futures: list[Any]) -> list[Any]:
        """Wait for tasks and fetch their results while there are workers.

        Raise if there are none for ``patience`` seconds.
        """
        seen = time.monotonic()
        fetching = self.begin(self.client.gather(futures, asynchronous=True))
        try:
            while not wait_for([fetching], 1.0).done:
                now = time.monotonic()
                seen = now if self.client.nthreads() else seen
                if now - seen >= self.patience:
                    raise self.make_lost_error()
            return list(fetching.result())
        finally:
            fetching.cancel()

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
