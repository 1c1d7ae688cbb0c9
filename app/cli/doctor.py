"""`waypoint doctor`: check that everything the settings name works."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Annotated, Any, Literal

import typer

from app import hooks
from app.cli.ingest import read_settings
from app.cli.rendering import as_json, show
from app.ports import Trial
from app.settings import Settings, SettingsError
from app.settings.values import LOCAL_SERVERS
from chains.errors import ConfigurationError, WaypointError
from chains.logs import masked

TRIALS_OF_WINGS = ("events.plugin:trials", "office.office:trials", "safety.moderator:trials")
STORE_SETTINGS = {"memory": "CHROMA_PATH", "chroma": "CHROMA_PATH or CHROMA_HOST", "postgres": "DATABASE_URL"}

PLACEHOLDER = re.compile(r"\A\s*\Z|[@.]example\b|(?:0\W*){6}")  # Nobody reads mail there, or picks up.
State = Literal["ok", "failed", "off"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of trying one part, which may be `required`; `remedy` is what to do about a failure."""

    part: str
    state: State
    detail: str
    required: bool = True
    remedy: str | None = None


def doctor(json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Check settings, models, store, language model, Redis, RabbitMQ and tracing; exit 1 if a required part fails."""
    found = []
    for finding in _findings():
        found.append(finding)
        if not json:
            optional = "" if finding.required or finding.state != "failed" else " (optional)"
            remedy = f"\n{'':28} {finding.remedy}" if finding.remedy else ""
            show(f"{finding.state:7}{finding.part:20} {finding.detail}{optional}{remedy}")
    failed = any(finding.state == "failed" and finding.required for finding in found)
    if json:
        show(as_json({"ok": not failed, "findings": [asdict(finding) for finding in found]}))
    if failed:
        raise typer.Exit(1)


def _findings() -> Iterator[Finding]:
    try:
        settings = read_settings()
    except SettingsError as error:
        yield Finding("settings", "failed", str(error), remedy="correct the environment or `.env`")
        return
    yield Finding("settings", "ok", f"provider {settings.llm.provider}, retriever {settings.retrieval.strategy}")
    yield from findings(settings)


def findings(settings: Settings) -> Iterator[Finding]:
    """Try the parts one by one, each made when it is tried; those of a wing are its own to name."""
    left_out: list[Finding] = []
    parts = (_retrieval, _models, _kept, _backends, _contacts)
    trials = [trial for part in parts for trial in part(settings)]
    for place in TRIALS_OF_WINGS:
        try:
            trials += hooks.wing(place)(settings)
        except ConfigurationError as error:
            left_out.append(Finding(place.partition(".")[0], "off", str(error), required=False))
    yield from (_found(trial) for trial in sorted(trials, key=lambda trial: trial.run is None))
    yield from left_out


def _found(trial: Trial) -> Finding:
    if trial.run is None:
        return Finding(trial.part, "off", f"not used; {trial.remedy} turns it on", required=False)
    try:
        return Finding(trial.part, "ok", trial.run() or "works", trial.required)
    except Exception as error:  # Any error: the other parts are still tried.
        detail = str(error) if isinstance(error, WaypointError) and str(error) else type(error).__name__
        return Finding(trial.part, "failed", masked(detail), trial.required, trial.remedy)


def _retrieval(settings: Settings) -> Iterator[Trial]:
    from app.wiring.chain import open_answerer
    from app.wiring.index import open_index
    from app.wiring.observability import QUESTION
    from app.wiring.storage import ingest_command

    index = cache(lambda: open_index(settings))

    def embed() -> str:
        return f"{settings.embedding.model}, {len(index().embeddings.embed_query(QUESTION))} dimensions"

    def search() -> str:
        passages = index().current()
        nearest = passages.nearest(index().embeddings.embed_query(QUESTION), 1, {})
        count, by = passages.count(), passages.searched_by()
        empty = f"; fill it with `{ingest_command(settings)}`" if count == 0 else ""
        return f"{index().stored.place}: {count} chunks, a search by {by} found {len(nearest)}{empty}"

    def ask() -> str:
        retriever = open_answerer(index()).retriever
        passages = retriever.invoke(QUESTION, {"configurable": {"audience": "internal"}})
        return f"{masked(settings.retrieval.url)}: a search found {len(passages)}"

    if settings.embedding.provider == "openai-compatible":
        yield Trial("embedding service", embed, "check EMBEDDING_BASE_URL, EMBEDDING_API_KEY and EMBEDDING_MODEL")
    else:
        yield Trial("embedding model", embed, "reinstall the package: its model files are missing or changed")
    if settings.retrieval.url is not None:
        yield Trial("retrieval service", ask, "check RETRIEVAL_URL and RETRIEVAL_API_KEY")
        return
    place = STORE_SETTINGS.get(settings.store.kind, "its settings")
    yield Trial("vector store", search, f"check VECTOR_STORE_TYPE, {place}; `waypoint ingest --reset PATH`")


def _models(settings: Settings) -> Iterator[Trial]:
    from app.wiring.llm import first_model, second_model

    def ask(model: Any) -> str:
        reply = model.invoke("Answer with the word yes.")
        listed = ""
        if provider in LOCAL_SERVERS:
            from app.adapters.llm.openai_compatible import listed_models

            listed = f"; the server lists {', '.join(listed_models(model))}"
        return f"{reply.response_metadata.get('model_name', settings.llm.model)} answered{listed}"

    provider = settings.llm.provider
    if provider == "offline":
        yield Trial("language model", None, "LLM_API_KEY")
        return
    server = f"start {provider}, or check" if provider in LOCAL_SERVERS else "check LLM_API_KEY,"
    remedy = f"{server} LLM_BASE_URL and LLM_MODEL; LLM_PROVIDER=offline needs no model"
    yield Trial("language model", lambda: ask(first_model(settings)), remedy)
    if isinstance(settings.llm.fallback, str):
        remedy = "check LLM_FALLBACK and LLM_FALLBACK_API_KEY"
        yield Trial("second language model", lambda: ask(second_model(settings)), remedy, required=False)


def _kept(settings: Settings) -> Iterator[Trial]:
    from app.ledger.work import Faults
    from app.wiring.caches import COMMAND, REMEDY, Certification
    from app.wiring.storage import ledger_of

    certification = Certification(settings)
    status = certification.status if settings.retrieval.url is None else None
    with suppress(WaypointError):  # The trial itself reports this error.
        status = status if status and certification.certificate else None
    yield Trial("certified confidence", status, REMEDY if status else COMMAND, required=False)
    remedy = "report it with its log line `side_step_failed`; a fault is listed here for seven days"
    yield Trial("side steps", lambda: Faults(ledger_of(settings)).status(), remedy, required=False)


def _backends(settings: Settings) -> Iterator[Trial]:
    from app.wiring.observability import TIMEOUT_S, answers, ping_redis, tracing_of

    if settings.uses_redis:
        ping = partial(ping_redis, settings.redis.url.get_secret_value(), timeout_s=TIMEOUT_S)
        yield Trial("redis", partial(answers, ping), "start Redis, or check REDIS_URL", settings.has_redis_sessions)
    else:
        yield Trial("redis", None, "REDIS_URL or AUTH_MODE")
    tracing = tracing_of(settings)
    for name, probe in tracing.probes.items():
        remedy = "check the LANGSMITH_ variables" if name == "langsmith" else "check OTEL_EXPORTER_OTLP_ENDPOINT"
        yield Trial(name, probe, remedy, required=False)
    if not tracing.exports:
        yield Trial("tracing", None, "LANGSMITH_TRACING or OTEL_EXPORTER_OTLP_ENDPOINT")


def _contacts(settings: Settings) -> Iterator[Trial]:
    from app.http.routes.page import TEAMS, file_in, read_page_file

    def read() -> None:
        teams = read_page_file(TEAMS, file)
        if without := [name for name, team in teams.items() if PLACEHOLDER.search(team.get("contact", ""))]:
            raise ConfigurationError(f"the page names teams without a real contact: {', '.join(without)}")

    file = file_in(settings.web.page, TEAMS)
    yield Trial("contacts", read if file else None, f"{file or TEAMS + ' in the folder of PAGE_PATH'}", required=False)
