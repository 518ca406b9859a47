"""Raw bytes for a running service; the memory and what other clients wait are the judges."""

import contextlib
import os
import random
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from ..conftest import ROUNDS
from .conftest import examples

HOST = b"Host: 127.0.0.1\r\n"
CHUNKED = b"POST /%s HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
LINES = b"".join(b"a%05d: %s\r\n" % (k, b"x" * 100) for k in range(9000))
BODY = b'{"size": 1.5}'
GOOD = [
    b"POST /predict HTTP/1.1\r\n%sContent-Length: 13\r\n\r\n%s" % (HOST, BODY),
    CHUNKED % b"predict" + b"d\r\n%s\r\n0\r\n\r\n" % BODY,
    CHUNKED % b"learn" + b"d;a=b\r\n%s\r\n0\r\nTrailer: x\r\n\r\n" % BODY,
    b"GET /model HTTP/1.1\r\n%s\r\n" % HOST,
    b"DELETE /examples/1 HTTP/1.0\r\n%s\r\n" % HOST,
    b"POST /learn HTTP/1.1\r\n%sExpect: 100-continue\r\nContent-Length: 13\r\n\r\n%s"
    % (HOST, BODY),
    b"PUT /model HTTP/1.1\r\n%sContent-Length: 99999999\r\n\r\n%s" % (HOST, BODY),
]
FLOODS = {  # what is sent first, and what is repeated up to 30 MB (6 MB of requests)
    "trailers": (CHUNKED % b"predict" + b"0\r\n", LINES),
    "trailers of a refused request": (CHUNKED % b"nowhere" + b"0\r\n", LINES),
    "one trailer": (CHUNKED % b"nowhere" + b"0\r\na: ", b"x" * 10**6),
    "headers": (b"GET / HTTP/1.1\r\n", LINES),
    "one header": (b"GET / HTTP/1.1\r\na: ", b"x" * 10**6),
    "a target": (b"GET /", b"x" * 10**6),
    "a chunk extension": (CHUNKED % b"predict" + b"1;", b"x" * 10**6),
    "empty chunk names": (CHUNKED % b"predict", b"1\r\nx\r\n" * 10**5),
    "requests": (b"", b"GET /healthz HTTP/1.1\r\n%s\r\n" % HOST * 10**4),
    "a refused body": (b"POST /no HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b"x" * 10**6),
    "a body": (b"POST /learn HTTP/1.1\r\n%sContent-Length: 16777216\r\n\r\n" % HOST, b" " * 10**6),
}


class Judge:
    """The memory of a service, and how long another client waits for it."""

    def __init__(self, service):
        self.service, self.waited, self.running = service, 0.0, True
        self.before = self.most = self.memory()
        self.thread = threading.Thread(target=self.run)

    def memory(self):
        """Megabytes that are resident."""
        pages = Path(f"/proc/{self.service.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def run(self):
        (row,) = examples(1)
        while self.running:
            begun = time.perf_counter()
            assert self.service.predict(row)[0] == 200
            self.waited = max(self.waited, time.perf_counter() - begun)
            self.most = max(self.most, self.memory())
            time.sleep(0.005)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *raised):
        self.running = False
        self.thread.join()


def send(service, first, piece=b"", most=0):
    """Send bytes until the service has had enough; return what it answered."""
    answer = b""
    with socket.create_connection((service.host, service.port), timeout=5) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(first)
            for _ in range(most // len(piece) if piece else 0):
                connection.sendall(piece)
        connection.settimeout(0.05)
        with contextlib.suppress(OSError):
            while more := connection.recv(1 << 16):
                answer += more
    return answer


@pytest.fixture
def judged(serve, model):
    if sys.platform != "linux":
        pytest.skip("memory is read from /proc")
    service = serve(model, "--learn")
    service.predict(examples(1)[0])
    return service


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_takes_no_memory_and_no_time_of_others(judged, name):
    first, piece = FLOODS[name]
    with Judge(judged) as judge:
        answer = send(judged, first, piece, 6_000_000 if name == "requests" else 30_000_000)
    assert b" 500 " not in answer
    allowed = 40 if name == "a body" else 15  # a body may have 16 MB
    assert judge.most - judge.before < allowed, (judge.before, judge.most)
    assert judge.waited < 1.0
    assert judged.stop()[0] == 0


@pytest.mark.slow
def test_odd_bytes_harm_no_one(judged):
    chance, statuses = random.Random(0), set()
    with Judge(judged) as judge:
        for _ in range(300 * ROUNDS):
            sent = bytearray(b"".join(chance.choices(GOOD, k=chance.choice([1, 1, 1, 2, 5]))))
            for _ in range(chance.choice([0, 1, 1, 3, 10])):
                place = chance.randrange(len(sent))
                action = chance.randrange(4)
                if action == 0:
                    sent[place] = chance.randrange(256)
                elif action == 1:
                    del sent[place : place + chance.randrange(1, 20)]
                elif action == 2:
                    sent[place:place] = chance.choice([b"\r\n", b"\0", b" ", b":", b"1", b"ffffff"])
                else:
                    some = chance.randrange(len(sent))
                    sent[place:place] = sent[some : some + 30]
                sent = sent or bytearray(b"x")
            answer = send(judged, bytes(sent))
            statuses |= {int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]}
    assert {200, 400} <= statuses
    assert max(statuses) < 500
    assert judge.most - judge.before < 15, (judge.before, judge.most)
    assert judge.waited < 1.0
    assert judged.ask("GET", "/healthz")[0] == 200
    assert judged.stop()[0] == 0
