"""Messages to the operator on standard error: sentences, or JSON objects with request ids."""

import sys
from datetime import UTC, datetime
from typing import Any

import orjson

from .http import Request


class Messages:
    """Writes messages, one per line.

    Parameters
    ----------
    as_json
        Whether a message is a JSON object with its time, or a sentence.
    """

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json

    def __call__(self, sentence: str) -> None:
        """Write a message."""
        if self.as_json:
            self.write({"level": "info", "message": sentence})
        else:
            print(f"rosenblatt: {sentence}", file=sys.stderr, flush=True)

    def log_request(self, request: Request, status: int, seconds: float) -> None:
        """Write a message about an answered request."""
        self.write(
            {
                "level": "error" if status >= 500 else "info",
                "message": "request",
                "request_id": request.identity,
                "client": request.client,
                "method": request.method,
                "path": request.path,
                "status": status,
                "rows": request.rows,
                "seconds": round(seconds, 6),
            }
        )

    def write(self, entry: dict[str, Any]) -> None:
        """Write an object with its time as one line."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = orjson.dumps({"time": now} | entry, option=orjson.OPT_APPEND_NEWLINE).decode()
        sys.stderr.write(line)
        sys.stderr.flush()
