"""Progress bars at a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def new_bar(on_stderr: bool = False) -> Any:
    """Make a bar with the time left; on standard error it goes when it is done."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    columns = *Progress.get_default_columns(), TextColumn("{task.fields[speed]}")
    return Progress(*columns, transient=on_stderr, console=Console(stderr=on_stderr))


@contextmanager
def show_epochs(wanted: Any) -> Iterator[Callable[[int, float, str], None] | None]:
    """Yield a function that moves a bar: its arguments are the epoch, the share done, and words.

    Without ``wanted`` there is no bar, and no function.
    """
    if not wanted:
        yield None
        return
    with new_bar() as bar:
        line = bar.add_task("", total=1.0, speed="")

        def move(epoch: int, share: float, words: str) -> None:
            bar.update(line, description=f"epoch {epoch}", completed=share, speed=words)

        yield move
