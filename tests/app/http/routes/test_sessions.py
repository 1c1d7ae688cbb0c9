"""Conversations by their session, in every contract, for who began them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from app.wiring.storage import ledger_of
from tests.access import bearer, key_entry, serving, settings_over
from tests.prompted import asked as asked_words
from tests.served import answering

FIRST, SECOND = "What is the surcharge on weekends?", "How high is it?"
ANSWER = "It is 5 % [01_regulatory guide > Rate]."
# How each contract asks a question in a session, and where the answer is.
ASKING: dict[str, Any] = {
    "/api/query": lambda query, **more: {"query": query} | more,
    "/chat": lambda query, **more: {"query": query} | more,
    "/copilot/invoke": lambda question, **more: {"input": {"question": question} | more},
    "/copilot/stream": lambda question, **more: {"input": {"question": question} | more},
}
KEYS = ",".join(key_entry(name, f"key-of-{name}", "ask") for name in ("ann", "bob"))


@contextmanager
def service(corpus: Any, groq: Any, **settings: Any) -> Iterator[httpx.Client]:
    chosen = {"enable_query_reformulation": "off"} | settings
    with serving(settings_over(corpus, groq.url, **chosen)) as url, httpx.Client(base_url=url) as client:
        yield client


@pytest.fixture(scope="module")
def client(corpus, groq) -> Iterator[httpx.Client]:
    with service(corpus, groq, auth_mode="api_key", api_keys=KEYS, rate_limit="off") as client:
        yield client


_answers = answering(*[ANSWER] * 9)


def ask(client: httpx.Client, path: str, question: str, *, who: str = "ann", **more: Any) -> httpx.Response:
    session = {"sessionId" if path == "/api/query" and name == "session_id" else name: more[name] for name in more}
    return client.post(path, json=ASKING[path](question, **session), headers=bearer(f"key-of-{who}"))


def prompt(groq: Any) -> list[str]:
    """Return what the model was sent last, but for its instructions."""
    return [asked_words(message["content"]) for message in groq.requests[-1]["messages"][1:]]


def test_a_history_of_the_clients_own_wins(client, groq):
    ask(client, "/api/query", FIRST, session_id="own")
    history = [{"role": "user", "content": "What is GST?"}, {"role": "assistant", "content": "A tax."}]
    ask(client, "/api/query", SECOND, session_id="own", history=history)

    assert prompt(groq) == ["What is GST?", "A tax.", SECOND]


def test_without_a_session_nothing_is_kept(client, groq):
    ask(client, "/chat", FIRST)
    ask(client, "/chat", SECOND)

    assert prompt(groq) == [SECOND]


@pytest.mark.parametrize("path", list(ASKING))
def test_an_id_that_somebody_else_uses_begins_a_conversation_of_ones_own(client, groq, path):
    session = f"s1 at {path}"
    for who in ("ann", "bob", "ann"):
        assert ask(client, path, SECOND if groq.requests else FIRST, who=who, session_id=session).status_code == 200
    of_ann, of_bob = prompt(groq), [asked_words(message["content"]) for message in groq.requests[1]["messages"][1:]]

    assert (of_ann[0], of_ann[-1], len(of_ann)) == (FIRST, SECOND, 3)
    assert of_bob == [SECOND]


EMBEDDED = {"x-waypoint-embed": "1"}


@pytest.mark.parametrize("path", list(ASKING))
def test_a_page_of_others_neither_reads_nor_deletes_what_this_machines_user_asked(corpus, groq, path):
    session = {"sessionId" if path == "/api/query" else "session_id": "known-to-both-0123456789"}
    with service(corpus, groq) as client:
        for headers in ({}, EMBEDDED, {}):
            asked = ASKING[path](SECOND if groq.requests else FIRST, **session)
            assert client.post(path, json=asked, headers=headers).status_code == 200
        deleted = [
            client.delete("/api/sessions/known-to-both-0123456789", headers=headers).status_code
            for headers in (EMBEDDED, EMBEDDED, {}, {})
        ]
    prompts = [[asked_words(message["content"]) for message in one["messages"][1:]] for one in groq.requests]

    assert [len(prompt) for prompt in prompts] == [1, 1, 3]
    assert deleted == [204, 404, 204, 404]


def test_a_conversation_is_forgotten_by_who_began_it_only(client, groq):
    ask(client, "/api/query", FIRST, session_id="short-lived")
    path = "/api/sessions/short-lived"

    statuses = [client.delete(path, headers=bearer(f"key-of-{who}")).status_code for who in ("bob", "ann", "ann")]
    assert statuses == [404, 204, 404]
    ask(client, "/api/query", SECOND, session_id="short-lived")
    assert prompt(groq) == [SECOND]


@pytest.mark.parametrize(("session", "kept"), [("guess-me", 1), ("0b6d7c0e-55aa-4c11-9c3e-1f2e3d4c5b6a", 3)])
def test_an_id_of_strangers_that_could_be_guessed_keeps_nothing(corpus, groq, session, kept):
    with service(corpus, groq, auth_mode="public", rate_limit="off") as client:
        for question in (FIRST, SECOND):
            client.post("/api/query", json={"query": question, "sessionId": session})

    assert len(prompt(groq)) == kept


def test_a_conversation_survives_a_restart_and_is_shared(corpus, groq):
    for question in (FIRST, SECOND):
        with service(corpus, groq) as client:
            assert client.post("/api/query", json={"query": question, "sessionId": "s1"}).status_code == 200

    assert prompt(groq)[0] == FIRST


def test_where_conversations_cannot_be_read_other_questions_are_answered(corpus, groq):
    ledger = ledger_of(settings_over(corpus, groq.url))
    with ledger.changing() as connection:
        connection.exec_driver_sql("ALTER TABLE turns RENAME TO elsewhere")
    with service(corpus, groq) as client:
        answers = [client.post("/api/query", json={"query": FIRST} | more) for more in ({}, {"sessionId": "s1"})]
        forgotten = client.delete("/api/sessions/s1")
    with ledger.changing() as connection:
        connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO turns")

    assert [answer.status_code for answer in (*answers, forgotten)] == [200, 503, 503]
