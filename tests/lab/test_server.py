"""The command and its server."""

import signal
import subprocess
import sys
import time

import pytest

from rosenblatt.lab import server, state


def test_without_bokeh_the_command_says_what_to_install():
    script = "import sys; sys.modules['bokeh'] = None; from rosenblatt.cli.app import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", script, "lab"], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 2
    assert ran.stderr == "rosenblatt: The lab needs bokeh: pip install 'rosenblatt[lab]'.\n"


def test_a_free_port_is_taken_when_the_usual_one_is_not_free():
    first = server.server_of(state.State(), server.free_port(0))
    try:
        assert server.free_port(first.port) != first.port
        with pytest.raises(ValueError, match=f"Port {first.port} is taken"):
            server.serve(state.State(), first.port, browser=False)
    finally:
        first.unlisten()
        first.stop()


def test_the_page_brings_its_own_scripts(address):
    from urllib.request import urlopen

    with urlopen(address) as answer:
        page = answer.read().decode()
    assert "static/js/bokeh.min.js" in page
    assert "cdn.bokeh.org" not in page
    assert 'name="b.intercept_step"' in page


def test_others_are_let_in_with_a_token_only(tmp_path):
    """The page, and the socket behind it, are for those who have been asked for the token."""
    from http.cookiejar import CookieJar
    from urllib.error import HTTPError
    from urllib.parse import urlencode
    from urllib.request import HTTPCookieProcessor, build_opener

    path, token = tmp_path / "token", "sesame-open-the-door"
    path.write_text(token)
    port = server.free_port(0)
    command = "-u", "-m", "rosenblatt", "lab", "--no-browser", "--host", "0.0.0.0"
    process = subprocess.Popen(
        [sys.executable, *command, "--port", str(port), "--token-file", str(path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = next(line for line in process.stdout if "compiles" not in line)
        assert "visitors are asked for the token" in line
        address, jar = f"http://127.0.0.1:{port}/", CookieJar()
        visitor = build_opener(HTTPCookieProcessor(jar))

        def asked(path, **given):
            sent = urlencode(given).encode() if given else None
            with visitor.open(address + path, sent, timeout=30) as answer:
                return answer.read().decode()

        assert "The token of this lab" in asked("")
        with pytest.raises(HTTPError) as refused:
            asked("token", token="sesame")
        with refused.value:
            assert refused.value.code == 401
        assert not list(jar)
        assert "bokeh.min.js" in asked("token", token=token)
        assert "bokeh.min.js" in asked("")
        assert [cookie.has_nonstandard_attr("HttpOnly") for cookie in jar] == [True]
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_others_need_a_token():
    with pytest.raises(ValueError, match=r"Others can reach 0\.0\.0\.0; a token is needed"):
        server.serve(state.State(), browser=False, host="0.0.0.0")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_wakes_a_server_that_sleeps(number):
    """It does not wait for the clock that would end the process whatever it does."""
    script = (
        "import os, sys; from rosenblatt.lab import server, state; server.SOON = 60;"
        "server.serve(state.State(), server.free_port(0), browser=False)"
    )
    process = subprocess.Popen([sys.executable, "-u", "-c", script], stdout=subprocess.PIPE)
    try:
        next(process.stdout)
        time.sleep(0.5)  # until it waits for visitors
        process.send_signal(number)
        assert "closed" in process.communicate(timeout=30)[0].decode()
    finally:
        process.kill()
    assert process.returncode == 0
