"""Work that takes a while: in a thread of its own, telling how far it is, ended when asked."""

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

Tell = Callable[[str, float], None]
"""Told what is being done, and which share of it is."""


class EndedError(Exception):
    """The work is no longer wanted."""


class Work:
    """One computation: what it does, how far it is, and whether it is still wanted."""

    under_way: ClassVar[set["Work"]] = set()
    """All those whose threads still run."""

    def __init__(self) -> None:
        self.words, self.share, self.wanted = "", 0.0, True

    def tell(self, words: str, share: float) -> None:
        """Where the work stands; the thread ends here if it is no longer wanted."""
        if not self.wanted:
            raise EndedError
        self.words, self.share = words, min(share, 1.0)

    async def done(self, function: Callable[..., Any], *args: Any, told: Callable[[], None]) -> Any:
        """What a function gives, told meanwhile; who ends the work does not wait for its thread."""
        thread = asyncio.ensure_future(asyncio.to_thread(self._do, function, *args))
        thread.add_done_callback(lambda ended: ended.exception())  # nobody may be there to ask
        while self.wanted:
            done, _ = await asyncio.wait([thread], timeout=0.1)
            if done:
                return thread.result()
            told()
        raise EndedError

    def _do(self, function: Callable[..., Any], *args: Any) -> Any:
        self.under_way.add(self)
        try:
            return function(*args)
        finally:
            self.under_way.discard(self)


def nobody(words: str, share: float) -> None:
    """Tell nobody."""
