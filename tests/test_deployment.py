"""The Dockerfile, the compose file and the systemd unit, as far as they can be tried without Docker and systemd."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import yaml

from app.http.process import DRAIN_S
from app.settings import fields, load_settings
from app.wiring import sample_corpus
from benchmarks.processes import PATIENCE_S, PROGRAM, environment, free_port, responds, wait_until
from tests.ingest_and_stop import waypoint_ingest

ROOT = Path(__file__).parents[1]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SETTINGS = {name.upper() for name in fields()}


# What Docker Compose fills in: a variable, another text if it is empty (:-), or a text if it is set (:+).
VARIABLE = re.compile(r"\$\{(\w+)(?:(:[-+])((?:[^{}]|\{[^{}]*\})*))?\}")


def filled(value: str, **variables: str) -> str:
    """Return a value of the compose file as Docker Compose reads it where only these variables are set."""

    def fill(found: re.Match[str]) -> str:
        value = variables.get(found[1], "")
        other = filled(found[3] or "", **variables)
        return {":-": value or other, ":+": value and other}.get(found[2], value)

    return VARIABLE.sub(fill, value)


def composed(name: str, **variables: str) -> dict[str, str]:
    """Return the environment of a composed service where only these variables are set."""
    return {key: filled(value, **variables) for key, value in COMPOSE["services"][name]["environment"].items()}


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions with their arguments, comments and line ends removed."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines if line.strip())]


def arguments(name: str) -> list[str]:
    return [rest for word, rest in instructions() if word == name]


def program(argument: str) -> list[str]:
    """Return the words of a command in the exec form."""
    words: list[str] = json.loads(argument[argument.index("[") :])
    return words


def test_the_image_runs_as_a_user_without_rights_and_gets_signals_itself():
    last = [word for word, _ in instructions()][-1]

    assert arguments("USER") == ["waypoint"]
    assert last == "CMD"
    assert program(arguments("CMD")[-1])[:2] == ["waypoint", "serve"]


def test_the_image_holds_the_pinned_dependencies_and_what_the_wheel_is_made_of():
    build, lock = [run for run in arguments("RUN") if "requirements" in run]
    assert lock == "python -m pip install --no-deps --require-hashes -r requirements.lock -r requirements-postgres.lock"
    assert build.endswith("/opt/build/bin/python -m pip install --no-deps --require-hashes -r requirements-build.lock")
    [wheel] = [run for run in arguments("RUN") if "pip wheel" in run]
    assert "--no-build-isolation" in wheel
    sources = [copy.rsplit(" ", 1)[0].split() for copy in arguments("COPY") if not copy.startswith("--from")]
    admitted = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    assert {name for names in sources for name in names} == admitted
    assert [name for name in admitted if not (ROOT / name).exists()] == []


def test_the_image_holds_the_extra_that_the_composed_database_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = set(re.findall(r"^[\w.-]+==[\w.]+", (ROOT / "requirements-postgres.lock").read_text(), re.MULTILINE))
    tested = set(re.findall(r"^[\w.-]+==[\w.]+", (ROOT / "requirements-dev.lock").read_text(), re.MULTILINE))

    assert project["dependency-groups"]["postgres"] == project["project"]["optional-dependencies"]["postgres"]
    assert {name.partition("==")[0] for name in pinned} >= {"psycopg", "psycopg-binary"}
    assert pinned - tested == set()


def test_a_lock_of_its_own_pins_the_extra_huggingface_beside_torch():
    base, more = (
        set(re.findall(r"^[\w.-]+==[\w.]+(?= \\)", (ROOT / name).read_text(), re.MULTILINE))
        for name in ("requirements.lock", "requirements-huggingface.lock")
    )

    assert {name.partition("==")[0] for name in more - base} >= {
        "transformers",
        "sentence-transformers",
        "langchain-huggingface",
    }
    assert base - more == set()


def test_a_checkout_has_every_package_that_the_owner_named():
    names = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))

    assert names >= {"langchain", "langchain-chroma", "langchain-groq", "pydantic-settings"}


def test_what_builds_the_image_is_what_the_project_asks_for_and_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements-build.lock").read_text(), re.MULTILINE))

    assert project["dependency-groups"]["build"] == project["build-system"]["requires"]
    assert names >= {"hatchling", "pathspec", "trove-classifiers"}


def test_no_composed_service_keeps_a_right_that_it_does_not_need():
    services = COMPOSE["services"]

    assert {name for name, service in services.items() if service["cap_drop"] != ["ALL"]} == set()
    assert {
        name for name, service in services.items() if service["security_opt"] != ["no-new-privileges:true"]
    } == set()
    assert {name for name, service in services.items() if service.get("read_only")} == {"chroma", "redis", "waypoint"}
    for name in ("chroma", "waypoint"):
        assert services[name]["tmpfs"][0] == "/tmp"  # noqa: S108 - a file system of its own.


def test_every_image_is_pinned_to_a_version():
    bases = [image.split(" ")[0] for image in arguments("FROM")]
    images = [*bases, *(service["image"] for service in COMPOSE["services"].values())]

    assert [image for image in images if not re.search(r":\d+\.\d+", image)] == []


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_image_is_healthy_while_the_service_is_ready(httpserver, status, code):
    httpserver.expect_request("/health/ready").respond_with_data("", status=status)
    [check] = arguments("HEALTHCHECK")
    _, *words = program(check[check.index("CMD") :])

    done = subprocess.run(
        [sys.executable, *words], env={"PORT": str(httpserver.port)}, capture_output=True, check=False
    )
    assert done.returncode == code


def test_the_model_is_prepared_when_the_image_is_built(monkeypatch):
    asked: list[object] = []
    gate = type("Gate", (), {"invoke": asked.append})
    monkeypatch.setattr("app.wiring.chain.scope_gate", lambda *_: gate)
    [prepare] = [program(run) for run in arguments("RUN") if run.startswith("[")]
    in_the_tree = prepare[-1].replace("from waypoint.app", "from app")
    exec(in_the_tree)  # noqa: S102 - the very words of the Dockerfile.

    assert len(asked) == 1
    assert set(Path.cwd().iterdir()) == set()


def test_every_composed_service_is_watched_and_started_again_and_nothing_is_lost_with_a_container():
    services = COMPOSE["services"]
    watched = {name for name, service in services.items() if "healthcheck" in service}
    mounted = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])}

    assert watched == set(services) - {"waypoint"}  # Whose check is the image's.
    assert {service["restart"] for service in services.values()} == {"unless-stopped"}
    assert mounted == set(COMPOSE["volumes"])
    assert set(services["waypoint"]["depends_on"]) == watched


def test_the_composed_service_is_set_by_settings_that_exist_and_may_have_several_processes():
    waypoint = COMPOSE["services"]["waypoint"]

    assert set(waypoint["environment"]) - SETTINGS == set()
    given: dict[str, Any] = {name.lower(): value for name, value in composed("waypoint").items()}
    settings = load_settings(_env_file=None, **{name: value for name, value in given.items() if value})
    assert settings.chroma.host in COMPOSE["services"]
    assert int(waypoint["stop_grace_period"].removesuffix("s")) > DRAIN_S + 5
    assert waypoint["ports"] == [f"127.0.0.1:{settings.web.port}:{settings.web.port}"]


def test_the_composition_comes_up_with_nothing_set_and_without_what_a_profile_names():
    services = COMPOSE["services"]
    named = {name for name, service in services.items() if "profiles" in service}

    assert ":?" not in (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert set(services) - named == {"waypoint", "chroma", "redis"}
    assert {name for name, on in services["waypoint"]["depends_on"].items() if not on.get("required", True)} == named
    assert composed("waypoint")["RABBITMQ_URL"] == composed("waypoint")["DATABASE_URL"] == ""


def test_rabbitmq_is_composed_only_where_its_profile_is_asked_for_and_is_the_broker_of_the_settings():
    server = COMPOSE["services"]["rabbitmq"]
    password = {"RABBITMQ_PASSWORD": "a1"}
    broker = urlsplit(composed("waypoint", **password)["RABBITMQ_URL"])

    assert server["profiles"] == ["events"]
    assert (broker.hostname, broker.port, broker.username, broker.password) == ("rabbitmq", 5672, "waypoint", "a1")
    assert composed("rabbitmq", **password) == {"RABBITMQ_DEFAULT_USER": "waypoint", "RABBITMQ_DEFAULT_PASS": "a1"}


def has_compose() -> bool:
    """Return whether the client of Docker has Compose; no engine is needed to read a file."""
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_compose(), reason="Docker Compose is not installed")
@pytest.mark.parametrize("profiles", ["", "events", "postgres", "events,postgres"])
def test_docker_compose_reads_the_composition(profiles, tmp_path, monkeypatch):
    shutil.copy(ROOT / "compose.yaml", tmp_path)
    monkeypatch.setenv("COMPOSE_PROFILES", profiles)
    command = ["docker", "compose", "config", "--services"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    wanted = {"events": "rabbitmq", "postgres": "postgres"}
    extra = {wanted[name] for name in profiles.split(",") if name}
    assert set(done.stdout.split()) == {"waypoint", "chroma", "redis"} | extra


def on_this_machine(words: list[str], ports: dict[str, int], folder: Path) -> list[str]:
    """Return a command of a container as it runs here: its program, ports and folder are those of the test."""
    words = [str(ports.get(word, word)).replace("/data", str(folder)) for word in words]
    program = Path(sys.executable).with_name(words[0])
    return [
        str(program) if words[0] != "waypoint" else sys.executable,
        *(PROGRAM if words[0] == "waypoint" else ()),
        *words[1:],
    ]


@pytest.mark.slow
@pytest.mark.service
def test_the_commands_of_the_composition_answer_from_what_is_ingested_with_nothing_set(tmp_path):
    chroma, waypoint = (COMPOSE["services"][name] for name in ("chroma", "waypoint"))
    ports = {"8000": free_port(), "3000": free_port()}
    store = on_this_machine(chroma["command"], ports, tmp_path / "chroma")
    service = [*on_this_machine(waypoint["command"], ports, tmp_path), "--port", str(ports["3000"])]
    given = composed("waypoint") | {"CHROMA_HOST": "127.0.0.1", "CHROMA_PORT": str(ports["8000"])}
    given |= {"CHROMA_PATH": str(tmp_path / "index"), "EVENTS_PATH": str(tmp_path / "events")}
    given["REDIS_URL"] = "redis://127.0.0.1:6379/15"
    url = f"http://127.0.0.1:{ports['3000']}"

    with running(store, tmp_path), running(service, tmp_path, **given):
        wait_until(lambda: responds(f"{url}/health/ready"))
        waypoint_ingest(tmp_path, str(sample_corpus()), **given)
        question = "What documents do I need to ship sea freight from Singapore to Indonesia?"
        answer = httpx.post(f"{url}/api/query", json={"query": question}).json()
    assert answer["outcome"] == "answered"
    assert "commercial invoice" in answer["answer"]


@contextmanager
def running(command: list[str], folder: Path, **given: str) -> Iterator[None]:
    with (folder / "messages.txt").open("ab") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment(**given), stdout=out, stderr=out)
        try:
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def test_postgres_is_composed_only_where_its_profile_is_asked_for_and_is_the_database_of_the_settings():
    services = COMPOSE["services"]
    server = services["postgres"]
    address = urlsplit(composed("waypoint", POSTGRES_PASSWORD="a1")["DATABASE_URL"])
    given = server["environment"]

    assert server["profiles"] == ["postgres"]
    assert (address.hostname, address.port, address.path) == ("postgres", 5432, f"/{given['POSTGRES_DB']}")
    assert (address.username, address.password) == (given["POSTGRES_USER"], "a1")
    assert "${POSTGRES_PASSWORD:-}" in given.values()
    assert not composed("waypoint").get("DATABASE_URL")
    lines = re.findall(
        r"^    (\w+)=(\w+)$", (ROOT / "docs" / "operations.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    options: dict[str, Any] = {name.lower(): value for name, value in lines if name != "COMPOSE_PROFILES"}
    assert dict(lines)["COMPOSE_PROFILES"] in server["profiles"]
    settings = load_settings(_env_file=None, database_url=address.geturl(), **options)
    assert settings.store.kind == "postgres"


def unit() -> str:
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    [found] = re.findall(r"```ini\n(.*?)```", text, flags=re.DOTALL)
    return str(found)


def test_the_unit_stops_the_service_by_one_signal_and_waits_for_its_answers():
    seconds = int(re.findall(r"TimeoutStopSec=(\d+)", unit())[0])

    assert "KillMode=mixed" in unit()
    assert seconds > DRAIN_S + 5


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd on this machine")
def test_systemd_understands_the_unit(tmp_path):
    file = tmp_path / "waypoint.service"
    file.write_text(re.sub(r"ExecStart=\S+", f"ExecStart={sys.executable}", unit()))
    done = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True, check=False)

    assert [line for line in done.stderr.splitlines() if "waypoint" in line] == []
    assert done.returncode == 0
