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
from app.http.routes.answers import QueryAnswer, camel_model
from app.settings.settings import GONE, groups
from benchmarks.figures import read_figures
from benchmarks.first_answer import without_times
from chains.state import ClosestPassage

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


def named(pattern: re.Pattern[str]) -> list[tuple[Path, Any]]:
    """Return each page with a name in it that matches."""
    return sorted({(page, name) for page in PAGES for name in pattern.findall(page.read_text(encoding="utf-8"))})


def is_there(name: str) -> bool:
    """Return whether a path exists; that of a folder ends in a slash."""
    paths = list(ROOT.glob(name.rstrip("/"))) if "*" in name else [ROOT / name]
    return bool(paths) and all(path.is_dir() if name.endswith("/") else path.is_file() for path in paths)


def leads_somewhere(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    headings = re.findall(r"^#+ (.+)$", (page.parent / (name or page.name)).read_text(encoding="utf-8"), re.MULTILINE)
    return anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_run(name: str) -> bool:
    spec = importlib.util.find_spec(name)
    return spec is not None and (
        spec.submodule_search_locations is None or bool(importlib.util.find_spec(f"{name}.__main__"))
    )


def is_held(name: str) -> bool:
    """Return whether a dotted name is a module, or something in one."""
    module, _, attribute = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return hasattr(importlib.import_module(module), attribute)
    return True


def test_a_path_exists_and_a_folder_ends_in_a_slash():
    assert [each for each in named(PATH) if not is_there(each[1])] == []


def test_a_link_leads_to_a_file_and_to_a_heading():
    assert [(page, name) for page, name in named(LINK) if not (page.parent / name).exists()] == []
    assert [(page, link) for page, link in named(ANCHOR) if not leads_somewhere(page, link)] == []


def test_a_page_names_its_readers_first_and_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in PAGES[2:]:
        if page.name != "README.md":
            assert page.read_text(encoding="utf-8").splitlines()[2].startswith("For "), page
            assert f"]({page.name})" in index


def test_modules_targets_of_make_and_commands_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [each for each in named(COMMAND) if not is_run(each[1])] == []
    assert [each for each in named(MODULE) if not is_held(each[1])] == []
    assert [each for each in named(TARGET) if not re.search(rf"^{each[1]}:", makefile, flags=re.MULTILINE)] == []
    assert [each for each in named(WAYPOINT) if each[1] not in COMMANDS] == []


def test_readme_is_read_in_five_minutes():
    before, more, _ = PAGES[0].read_text(encoding="utf-8").partition("\n## More\n")
    assert more
    assert len(re.sub(r"<!--.*?-->", "", before, flags=re.DOTALL).split()) <= README_WORDS


def test_a_setting_exists():
    read = {known for group in groups().values() for field in group.model_fields for known in group.names_of(field)}
    constants = set(re.findall(r"^[A-Z][A-Z0-9_]+\b", "\n".join(sources()), flags=re.MULTILINE))
    assert [
        (page, name)
        for page, name in named(VARIABLE)
        if name.lower() not in read
        and name not in constants
        and not (name in GONE and page.name == "upgrading.md")
        and not OTHERS_READ.fullmatch(name)
    ] == []


def test_a_metric_exists():
    text = "\n".join(sources())
    for _, name in named(METRIC):
        words = re.sub(r"_(?:total|bucket|count|sum)$", "", name)
        families = re.escape(words.rsplit("_", 1)[0]) + r"_\{\w+\}"  # One of several that differ in their last word.
        assert f'"{words}' in text or re.search(families, text), name


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


@pytest.mark.parametrize("model", [QueryAnswer, camel_model(ClosestPassage)])
def test_the_page_on_http_lists_the_fields_of_an_answer(model):
    page = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    lists = [set(re.split(r",\s*", found)) for found in re.findall(r"`\{(\w[\w, ]*)\}`", page)]

    fields = {field.alias for field in model.model_fields.values()}
    assert fields in lists, f"no list of docs/http.md has all of {sorted(map(str, fields))}, and nothing else"
