"""What is installed: one package, `waypoint`, beside a host program's own `app`, `chains`, `evals` and `prompts`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder

from benchmarks.documents import pdf
from hatch_build import PACKAGES, build_tree, left_over, rewritten

ROOT = Path(__file__).parents[1]

# A host program: it uses the public names, and says what it sees of them.
HOST = """
import json, sys, threading
import waypoint
from waypoint import as_tool, build_chain, open_chain, process_query, retrieve
import app, chains, evals, prompts

chain = open_chain()
opened = [thread.name for thread in threading.enumerate()]
question = "What is the fee for a lost container seal?"
answer = chain.invoke({"question": question})
seen = {
    "owners": [module.OWNER for module in (app, chains, evals, prompts)],
    "threads": [opened, [thread.name for thread in threading.enumerate()]],
    "outcome": answer["outcome"],
    "cited": [citation["doc_id"] for citation in answer["citations"]],
    "again": process_query(question)["answer"] == answer["answer"],
    "passages": [passage["metadata"]["title"] for passage in retrieve(question, top_k=1)],
    "tool": as_tool(chain).name,
    "missing": [name for name in waypoint.__all__ if getattr(waypoint, name, None) is None],
}
with open("seen.json", "w") as file:
    json.dump(seen, file)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package as the wheel holds it."""
    folder = tmp_path_factory.mktemp("installed")
    install(ROOT, folder)
    return folder


def install(project: Path, folder: Path) -> None:
    """Build the wheel of a project, and unpack it as pip does."""
    wheel = next(WheelBuilder(str(project)).build(directory=str(folder / "dist"), versions=["standard"]))
    with ZipFile(wheel) as archive:
        archive.extractall(folder)


@pytest.fixture(scope="module")
def host(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a host program, with an index of one PDF file, which a worker process read."""
    folder = tmp_path_factory.mktemp("host")
    for package in PACKAGES:
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text("OWNER = 'host'\n")
    (folder / "documents").mkdir()
    (folder / "documents" / "seals.pdf").write_bytes(pdf("The fee for a lost container seal is 25 SGD for each seal."))
    done = run(folder, installed, "-c", "from waypoint import main; main()", "ingest", "documents")
    assert done.stdout.startswith("1 file"), done.stderr
    return folder


def run(folder: Path, installed: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the host's folder; the host's packages come first."""
    environment = {"PYTHONPATH": os.pathsep.join([str(folder), str(installed)]), **settings}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


# Questions and `doctor` over the command, and the wheel in an environment of its own, are tried by `make test-wheel`.


@pytest.mark.slow
def test_a_program_with_packages_of_the_same_names_gets_a_cited_answer_and_what_is_logged_goes_where_it_logs(
    host, installed
):
    program = "import logging; logging.basicConfig(level='INFO', format='%(name)s %(message)s')\n" + HOST
    (host / "logging_host.py").write_text(program)
    done = run(host, installed, "logging_host.py")

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    [line, _] = [line for line in done.stderr.splitlines() if line.startswith("waypoint.app.observability.call_log ")]
    assert "outcome='answered'" in line
    seen = json.loads((host / "seen.json").read_text())
    assert seen["owners"] == ["host"] * 4
    assert (seen["outcome"], seen["again"], seen["missing"]) == ("answered", True, [])
    assert set(seen["cited"]) != set()
    assert seen["passages"] == ["Seals"]
    assert seen["tool"] == "ask_documents"


@pytest.mark.slow
def test_a_program_that_asks_sees_nothing_printed_and_no_thread_started(host, installed):
    # The language model cannot be reached: that is logged, and the offline answerer steps in.
    away = {"LLM_API_KEY": "none", "LLM_BASE_URL": "http://127.0.0.1:9", "LLM_MAX_RETRIES": "0"}
    (host / "host.py").write_text(HOST)
    done = run(host, installed, "host.py", **away)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    seen = json.loads((host / "seen.json").read_text())
    assert seen["outcome"] == "degraded"
    assert seen["threads"] == [["MainThread"], ["MainThread"]]


@pytest.mark.slow
@pytest.mark.usefixtures("host")  # After whose commands there is bytecode to copy.
def test_a_package_of_another_plugs_in_a_reader_and_a_strategy(installed, tmp_path):
    shutil.copytree(installed, tmp_path / "packages")
    shutil.copytree(ROOT / "examples" / "plugin", tmp_path / "plugin")
    install(tmp_path / "plugin", tmp_path / "packages")
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "seals.rst").write_text("The fee for a lost container seal is 25 SGD for each seal.")
    waypoint = ("-c", "from waypoint import main; main()")
    settings = {"RETRIEVER_TYPE": "newest"}

    ingested = run(tmp_path, tmp_path / "packages", *waypoint, "ingest", "documents", **settings)
    asked = run(tmp_path, tmp_path / "packages", *waypoint, "ask", "What is the fee for a lost seal?", **settings)

    assert ingested.stdout.startswith("1 file"), ingested.stderr
    assert "25 SGD" in asked.stdout, asked.stderr


def test_a_setting_names_what_is_plugged_in_where_a_part_is_unknown(installed, tmp_path):
    waypoint = ("-c", "from waypoint import main; main()")
    asked = run(tmp_path, installed, *waypoint, "ask", "Which fee?", RETRIEVER_TYPE="newest")

    assert asked.returncode == 2
    assert "RETRIEVER_TYPE='newest': Input should be 'compression', 'hybrid', 'mmr' or 'similarity'" in asked.stderr


@pytest.mark.slow
def test_a_wing_that_was_left_out_is_named_without_a_traceback(host, installed, tmp_path):
    shutil.copytree(installed, tmp_path / "packages")
    for wing in ("offline", "mcp", "office", "uploads"):
        shutil.rmtree(tmp_path / "packages" / "waypoint" / "app" / "wings" / wing)
    waypoint = ("-c", "from waypoint import main; main()")
    index = str(host / "storage" / "chroma")  # Without one the sample is indexed first, for seconds.
    asked = run(tmp_path, tmp_path / "packages", *waypoint, "ask", "Which fee?", CHROMA_PATH=index)
    (tmp_path / "rates.docx").write_bytes(b"")
    ingested = run(tmp_path, tmp_path / "packages", *waypoint, "ingest", "rates.docx")

    assert asked.returncode == 2
    assert "is not part of this installation: the folder of `offline` was left out of it" in asked.stderr
    assert "the folder of `office` was left out of it" in ingested.stdout + ingested.stderr
    assert "Traceback" not in asked.stderr + ingested.stderr


READING = ROOT / "evals" / "reading"  # Not in the wheel.


def test_the_wheel_carries_every_data_file(installed):
    def files(root: Path) -> set[str]:
        return {
            path.relative_to(root).as_posix()
            for package in PACKAGES
            for path in (root / package).rglob("*")
            if path.is_file() and path.suffix != ".pyc" and READING not in path.parents
        }

    package = installed / "waypoint"
    assert files(ROOT) - files(package) == {"app/public.py"}
    assert (package / "py.typed").exists()
    assert (package / "app" / "knowledge_base" / "examples.yaml").exists()
    assert list(WheelBuilder(str(ROOT)).recurse_included_files()) == []  # Nothing at the top level.


@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        ("from chains.state import Answer", "from waypoint.chains.state import Answer"),
        ("from app import (\n    cli,\n)", "from waypoint.app import (\n    cli,\n)"),
        ("import prompts", "import waypoint.prompts as prompts"),
        ("import chains as c, os", "import waypoint.chains as c, os"),
        ("def f():\n    from evals.gate import read_floor", "def f():\n    from waypoint.evals.gate import read_floor"),
        ("from application import x\nimport chainsaw", "from application import x\nimport chainsaw"),
        ("'from chains import x'", "'from chains import x'"),
    ],
)
def test_imports_of_the_trees_packages_go_below_the_one(written, becomes):
    assert rewritten(written.encode()).decode() == becomes


@pytest.mark.parametrize(
    "written",
    [
        *("import chains.state", "from . import state", "import_module('chains.state')", "files('app.web')"),
        *("files('prompts')", "import_module(f'chains.{name}')", "run('app.http.process:worker')"),
        "run([python, '-m', 'app.settings.table'])",
    ],
)
def test_a_module_that_would_still_be_looked_for_at_the_top_stops_the_build(written, tmp_path):
    file = tmp_path / "module.py"
    file.write_bytes(rewritten(written.encode()))

    assert len(list(left_over(file))) == 1


def test_the_build_names_file_and_line_of_what_it_cannot_rewrite(tmp_path):
    for package in (*PACKAGES, "knowledge_base"):
        (tmp_path / "tree" / package).mkdir(parents=True)
    (tmp_path / "tree" / "app" / "public.py").touch()
    (tmp_path / "tree" / "chains" / "state.py").write_text("\nfrom . import tool\n")

    with pytest.raises(ValueError, match=r"chains/state\.py, line 2: from None"):
        build_tree(tmp_path / "tree", tmp_path / "waypoint")
