"""Connections over a real socket: what strangers may send, and what it costs the others."""

import asyncio
import json

import pytest

from rosenblatt.service import connection
from rosenblatt.service.app import Service
from rosenblatt.service.connection import Server

from .conftest import current_of

HOST = b"Host: 127.0.0.1\r\n"
ROW = b'{"size": 1.5}'
PREDICT = b"POST /predict HTTP/1.1\r\n%sContent-Length: 13\r\n\r\n%s" % (HOST, ROW)
CHUNKED = b"POST /%s HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"


class Running:
    """An application behind connections of its own, in this loop."""

    def __init__(self, app, most=1024):
        self.refusals = []
        self.server = Server(app, most, lambda *refusal: self.refusals.append(refusal))
        self.stop = asyncio.Event()

    async def __aenter__(self):
        loop = asyncio.get_running_loop()
        listening = connection_socket()
        self.address = listening.getsockname()
        self.task = loop.create_task(self.server.serve(listening, self.stop, 5))
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *raised):
        self.stop.set()
        await self.task

    async def ask(self, *pieces, wait=20, eof=False):
        """Send bytes on a connection; return all that comes until it is closed."""
        reader, writer = await asyncio.open_connection(*self.address)
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
            if eof:
                writer.write_eof()
            return await asyncio.wait_for(reader.read(), wait)
        except ConnectionError:
            return b""
        finally:
            writer.close()


def connection_socket():
    from rosenblatt.service.server import bind_socket

    return bind_socket("127.0.0.1", 0)


def run(app, scenario, most=1024):
    """Run a scenario against an application."""

    async def main():
        async with Running(app, most) as running:
            return await scenario(running)

    return asyncio.run(main())


def statuses(answers):
    """The statuses of all answers in some bytes."""
    return [
        int(part[9:12]) for part in answers.split(b"HTTP/1.1")[1:] for part in [b"HTTP/1.1" + part]
    ]


def code_of(answer):
    return json.loads(answer.rpartition(b"\r\n\r\n")[2])["code"]


@pytest.fixture
def service(learning):
    return Service(current_of(learning), learning)


@pytest.fixture
def quick(monkeypatch):
    """Deadlines that a test can wait for."""
    for name in ("HEADER_SECONDS", "BODY_SECONDS", "IDLE_SECONDS"):
        monkeypatch.setattr(connection, name, 0.2)


def with_close(request):
    return request.replace(HOST, HOST + b"Connection: close\r\n", 1)


# Ordinary requests


@pytest.mark.parametrize(
    "sent",
    [
        with_close(PREDICT),
        with_close(CHUNKED % b"predict") + b"d\r\n%s\r\n0\r\n\r\n" % ROW,
        with_close(CHUNKED % b"predict") + b"d;name=value\r\n%s\r\n0\r\nTrailer: x\r\n\r\n" % ROW,
        PREDICT.replace(b"1.1", b"1.0", 1),
        PREDICT.replace(b"/predict", b"http://127.0.0.1/predict").replace(HOST, with_close(HOST)),
        PREDICT.replace(HOST, HOST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n"),
    ],
)
@pytest.mark.parametrize("in_pieces", [False, True])
def test_every_form_of_a_request_is_answered_once(service, sent, in_pieces):
    pieces = [sent[k : k + 1] for k in range(len(sent))] if in_pieces else [sent]
    answer = run(service, lambda running: running.ask(*pieces))
    assert statuses(answer) == [200]
    assert b"connection: close" in answer


def test_a_model_file_is_sent_in_pieces(service, learning, monkeypatch):
    monkeypatch.setattr("rosenblatt.service.app.PIECE", 100)
    sent = with_close(b"GET /model.safetensors HTTP/1.1\r\n%s\r\n" % HOST)
    answer = run(service, lambda running: running.ask(sent))
    assert answer.endswith(b"\r\n\r\n" + learning.path.read_bytes())


def test_requests_sent_at_once_are_answered_in_turn(service):
    sent = PREDICT * 999 + with_close(PREDICT)
    answer = run(service, lambda running: running.ask(sent))
    assert statuses(answer) == [200] * 1000
    assert answer.count(b"connection: close") == 1


def test_a_client_that_ends_its_side_gets_its_answer(service):
    assert statuses(run(service, lambda running: running.ask(PREDICT, eof=True))) == [200]


@pytest.mark.parametrize(
    ("sent", "status", "writes"),
    [
        (PREDICT, 200, 1),
        (b"POST /predict HTTP/1.1\r\nContent-Length: 1\r\n%s\r\n{" % HOST, 400, 1),
        (b"HEAD /healthz HTTP/1.1\r\n%s\r\n" % HOST, 200, 1),
        (b"GET /model.safetensors HTTP/1.1\r\n%s\r\n" % HOST, 200, 1),
    ],
)
def test_an_answer_is_written_at_once(service, monkeypatch, sent, status, writes):
    """A kill between headers and body would leave the client with half of an acknowledgement."""
    write, made = asyncio.StreamWriter.write, []
    monkeypatch.setattr(
        asyncio.StreamWriter, "write", lambda self, data: (made.append(data), write(self, data))
    )
    sent = with_close(sent)
    answer = run(service, lambda running: running.ask(sent))
    written = [piece for piece in made if piece not in (b"", sent)]
    assert (len(written), b"".join(written)) == (writes, answer)
    assert written[-1].startswith(b"HTTP/1.1 %d " % status)
    assert written[-1].endswith(b"\r\n\r\n") == sent.startswith(b"HEAD")


def test_a_body_is_sent_once_it_is_asked_for(service):
    async def scenario(running):
        reader, writer = await asyncio.open_connection(*running.address)
        head, _, body = with_close(PREDICT).partition(b"\r\n\r\n")
        writer.write(head + b"\r\nExpect: 100-continue\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == connection.CONTINUE
        writer.write(body)
        answer = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        return answer

    assert statuses(run(service, scenario)) == [200]


# Limits


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", 431, "long-headers"),
        (b"GET /" + b"x" * 70_000, 431, "long-headers"),
        (CHUNKED % b"predict" + b"0\r\n" + b"a: b\r\n" * 12_000, 431, "long-headers"),
        (CHUNKED % b"predict" + b"1;" + b"x" * 70_000, 431, "long-headers"),
        (CHUNKED % b"predict" + b"1\r\nx\r\n" * 40_000, 431, "long-headers"),
        (b"nonsense\r\n\r\n", 400, "not-http"),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "not-http"),
        (CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Length: 3\r\n\r\n") % b"p", 400, "not-http"),
        (b"GET / HTTP/1.1\r\nA : b\r\n\r\n", 400, "not-http"),
    ],
)
def test_what_is_too_long_or_not_http_is_refused(service, sent, status, code):
    async def scenario(running):
        answer = await running.ask(sent)
        return answer, running.refusals

    answer, refusals = run(service, scenario)
    assert (statuses(answer), code_of(answer)) == ([status], code)
    assert refusals == [("127.0.0.1", status, code)]


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"", "slow-headers"),
        (b"POST /predict HTTP/1.1\r\nHost: x", "slow-headers"),
        (PREDICT[:-5], "slow-body"),
        (CHUNKED % b"predict" + b"0\r\nA: b", "slow-body"),
    ],
)
def test_a_request_that_does_not_end_is_closed(service, sent, code, quick):
    answer = run(service, lambda running: running.ask(sent))
    assert (statuses(answer), code_of(answer)) == ([408], code)


def test_an_idle_connection_is_closed_in_silence(service, quick):
    assert statuses(run(service, lambda running: running.ask(PREDICT))) == [200]


def test_a_client_that_does_not_read_is_closed(service, quick):
    async def app(scope, receive, send):
        head = {"type": "http.response.start", "status": 200, "headers": []}
        await send(head)
        while True:
            await send({"type": "http.response.body", "body": b"x" * 10**6, "more_body": True})

    async def scenario(running):
        _, writer = await asyncio.open_connection(*running.address)
        writer.write(PREDICT)
        for _ in range(100):
            await asyncio.sleep(0.1)
            if not running.server.connections:
                break
        writer.close()
        return not running.server.connections

    assert run(app, scenario)


def test_another_connection_closes_the_one_that_waits_longest(service):
    async def scenario(running):
        held = [await asyncio.open_connection(*running.address) for _ in range(4)]
        for _, writer in held:
            writer.write(b"POST /predict HTTP/1.1\r\nHost: x")
        await asyncio.sleep(0.05)
        answers = [await running.ask(with_close(PREDICT)) for _ in range(3)]
        assert await asyncio.wait_for(held[0][0].read(), 5) == b""
        for _, writer in held:
            writer.close()
        return answers, len(running.server.connections)

    answers, count = run(service, scenario, 4)
    assert [statuses(answer) for answer in answers] == [[200]] * 3
    assert count <= 4


def test_a_connection_is_refused_if_all_others_are_answered(service):
    release = asyncio.Event()

    async def app(scope, receive, send):
        await release.wait()
        await service(scope, receive, send)

    async def scenario(running):
        asked = [asyncio.ensure_future(running.ask(with_close(PREDICT))) for _ in range(3)]
        await asyncio.sleep(0.1)
        refused = await running.ask(with_close(PREDICT))
        release.set()
        return refused, [await one for one in asked]

    refused, answers = run(app, scenario, 3)
    assert (statuses(refused), code_of(refused)) == ([503], "too-many-connections")
    assert [statuses(answer) for answer in answers] == [[200]] * 3


def test_an_orderly_end_answers_what_is_open(service):
    async def app(scope, receive, send):
        await asyncio.sleep(0.2)
        await service(scope, receive, send)

    async def scenario(running):
        asked = asyncio.ensure_future(running.ask(PREDICT))
        await asyncio.sleep(0.1)
        running.stop.set()
        return await asked

    assert statuses(run(app, scenario)) == [200]
