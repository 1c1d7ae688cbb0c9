"""A message with several questions over each contract, with a language model and without one."""

import pytest

import prompts
from chains.reuse.tool import as_tool
from tests.fakes import MODEL, Reply
from tests.served import QUESTION, guide_services

MESSAGE = f"Dear desk,\n\n{QUESTION} Which team plays football in Perth?\n\nRegards\nJo"
DECLINE = prompts.load("decline")
WRITTEN = f"1. It is 9 % [1].\n\n2. {DECLINE}"


services = guide_services(llm_fallback=True, relevance_threshold=0)


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        ("/api/query", {"query": MESSAGE}, lambda told: told["answer"]),
        ("/copilot/invoke", {"input": {"question": MESSAGE}}, lambda told: told["output"]["answer"]),
        ("/chat", {"query": MESSAGE}, lambda told: told["answer"]),
        (
            "/v1/chat/completions",
            {"model": MODEL, "messages": [{"role": "user", "content": MESSAGE}]},
            lambda told: told["choices"][0]["message"]["content"],
        ),
    ],
)
def test_what_is_not_answered_is_declined_alone(client, groq, path, body, text):
    groq.replies[:] = [Reply(WRITTEN)]
    told = client.post(path, json=body).raise_for_status().json()

    assert text(told).startswith("1. It is 9 % [")
    assert f"2. {DECLINE}" in text(told)
    assert f"1. {QUESTION}\n2. Which team plays football in Perth?" in groq.requests[-1]["messages"][-1]["content"]
    if path == "/api/query":
        assert (told["outcome"], len(told["closest"]) > 0) == ("answered", True)


def test_the_agents_tool_shows_the_closest_passages_of_what_is_not_answered(services, groq):
    groq.replies[:] = [Reply(WRITTEN)]
    told = as_tool(services.chain).invoke({"question": MESSAGE})
    assert "1. It is 9 % [1]." in told
    assert "Closest passages:" in told


def test_an_outage_is_answered_in_parts_as_well(client, groq):
    groq.replies[:] = [Reply(status=500)]
    told = client.post("/api/query", json={"query": MESSAGE}).raise_for_status().json()

    assert told["outcome"] == "degraded"
    assert told["answer"].startswith(f"**1) {QUESTION}**\n\n")
    assert "**2) Which team plays football in Perth?**" in told["answer"]
