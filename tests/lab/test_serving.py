"""The page on a server, as one file, in a notebook; the engine built again."""

import html
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest

import rosenblatt
from rosenblatt.kernels.lines import MISSING
from rosenblatt.lab import Lab
from rosenblatt.lab.bundle import WEB, build_page, bundle
from rosenblatt.lab.serving import make_server, read_state, set_names

ROOT = Path(__file__).parents[2]
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")


@pytest.fixture
def serve():
    """Start servers, and stop them at the end."""
    servers = []

    def start(data="blobs", port=None):
        server, address = make_server(data, port)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return address

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def fetch(url, **headers):
    """What a server answers, and the kind that it names."""
    with urlopen(Request(url, headers=headers)) as answer:
        return answer.read(), answer.headers["Content-Type"]


def fetch_refusal(url, **headers):
    """The status of a refusal."""
    with pytest.raises(HTTPError) as refused:
        fetch(url, **headers)
    refused.value.close()
    return refused.value.code


def test_the_folder_is_small_and_asks_nobody():
    sizes = [path.stat().st_size for path in WEB.iterdir()]
    assert sum(sizes) < 330_000
    assert len(build_page().encode()) < 330_000
    for path in WEB.glob("*.[hcj]*"):
        links = re.findall(r"https?://[^\s\"'`<)]+", path.read_text("utf-8"))
        assert set(links) <= {"http://www.w3.org/2000/svg"}, path.name  # a name, not an address


def test_the_server_gives_the_page_and_the_table_to_this_computer_only(serve, tmp_path):
    path = tmp_path / "some rows.csv"
    path.write_text("a,b,label\n1,2,x\n3,4,y\n")
    address = serve(str(path))
    base, state = address.split("#")
    assert base.startswith("http://127.0.0.1:")
    assert state == "table=some%20rows.csv"
    assert b"Rosenblatt lab" in fetch(base)[0]
    assert fetch(f"{base}engine.wasm")[1] == "application/wasm"
    assert fetch(f"{base}some%20rows.csv")[0] == path.read_bytes()
    for other in ("../serving.py", "..%2fserving.py", "nothing.js"):
        assert fetch_refusal(base + other) == 404
    assert fetch_refusal(f"{base}some%20rows.csv", Host="example.org") == 403


def test_a_set_is_named_in_the_address(serve):
    assert serve("iris").endswith("/#data=iris")
    assert {"iris", "xor", "origin", "boundary"} <= set(set_names())


def test_files_of_other_formats_become_tables(serve, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:0.5 2:2\n-1 1:-1.5\n")
    base = serve(str(path)).split("#")[0]
    lines = fetch(f"{base}rows.csv")[0].decode().split()
    assert lines[-2:] == ["0.5,2.0,1", "-1.5,0.0,-1"]


def test_a_page_of_a_long_file_has_a_thousand_of_its_rows(tmp_path, capsys):
    path = tmp_path / "long.csv"
    path.write_text("x,y,label\n" + "".join(f"{k},2,{k % 2}\n" for k in range(1200)))
    state = read_state(str(path))
    points = state.partition("points=")[2].partition("&")[0].split(";")
    assert (len(points), points[0], points[-1]) == (1000, "0,2,-", "1198,2,-")
    assert "1,000 of the 1,200 rows" in capsys.readouterr().out


def test_a_page_of_a_file_with_decimal_commas_and_gaps(tmp_path):
    path = tmp_path / "german.csv"
    path.write_text("x;y;label\n1,5;1.200,5;a\nNA;2;b\n-0,5;2;b\n")
    assert (
        read_state(str(path)).partition("points=")[2].partition("&")[0] == "1.5,1200.5,-;-0.5,2,+"
    )


def test_gaps_are_those_of_train():
    source = (WEB / "csv.js").read_text("utf-8")
    (listed,) = re.findall(r"GAPS = (\[.*\]);", source)
    assert json.loads(listed) == MISSING


def test_a_page_of_a_file_without_two_columns_of_plain_numbers_is_refused(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("x,y,cost,label\n1,b,$3,a\n2,c,$4,b\n")
    with pytest.raises(ValueError, match=r"beside the label, plain numbers in every row \(84.41"):
        read_state(str(path))


def test_what_cannot_be_served_is_refused(tmp_path, serve):
    with pytest.raises(ValueError, match="no file and no set 'nonsense'"):
        make_server("nonsense")
    path = tmp_path / "large.csv"
    path.write_bytes(b"1,2,3\n" * 400_000)
    with pytest.raises(ValueError, match=r"2\.4 MB"):
        make_server(str(path))
    port = int(serve().split(":")[2].split("/")[0])
    with pytest.raises(ValueError, match="is taken"):
        make_server("blobs", port)


def test_the_command_writes_one_file(tmp_path):
    path = tmp_path / "lab.html"
    command = [sys.executable, "-m", "rosenblatt", "lab", "xor", "--save", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    page = path.read_text("utf-8")
    assert 'name="lab-state" content="data=xor"' in page
    assert "src=" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_points_are_shown_in_a_notebook():
    made = rosenblatt.lab([[2, 1], [-1, 0.1], [0, 3]], ["b", "a", "b"], order="fixed")
    assert isinstance(made, Lab)
    points = "2,1,+;-1,0.10000000000000001,-;0,3,+"
    assert made.address == f"data=points&points={points}&classes=b;a&order=fixed"
    frame = made._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert html.escape(html.escape(made.address)) in frame


def test_points_in_a_notebook_are_checked():
    with pytest.raises(ValueError, match=r"X has shape \(2, 3\)"):
        rosenblatt.lab(np.ones((2, 3)), [0, 1])
    with pytest.raises(ValueError, match="two or three classes; y has 1"):
        rosenblatt.lab(np.ones((2, 2)), [0, 0])
    with pytest.raises(ValueError, match="up to 1,000 points"):
        rosenblatt.lab(np.ones((1001, 2)), np.arange(1001) % 2)
    with pytest.raises(ValueError, match="Row 1 of X has NaN"):
        rosenblatt.lab([[1, 2], [np.nan, 1]], [0, 1])


def test_a_saved_lab_is_the_page_with_these_points(tmp_path):
    path = tmp_path / "page.html"
    rosenblatt.lab([[2, 1], [-1, 1]], [1, 0]).save(path)
    assert "points=2,1,+;-1,1,-" in path.read_text("utf-8")


@NODE
def test_the_page_and_python_bundle_alike(tmp_path):
    script = tmp_path / "bundle.mjs"
    script.write_text(
        "import { readFileSync, readdirSync } from 'node:fs';"
        f"const {{ bundle }} = await import({(WEB / 'save.js').as_uri()!r});"
        f"const folder = {str(WEB)!r}, sources = {{}};"
        "for (const name of readdirSync(folder)) if (name.endsWith('.js'))"
        " sources[name.slice(0, -3)] = readFileSync(`${folder}/${name}`, 'utf-8');"
        "process.stdout.write(bundle(sources, 'main'))"
    )
    done = subprocess.run(["node", str(script)], check=True, capture_output=True)
    assert done.stdout.decode() == bundle("main")


def test_the_engine_is_that_of_the_kernels(tmp_path):
    """Built again from the kernels, it is the same file."""
    if shutil.which("wasm-ld") is None:
        pytest.skip("needs wasm-ld (Debian: lld)")
    for line in (ROOT / "wasm" / "versions.txt").read_text().split():
        name, version = line.split("==")
        if importlib.metadata.version(name) != version:
            pytest.skip(f"the engine was built with {name} {version}")
    path = tmp_path / "engine.wasm"
    build = [sys.executable, str(ROOT / "wasm" / "build.py"), str(path)]
    subprocess.run(build, check=True, capture_output=True)
    assert path.read_bytes() == (WEB / "engine.wasm").read_bytes(), "run make wasm"
