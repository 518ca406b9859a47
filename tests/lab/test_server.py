"""The command and its server."""

import subprocess
import sys

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
