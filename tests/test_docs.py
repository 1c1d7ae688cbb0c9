"""What README, CONTRIBUTING and docs name exists: paths, modules, commands, settings, metrics."""

import ast
import importlib
import importlib.util
import re
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cogapp import Cog

from app.cli import COMMANDS
from app.http.routes.answers import QueryAnswer, QueryClosest
from app.settings.gone import GONE
from app.settings.settings import groups
from benchmarks.figures import read_figures
from benchmarks.first_answer import without_times

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PACKAGES = ("app", "benchmarks", "chains", "evals", "prompts", "tests")
FOLDERS = (*PACKAGES, "docs", "knowledge_base", "examples")
PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./*-]*)`")
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")
ANCHOR = re.compile(r"\]\((?!https?:|mailto:)([^)#]*#[^)]+)")
COMMAND = re.compile(r"python -m ([\w.]+)(?![^`]*`, since\s+removed)")
TARGET = re.compile(r"(?:^|`|\s{4})make ([a-z][a-z-]*)", re.MULTILINE)
VARIABLE = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`")
METRIC = re.compile(r"`(waypoint_[a-z_]+)(?:\{[^`]*\})?`")
MODULE = re.compile(rf"`((?:{'|'.join(PACKAGES)})(?:\.\w+)+)`")
# Read by Make, the tests, Docker and the libraries.
OTHERS_READ = re.compile(
    r"REQUIRE_SERVICES|CUDA_VISIBLE_DEVICES|RABBITMQ_PASSWORD|COMPOSE_PROFILES|FORWARDED_ALLOW_IPS|"
    r"OLLAMA_CONTEXT_LENGTH|(?:ORT|RLIMIT|OTEL|LANGSMITH)_\w+"
)


WAYPOINT = re.compile(r"(?:`|^ {4}\S*?|bin/)waypoint ([a-z]+)\b", re.MULTILINE)
README_WORDS = 900


def named(pattern: re.Pattern[str]) -> list[Any]:
    """Return each page with a name in it that matches, as parameters of a test."""
    found = {(page, name) for page in PAGES for name in pattern.findall(page.read_text(encoding="utf-8"))}
    return [pytest.param(page, name, id=f"{page.relative_to(ROOT)}:{name}") for page, name in sorted(found)]


@pytest.mark.parametrize(("page", "name"), named(PATH))
def test_a_path_exists_and_a_folder_ends_in_a_slash(page, name):
    found = list(ROOT.glob(name.rstrip("/"))) if "*" in name else [ROOT / name]
    assert found
    assert all(path.is_dir() if name.endswith("/") else path.is_file() for path in found)


@pytest.mark.parametrize(("page", "name"), named(LINK))
def test_a_link_leads_to_a_file(page, name):
    assert (page.parent / name).exists()


@pytest.mark.parametrize(("page", "link"), named(ANCHOR))
def test_a_link_to_a_heading_finds_it(page, link):
    name, _, anchor = link.partition("#")
    headings = re.findall(r"^#+ (.+)$", (page.parent / (name or page.name)).read_text(encoding="utf-8"), re.MULTILINE)
    assert anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [page for page in PAGES[2:] if page.name != "README.md"], ids=lambda page: page.name)
def test_a_page_names_its_readers_first_and_is_in_the_index(page):
    assert page.read_text(encoding="utf-8").splitlines()[2].startswith("For ")
    assert f"]({page.name})" in (page.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "name"), named(COMMAND))
def test_a_module_that_is_run_exists(page, name):
    found = importlib.util.find_spec(name)
    assert found
    assert found.submodule_search_locations is None or importlib.util.find_spec(f"{name}.__main__")


@pytest.mark.parametrize(("page", "name"), named(MODULE))
def test_a_module_or_what_it_holds_exists(page, name):
    module, _, attribute = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        assert hasattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize(("page", "name"), named(TARGET))
def test_a_target_of_make_exists(page, name):
    assert re.search(rf"^{name}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize(("page", "name"), named(WAYPOINT))
def test_a_command_exists(page, name):
    assert name in COMMANDS


def test_readme_is_read_in_five_minutes():
    before, more, _ = PAGES[0].read_text(encoding="utf-8").partition("\n## More\n")
    assert more
    assert len(re.sub(r"<!--.*?-->", "", before, flags=re.DOTALL).split()) <= README_WORDS


@pytest.mark.parametrize(("page", "name"), named(VARIABLE))
def test_a_setting_exists(page, name):
    read = {known for group in groups().values() for field in group.model_fields for known in group.names_of(field)}
    constant = re.compile(rf"^{name}\b", re.MULTILINE)
    known = name.lower() in read or (name in GONE and page.name == "upgrading.md") or OTHERS_READ.fullmatch(name)
    assert known or any(constant.search(text) for text in sources())


@pytest.mark.parametrize(("page", "name"), named(METRIC))
def test_a_metric_exists(page, name):
    words = re.sub(r"_(?:total|bucket|count|sum)$", "", name)
    families = re.escape(words.rsplit("_", 1)[0]) + r"_\{\w+\}"  # One of several that differ in their last word.
    assert any(f'"{words}' in text or re.search(families, text) for text in sources())


def test_what_is_written_by_commands_is_as_they_write_it():
    pages = [str(page) for page in PAGES]
    told = StringIO()
    with redirect_stdout(told):
        outcome = Cog().main(["cog", "--check", "-I", str(ROOT), *pages])
    assert outcome == 0, f"{told.getvalue()}; `make docs` writes them again"


def test_the_first_answer_is_printed_as_readme_shows_it(waypoint):
    shown = read_figures()["first_answer"]["values"]
    code, out, _ = waypoint("ask", shown["question"])

    assert (code, without_times(out)) == (0, without_times(shown["output"]))


def test_dependencies_that_deptry_lets_pass_are_imported_nowhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    modules = project["tool"]["deptry"]["package_module_name_map"]
    passed = project["tool"]["deptry"]["per_rule_ignores"]["DEP002"]
    imported = {name.split(".")[0] for text in sources() for name in imports(text)}

    assert {name for name in passed if modules.get(name, name.replace("-", "_")) in imported} == set()


def imports(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def sources() -> list[str]:
    files = [path for name in ("app", "chains", "prompts", "evals") for path in (ROOT / name).rglob("*.py")]
    return [path.read_text(encoding="utf-8") for path in files]


@pytest.mark.parametrize("model", [QueryAnswer, QueryClosest])
def test_the_page_on_http_lists_the_fields_of_an_answer(model):
    page = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    lists = [set(re.split(r",\s*", found)) for found in re.findall(r"`\{(\w[\w, ]*)\}`", page)]

    assert {field.alias for field in model.model_fields.values()} in lists
