"""Files for indexes, archives and workflows agree with each other and with the package."""

import re
import tomllib
from pathlib import Path

import pytest

import rosenblatt

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def read(name):
    return (ROOT / name).read_text("utf-8")


def load(path):
    return yaml.safe_load(path.read_text("utf-8"))


RECIPE = load(ROOT / "conda/recipe.yaml")
CITATION = load(ROOT / "CITATION.cff")


def steps(workflow):
    """All commands of a workflow."""
    for job in workflow["jobs"].values():
        for step in job.get("steps", ()):
            if "run" in step:
                yield step["run"]


def test_one_version():
    assert {CITATION["version"], RECIPE["context"]["version"]} == {rosenblatt.__version__}
    assert f"## [{rosenblatt.__version__}]" in read("CHANGELOG.md")


def test_one_address():
    urls = PROJECT["urls"]
    assert CITATION["repository-code"] == urls["Repository"]
    assert RECIPE["about"]["repository"] == urls["Repository"]
    assert CITATION["url"] == RECIPE["about"]["homepage"] == urls["Homepage"]
    assert urls["Issues"].startswith(urls["Repository"])
    assert RECIPE["source"]["url"].startswith(urls["Repository"])
    assert f"{urls['Repository']}/blob/v$HFPR_VERSION/" in read("pyproject.toml")
    for page in ("README.md", "docs/index.md", "CHANGELOG.md"):
        assert urls["Repository"] in read(page) or urls["Homepage"] in read(page), page


def test_the_recipe_asks_for_what_the_package_asks_for():
    asked = {one for one in PROJECT["dependencies"] if "sys_platform" not in one}
    given = {one.replace(" ", "") for one in RECIPE["requirements"]["run"]}
    assert given - {"python>=3.11"} == asked
    assert PROJECT["requires-python"] == ">=3.11"
    script, target = RECIPE["build"]["python"]["entry_points"][0].split(" = ")
    assert PROJECT["scripts"] == {script: target}


def test_conda_accepts_the_recipe():
    builder = pytest.importorskip("rattler_build")
    recipe = builder.Stage0Recipe.from_yaml(read("conda/recipe.yaml"))
    assert len(recipe.render(builder.VariantConfig())) == 1


def test_every_extra_that_a_page_or_message_names_exists():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]
    for path in pages:
        if path.name == "CHANGELOG.md":
            continue
        for extras in re.findall(r"(?:rosenblatt|'\.)\[([a-z,]+)\]", path.read_text("utf-8")):
            assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"]), path


def test_pythons_of_the_workflows_are_those_of_the_classifiers():
    said = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if ":: 3." in one]
    for name, job in [("tests.yml", "tests"), ("release.yml", "install")]:
        matrix = load(ROOT / ".github/workflows" / name)["jobs"][job]["strategy"]["matrix"]
        assert matrix["python"] == said
        assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_commands_that_exist(path):
    workflow = load(path)
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    assert workflow["permissions"]["contents"] == "read"
    for command in steps(workflow):
        for target in re.findall(r"\bmake ([a-z]+)", command):
            assert target in targets
        for group in re.findall(r"--group ([a-z]+)", command):
            assert group in GROUPS
        for script in re.findall(r"^(\.[a-z/]+)$", command):
            assert (ROOT / script).is_file()
    for job in workflow["jobs"].values():
        assert "uses" in job or job["timeout-minutes"] <= 60


def test_the_release_is_published_by_trust_and_after_the_tests():
    publish = load(ROOT / ".github/workflows/release.yml")["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert set(publish["needs"]) == {"tests", "build", "wheels", "install"}
    assert "secrets" not in read(".github/workflows/release.yml")


def test_the_readme_of_the_index_has_no_relative_link():
    hook = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["metadata"]["hooks"]
    text = read("README.md")
    for one in hook["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    text = text.replace("$HFPR_VERSION", rosenblatt.__version__)
    targets = re.findall(r"\]\(([^)]+)\)|src=\"([^\"]+)\"", text)
    assert targets
    assert all("".join(target).startswith("https://") for target in targets)
    own = re.findall(r"(?:/blob|user\w+\.com/[\w-]+/\w+)/v([\d.]+)/", text)
    assert len(own) > 30
    assert set(own) == {rosenblatt.__version__}
