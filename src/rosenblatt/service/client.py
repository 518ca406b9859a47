"""A client of the service, with time-outs, retries and idempotency keys."""

import json
import uuid
from typing import Any

try:
    import urllib3
except ImportError as missing:
    raise ImportError("The client needs urllib3: pip install 'rosenblatt[serve]'.") from missing

RETRIED = {408, 429, 502, 503, 504}  # the service, or a proxy before it, may answer later
LONGEST_PAUSE = 30.0  # seconds between two attempts


class ServiceError(RuntimeError):
    """A request that a service refused.

    Parameters
    ----------
    sentence : str
        Why.
    status : int
        The HTTP status of the response.
    code : str, default=""
        A short stable name of the reason, such as ``"bad-example"``.

    Attributes
    ----------
    status : int
        The HTTP status of the response.
    code : str
        A short stable name of the reason.

    See Also
    --------
    Client : Raises this error.

    Examples
    --------
    >>> from rosenblatt import ServiceError
    >>> ServiceError("row 1, column 'size': 'tall' is not a number", 400, "bad-example").code
    'bad-example'
    """

    def __init__(self, sentence: str, status: int, code: str = "") -> None:
        super().__init__(sentence)
        self.status, self.code = status, code


class Client:
    """A client of ``rosenblatt serve``.

    Requests that fail because of the connection, or because the service is busy or restarts, are
    sent again. Each request to learn has a key, by which the service recognises a retry: its
    examples are learnt once, even if the service was killed before it could answer. Threads may
    share a client. It is a context manager, which closes its connections.

    Parameters
    ----------
    address : str, default="http://127.0.0.1:8080"
        Where the service listens.
    token : str or None, default=None
        The bearer token, if the service requires one.
    timeout : float, default=10.0
        Seconds that one attempt may wait for the service.
    retries : int, default=5
        How often a request is sent again.
    backoff : float, default=0.2
        Seconds before the first retry; each later pause is twice as long, up to 30 seconds.

    See Also
    --------
    train : Train a model to serve.
    ServiceError : The error of a refused request.

    Examples
    --------
    >>> from rosenblatt import Client
    >>> client = Client("http://127.0.0.1:8080", timeout=2)
    >>> client.learn({"size": 3, "kind": "big"})  # doctest: +SKIP
    1
    >>> client.predict([{"size": 4}, {"size": 1}])  # doctest: +SKIP
    ['big', 'small']
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:8080",
        token: str | None = None,
        timeout: float = 10.0,
        retries: int = 5,
        backoff: float = 0.2,
    ) -> None:
        parts = urllib3.util.parse_url(address)
        if parts.scheme not in ("http", "https") or not parts.host:
            raise ValueError(f"Expected an address such as http://127.0.0.1:8080, got {address!r}.")
        self.address = address.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        again = urllib3.Retry(
            retries,
            allowed_methods=None,
            status_forcelist=RETRIED,
            backoff_factor=backoff,
            backoff_max=LONGEST_PAUSE,
            backoff_jitter=backoff,
            raise_on_status=False,
        )
        self._pool = urllib3.PoolManager(timeout=timeout, retries=again, maxsize=64)

    def predict(self, rows: Any) -> list[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        rows : dict, list of dicts or data frame
            Rows with columns by name. A model of svmlight or
            Vowpal Wabbit text takes lines.

        Returns
        -------
        list
            A label for each row.
        """
        return list(self.request("POST", "/predict", to_records(rows))["labels"])

    def learn(self, rows: Any, key: str | None = None) -> int:
        """Learn examples; return when they are on the disk of the service.

        Parameters
        ----------
        rows : dict, list of dicts or data frame
            Rows with their labels.
        key : str or None, default=None
            The name of this request: the service learns only the first request with a name. A
            random name by default.

        Returns
        -------
        int
            The sequence number of the last example.
        """
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return int(self.request("POST", "/learn", to_records(rows), headers)["sequence"])

    def model(self) -> dict[str, Any]:
        """Describe the model, its errors, and what it has learnt.

        Returns
        -------
        dict
            As ``GET /model`` answers.
        """
        return self.request("GET", "/model")

    def forget(self, example: int) -> dict[str, Any]:
        """Forget an example: the model becomes one that never saw it.

        Parameters
        ----------
        example : int
            The sequence number of the example.

        Returns
        -------
        dict
            As ``DELETE /examples/ID`` answers.
        """
        return self.request("DELETE", f"/examples/{int(example)}")

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Send a request, again if need be, and return the answer.

        Parameters
        ----------
        method : str
            The HTTP method.
        path : str
            The path, such as ``"/model"``.
        body : object, default=None
            What is sent as JSON.
        headers : dict or None, default=None
            Further headers.

        Returns
        -------
        dict
            The JSON of the response.
        """
        content = None if body is None else json.dumps(body, default=to_plain).encode()
        sent = self._headers | {"Content-Type": "application/json"} | (headers or {})
        try:
            found = self._pool.request(method, self.address + path, body=content, headers=sent)
        except urllib3.exceptions.HTTPError as error:
            raise ConnectionError(f"{self.address} did not answer: {error}.") from error
        try:
            answer = dict(json.loads(found.data))
        except ValueError:  # of a proxy
            answer = {"error": found.data[:200].decode("utf-8", "replace")}
        if found.status >= 400:
            sentence = str(answer.get("error", f"The answer has the status {found.status}."))
            raise ServiceError(sentence, found.status, str(answer.get("code", "")))
        return answer

    def close(self) -> None:
        """Close the connections that are open; the client can still be used."""
        self._pool.clear()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def to_records(rows: Any) -> Any:
    """Rows as JSON can hold them; those of a data frame become objects."""
    if hasattr(rows, "to_dicts"):  # Polars
        rows = rows.to_dicts()
    elif hasattr(rows, "to_dict"):  # pandas
        rows = rows.to_dict(orient="records")
    if isinstance(rows, dict | str):
        rows = [rows]
    return [drop_missing(row) if isinstance(row, dict) else row for row in rows]


def drop_missing(row: dict[str, Any]) -> dict[str, Any]:
    """A row without its missing values, which JSON cannot hold."""
    return {str(name): value for name, value in row.items() if not is_missing(value)}


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA of pandas is neither equal nor unequal
        return True


def to_plain(value: Any) -> Any:
    """A number of NumPy, or a date, as JSON can hold it."""
    return value.item() if hasattr(value, "item") else str(value)
