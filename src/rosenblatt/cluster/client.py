"""The cluster: named tasks, and results that are waited for only while somebody works on them."""

import json
import os
import re
import time
from asyncio import run_coroutine_threadsafe
from collections.abc import Callable
from concurrent.futures import CancelledError
from secrets import token_hex
from typing import Any, TypeVar

from dask import config
from distributed import Client, Future, KilledWorker, get_client, wait
from distributed.comm.core import CommClosedError

from ..parameters import ParameterError

ADDRESS = re.compile(
    r"((tcp|tls|ws|wss|ucx|ucxx)://)?(\[[^\s\]]+\]|[^\s/:]+):\d{1,5}(/\S*)?|inproc://\S+"
)
LOST_AT_MOST = 10  # times that an epoch is begun again because workers took its weights with them

T = TypeVar("T")


class WorkersLostError(RuntimeError):
    """There is nobody left to learn.

    See Also
    --------
    fit : Raises it when ``patience`` seconds have gone by without a worker.

    Examples
    --------
    >>> issubclass(WorkersLostError, RuntimeError)
    True
    """


def connected(address: str) -> Client:
    """A client for ``local:N``, an address such as ``tcp://…``, or a scheduler's file.

    Parameters
    ----------
    address : str
        ``local:4`` starts four workers here; they end with the client.
    """
    kind, _, count = address.partition(":")
    if kind == "local":
        if not (count or "1").isdigit() or count == "0":
            raise ParameterError(
                "{cluster} is not local:N with a number of workers.",
                code="cluster-size",
                cluster=address,
            )
        cores = int(count) if count else os.cpu_count()
        with config.set({"distributed.nanny.pre-spawn-environ": {}}):  # see docs/scale.md
            return Client(
                n_workers=cores, threads_per_worker=1, dashboard_address=":0", set_as_default=False
            )
    try:  # as the default, a client that finds no scheduler would stay behind
        found = scheduler_address(address)
        return Client(found, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ParameterError(
            "{cluster} must be local:N, a scheduler's address such as tcp://host:8786, or a "
            f"scheduler's file: {str(error).rstrip('.')}.",
            code="cluster-address",
            cluster=address,
        ) from None


def scheduler_address(given: str) -> str:
    """The address of a scheduler, which may be stated or stand in the scheduler's file."""
    if not os.path.exists(given):
        if ADDRESS.fullmatch(given) is None:
            raise ValueError("there is no such file, and an address has a host and a port")
        return given
    with open(given, encoding="utf-8") as file:
        about = json.load(file)
    found = about.get("address") if isinstance(about, dict) else None
    if not isinstance(found, str) or ADDRESS.fullmatch(found) is None:
        raise ValueError("the file names no scheduler")
    return found


class Cluster:
    """A client, by default the one made last, that names its tasks and notices who is left."""

    def __init__(self, client: Client | None = None, patience: float = 30.0) -> None:
        try:
            self.client = client or get_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client; make one first, such as distributed.Client(), or give "
                "client=."
            ) from None
        self.patience, self.token, self.count = patience, token_hex(6), 0

    def submit(
        self, what: str, function: Callable[..., Any], *arguments: Any, where: Any = None
    ) -> Any:
        """A task on some worker, or on one of those where its rows are, while they live.

        Dask's dashboard shows it under the words before the number.
        """
        self.count += 1
        key = f"perceptron-{what}-{self.count}-{self.token}"
        pinned = {"workers": where, "allow_other_workers": True} if where else {}
        return self.client.submit(function, *arguments, key=key, pure=False, **pinned)

    def on_each(
        self, what: str, function: Callable[..., Any], parts: list[Any], *arguments: Any
    ) -> list[Any]:
        """A task per partition, where it lies: function(part, its number, …)."""
        holders = self.holders(parts)
        return [
            self.submit(what, function, part, number, *arguments, where=holders[number])
            for number, part in enumerate(parts)
        ]

    def holders(self, parts: list[Any]) -> list[Any]:
        """The workers that hold each partition."""
        if not isinstance(parts[0], Future):
            return [None] * len(parts)
        found = self.client.who_has(parts)
        return [list(found.get(part.key, ())) for part in parts]

    def share(self, value: Any, everywhere: bool = True) -> Any:
        """Send a value to the workers."""
        sent = self.client.scatter([value], broadcast=everywhere, hash=False, timeout=self.patience)
        return sent[0]

    def workers(self) -> int:
        """How many there are."""
        return len(self.client.nthreads())

    def results(self, futures: list[Any]) -> list[Any]:
        """Wait for tasks and fetch their results.

        Fetching waits, too: the workers that hold results may be lost after the tasks are done.
        """
        self.wait(futures)
        loop: Any = self.client.loop
        gathered = self.client.gather(futures, asynchronous=True)
        fetching = run_coroutine_threadsafe(gathered, loop.asyncio_loop)
        try:
            return list(self.while_workers_last(fetching.result))
        finally:
            fetching.cancel()

    def wait(self, futures: list[Any]) -> None:
        """Wait for tasks."""
        with self.client.as_current():  # or Dask would ask for a default one
            self.while_workers_last(lambda seconds: wait(futures, timeout=seconds))

    def while_workers_last(self, waiting: Callable[[float], T]) -> T:
        """Return what a wait of some seconds returns; raise if there are no workers for too long.

        ``waiting`` raises TimeoutError when the seconds are over.
        """
        idle_since = None
        while True:
            try:
                return waiting(1.0)
            except TimeoutError:
                if self.workers():
                    idle_since = None
                    continue
            now = time.monotonic()
            idle_since = idle_since or now
            if now - idle_since >= self.patience:
                raise self.nobody()

    def nobody(self) -> WorkersLostError:
        """What to raise when there are no workers."""
        return WorkersLostError(f"no worker came back within {self.patience:g} seconds")

    def again_when_lost(self, work: Callable[[], T]) -> T:
        """Do something, and again when workers took what was shared with them."""
        for _ in range(LOST_AT_MOST):
            try:
                return work()
            except KilledWorker as killed:
                raise WorkersLostError(f"a task ended several workers ({killed.task})") from killed
            except (CancelledError, CommClosedError, TimeoutError) as lost:
                try:
                    self.client.wait_for_workers(1, timeout=self.patience)
                except (TimeoutError, OSError, RuntimeError):
                    raise self.nobody() from lost
        raise WorkersLostError(f"workers were lost {LOST_AT_MOST} times in one epoch")
