"""Whatever the pages and the examples show, runs; whatever they point to, exists."""

import csv
import doctest
import importlib
import inspect
import re
import runpy
import sys
import textwrap
from pathlib import Path

import pytest

from rosenblatt.kernels import compiling, perceptron

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
LEARN, _ = compiling.KERNELS["kernels.loop.learn"]
SOURCES = [inspect.getsource(LEARN).partition("\n")[2], inspect.getsource(perceptron.add_row)]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
EXTRAS = {  # what a page needs beyond the package
    "docs/operations.md": ["onnx", "onnxruntime"],
    "examples/gallery/plot_27_languages.py": ["sphinx.locale"],
}
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
CLUSTER = pytest.mark.cluster
GALLERY = [
    pytest.param(path, id=path.stem, marks=CLUSTER if "mixing" in path.stem else ())
    for path in sorted(ROOT.glob("examples/*/plot_*.py"))
]

FENCED = re.compile(r"^([ \t]*)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\w+\.py)\n")  # a block that begins with the name of a file
DENSE_EPOCH = "one shuffled epoch, same rows"
WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
LINK = re.compile(r"""\]\(<?([^)>\s]+)|(?:src|href)="([^"]+)""")


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def import_extras(page):
    """Skip the test of a page that needs packages which are not there."""
    for extra in EXTRAS.get(name_of(page), []):
        pytest.importorskip(extra, reason=f"{name_of(page)} shows what {extra} does")


def python_blocks(page):
    """The line number and the text of each Python block."""
    text = page.read_text("utf-8")
    for block in FENCED.finditer(text):
        if block[2] in ("py", "python", "pycon"):
            yield text.count("\n", 0, block.start(3)), textwrap.dedent(block[3])


def run_session(session, namespace, page, line):
    """Run a block of >>> lines and compare what they print; return the names it leaves."""
    test = doctest.DocTestParser().get_doctest(session, namespace, name_of(page), str(page), line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report = []
    runner.run(test, out=report.append, clear_globs=False)
    assert not runner.failures, "".join(report)
    return test.globs


@pytest.mark.usefixtures("own_rules")
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_snippets_run(page, tmp_path, monkeypatch):
    import_extras(page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    namespace = {"__name__": "__main__"}
    for line, block in python_blocks(page):
        if block in SOURCES:
            continue
        if file := FILE.match(block):
            Path(file[1]).write_text(block, "utf-8")
        elif ">>>" in block:
            namespace = run_session(block, namespace, page, line)
        else:
            exec(compile("\n" * line + block, page, "exec"), namespace)


@pytest.fixture
def pyplot(monkeypatch):
    """A pyplot that opens no window and keeps no figure."""
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    yield pyplot
    pyplot.close("all")


@pytest.mark.usefixtures("own_rules")
@pytest.mark.parametrize("example", GALLERY)
def test_the_gallery_and_the_course_run(example, pyplot, tmp_path, monkeypatch, capsys):
    """Each page of it prints something and draws something, and warns of nothing."""
    import_extras(example)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert pyplot.get_fignums()
    assert capsys.readouterr().out
    title, line = example.read_text("utf-8").splitlines()[1:3]
    assert line == "=" * len(title)


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
@pytest.mark.usefixtures("pyplot")
def test_examples_run(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_pages_show_the_loop_as_it_is():
    shown = [block for _, block in python_blocks(README)]
    assert [source for source in SOURCES if source not in shown] == []
    other = [block for _, block in python_blocks(ROOT / "docs" / "reading-the-code.md")]
    assert SOURCES[0] in other


def read_results(table):
    """The rows of the first table that a benchmark wrote, by their first two cells."""
    path = ROOT / "benchmarks" / "results" / f"{table}.csv"
    first = path.read_text("utf-8").partition("\n\n")[0]
    return {tuple(row.values())[:2]: row for row in csv.DictReader(first.splitlines())}


def test_figures_of_the_readme_are_those_of_the_benchmarks():
    text = " ".join(README.read_text("utf-8").split())
    texts, tables = read_results("text"), read_results("raw")
    ours, words, hashed = (row for (of, _), row in texts.items() if of == "IMDB")
    error = "test error in %"
    wrong = round(25_000 * float(ours[error]) / 100)
    default, peer = tables["mean", "default"], tables["mean", "logistic CV"]
    names = {of for of, _ in tables} - {"mean"}
    sets, of_tables = len(names), "error in %"

    def count_better(method):
        pairs = [(tables[name, method], tables[name, "default"]) for name in names]
        return sum(float(one[of_tables]) < float(own[of_tables]) for one, own in pairs)

    def round_ratio(row):
        return round(float(row["ratio"].rstrip("x")))

    proofs = {key: round_ratio(row) for key, row in read_results("separability").items()}
    shuffled = [row for (what, _), row in read_results("epochs").items() if what == DENSE_EPOCH]
    (files,) = (row for (what, _), row in read_results("files").items() if "1.00 GB of svm" in what)
    few = sorted(proofs["20,000", verdict] for verdict in ("Separable", "Inseparable"))
    many = proofs["1,000,000", "Inseparable"], proofs["1,000,000", "Separable"]
    for said in (
        f"which is better on {WORDS[count_better('logistic CV')]} of them",
        f"LightGBM is better on {WORDS[count_better('LightGBM')]}",
        f"{many[0]}× (no) to {many[1]}× (yes) faster",
        f"{few[0]} to {few[1]}× on 20,000",
        f"100 numbers is {round_ratio(shuffled[0])}× faster",
        f"a 1 GB file of svmlight is {files['ratio'].rstrip('x')}× faster",
        f"Test error {ours[error]}%: {wrong:,} of 25,000 rows",
        f"takes {ours['CPU s']} CPU seconds",
        f"has {words[error]} % error in {words['CPU s']}",
        f"`SGDClassifier` {hashed[error]} % in {hashed['CPU s']}",
        f"over {sets} sets is {float(default[of_tables]):.1f} %",
        f"of logistic regression with a tuned C {float(peer[of_tables]):.1f} %",
    ):
        assert said in text


def test_links_lead_somewhere():
    offenders = []
    for page in PAGES:
        prose = FENCED.sub("", page.read_text("utf-8"))
        targets = [(markdown or html).split("#")[0] for markdown, html in LINK.findall(prose)]
        for target in targets:
            elsewhere = re.match(r"\w+:|lab/index.html", target)  # another host, or the site's
            if not elsewhere and not (page.parent / target).exists():
                offenders.append((name_of(page), target))
    assert offenders == []


def read_textbook(columns):
    """The rows of the tables of docs/textbook.md that have so many columns."""
    text = (ROOT / "docs/textbook.md").read_text("utf-8").partition("## Every line")[2]
    lines = [line for line in text.splitlines() if line.startswith("|") and "---" not in line]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    return [[cell.strip() for cell in row] for row in rows if len(row) == columns]


def test_every_line_of_the_documents_has_a_test():
    """What is named exists: the test (below), the stop of the tour, and the lesson (links)."""
    rows = [row for row in read_textbook(6) if row[0]]
    assert [int(row[0]) for row in rows] == list(range(1, 66))
    assert [row[0] for row in rows if not re.fullmatch(r"`test_\w+`", row[5])] == []
    tour = (ROOT / "src/rosenblatt/lab/web/tour.js").read_text("utf-8")
    stops = {name for row in rows for name in re.findall(r"#tour=([^\"]+)", row[3])}
    assert len(stops) > 15
    assert [name for name in stops if f'name: "{name}"' not in tour] == []


def test_every_remark_on_the_documents_has_a_test():
    _, *rows = read_textbook(4)
    assert len(rows) > 30
    assert [row[1] for row in rows if not re.fullmatch(r"`test_\w+`", row[3])] == []


@pytest.mark.parametrize("room", ["rosenblatt", "rosenblatt.plots", "rosenblatt.cluster"])
def test_every_public_name_is_in_the_reference(room):
    listed = (ROOT / "docs/reference/index.rst").read_text("utf-8")
    own = "".join(
        re.findall(
            rf"currentmodule:: {re.escape(room)}\n(.*?)(?=\.\. currentmodule|\Z)", listed, re.DOTALL
        )
    )
    named = set(importlib.import_module(room).__all__) - {"__version__"}
    assert set(re.findall(r"^   (\w+)$", own, re.MULTILINE)) == named


def test_named_tests_exist():
    tests = "".join(path.read_text("utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    named = [
        (name_of(page), name)
        for page in PAGES
        for name in re.findall(r"`(test_\w+)`", page.read_text("utf-8"))
    ]
    assert [(page, name) for page, name in named if f"def {name}(" not in tests] == []
