"""Endpoints of the operator: forget examples, roll back, load or promote a model."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from . import changes
from .changes import Changed, ChangeError
from .http import Endpoints, Request, RequestError, Response, Route, to_json
from .learning import Learning
from .log import LARGEST_MODEL
from .requests import parse_json


class AdminEndpoints(Endpoints):
    """Changes of the model by requests of the operator."""

    def routes(self) -> Iterable[Route]:
        """All endpoints; each needs a token for admin."""
        return (
            Route("DELETE", "/examples/{numbers}", "admin", self.forget, "Forget examples."),
            Route("PUT", "/model", "admin", self.load, "Load another model.", LARGEST_MODEL),
            Route("POST", "/model/rollback", "admin", self.roll_back, "Return to a past model."),
            Route("POST", "/model/promote", "admin", self.promote, "Replace by the shadow."),
        )

    async def forget(self, request: Request) -> Response:
        """Replace the model by the one that never saw some examples, and erase these."""
        try:
            numbers = changes.parse_numbers(request.parameters["numbers"])
        except ValueError as error:
            raise RequestError(400, "bad-numbers", str(error)) from None
        return await self.change(changes.forget, numbers)

    async def load(self, request: Request) -> Response:
        """Replace the model by the one in the body, a model file."""
        return await self.change(changes.load, request.body)

    async def roll_back(self, request: Request) -> Response:
        """Return to the model after an example."""
        body = parse_json(request.body)
        number = body.get("to") if isinstance(body, dict) else None
        if type(number) is not int:
            raise RequestError(400, "bad-body", 'Send {"to": N}, the number of an example.')
        return await self.change(changes.roll_back, number)

    async def promote(self, request: Request) -> Response:
        """Replace the model by its shadow."""
        return await self.change(changes.promote)

    async def change(self, function: Callable[..., Changed], *given: Any) -> Response:
        """Change the model in a thread; predictions and learning continue meanwhile."""
        learning = self.service.check_learning()
        try:
            changed = await asyncio.to_thread(function, learning, *given)
        except ChangeError as error:
            raise RequestError(error.status, error.code, str(error)) from None
        except OSError as error:
            sentence = f"{error} The change may be incomplete; send the request again."
            raise RequestError(503, "cannot-write", sentence) from None
        except ValueError as error:
            raise RequestError(422, "bad-model", str(error)) from None
        return to_json(changed._asdict())


def load_beside(learning: Learning) -> None:
    """Load the model in MODEL.new beside the model file, if there is one, and remove that file."""
    new = learning.path.with_name(learning.path.name + ".new")
    if not new.exists():
        return
    try:
        changed = changes.load(learning, new.read_bytes(), str(new))
        new.unlink()
    except (OSError, ValueError) as error:
        learning.say(f"{error} The model is unchanged.")
    else:
        learning.say(f"{new} was loaded as number {changed.sequence:,} of the log.")
