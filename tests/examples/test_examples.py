"""Every file of examples/ runs, over a small index and a Groq on loopback."""

import csv
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

import examples
import prompts
from app.http.server import create_app
from app.observability.logs import configure_logs
from app.wiring.llm import first_model
from chains.citations.verification import is_decline
from examples import (
    agent,
    agentic_graph,
    batch_csv,
    evaluation_in_ci,
    graph,
    mcp_client,
    message_graph,
    openai_client,
    own_model,
    own_retriever,
    own_stage,
    remote_runnable,
    responses_client,
    tutorial_documents,
)
from tests.fakes import Reply, groq_server
from tests.logging_reset import reset_logs
from tests.processes import run_forked
from tests.served import ANSWER, QUESTION, guide_services, served, small_services

CLIENTS = {mcp_client, openai_client, remote_runnable, responses_client}
MARP = Path(examples.__path__[0]) / "marp"
CALL = ("ask_handbook", {"question": QUESTION})
HANDED_OVER = f"A colleague will answer: {QUESTION}"
SHOWN = {
    *(
        agent,
        agentic_graph,
        batch_csv,
        evaluation_in_ci,
        graph,
        mcp_client,
        openai_client,
        own_model,
        own_retriever,
        own_stage,
    ),
    *(remote_runnable, responses_client, message_graph, tutorial_documents),
}


groq = pytest.fixture(groq_server, scope="module")


services = guide_services()


@pytest.fixture(autouse=True)
def _answers(groq) -> Iterator[None]:
    configure_logs("warning")  # As the examples do where they are run by themselves.
    groq.requests.clear()
    groq.replies[:] = [Reply(ANSWER)] * 9
    yield
    reset_logs()


def test_every_example_is_here():
    files = {path.stem for path in Path(examples.__path__[0]).glob("*.py")} - {"__init__"}

    assert {module.__name__.removeprefix("examples.") for module in SHOWN} == files


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted(SHOWN, key=str), ids=lambda module: module.__name__)
def test_each_runs_as_a_program_by_itself(module, services, url, groq, tmp_path):
    (tmp_path / "questions.csv").write_text(f'question\n"{QUESTION}"\n', encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text(json.dumps({"id": "q", "question": QUESTION, "kind": "uncovered"}))
    words = {batch_csv: ["questions.csv", "answers.csv"], evaluation_in_ci: ["questions.jsonl"]}.get(module, [])
    words = [url] if module in CLIENTS else words
    settings = {"CHROMA_PATH": str(services.settings.chroma.path), "LLM_BASE_URL": groq.url, "LLM_API_KEY": "gsk_test"}
    run = partial(run_forked, tmp_path, "-m", module.__name__, *words)
    done = run(**settings)
    assert (done.returncode, done.stderr) == (0, "")

    if module in {agent, agentic_graph}:
        done = run(**settings, LLM_PROVIDER="offline")
        assert done.returncode == 1
        assert "set LLM_API_KEY" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_agent_asks_the_handbook_and_answers(services, groq, capsys):
    groq.replies[:] = [Reply(tool_call=CALL), Reply(ANSWER), Reply("GST is 9 % [1].")]
    agent.main(services, first_model(services.settings), QUESTION)

    assert (
        capsys.readouterr().out
        == "GST is 9 % [1].\n[1] GST Guide 'The rate of GST on imports into Singapore is 9 %.'\n"
    )


def test_the_agentic_graph_searches_again_and_shows_only_what_is_verified(services, groq, capsys):
    groq.replies[:] = [Reply("No."), Reply("import tax Singapore"), Reply("It is 9 % [1].")]
    agentic_graph.main(services, first_model(services.settings), QUESTION)

    assert capsys.readouterr().out == (
        "search: 1\nreword: ['import tax Singapore']\nsearch: 1\nanswer: done\nverify: done\nIt is 9 % [1].\n"
        "[1] GST Guide 'The rate of GST on imports into Singapore is 9 %.'\n"
    )
    groq.replies[:] = [Reply("Yes"), Reply("It is 12 % [1].")]
    agentic_graph.main(services, first_model(services.settings), QUESTION)

    assert capsys.readouterr().out.endswith(f"verify: done\n{prompts.load('decline')}\n")


@pytest.mark.parametrize(("reply", "shown"), [(ANSWER, ANSWER), ("Elephants fly.", HANDED_OVER)])
def test_the_graph_answers_or_hands_over(services, groq, capsys, reply, shown):
    groq.replies[:] = [Reply(reply)]
    graph.main(services, QUESTION)

    assert capsys.readouterr().out == f"{shown}\n"


def test_the_graph_keeps_the_conversation_and_cites(services, groq, capsys):
    message_graph.main(services, [QUESTION, "And since when?"])

    assert capsys.readouterr().out.count(f"{ANSWER}\n  cites GST Guide ") == 2


def test_langgraph_s_configuration_names_the_graph():
    folder = Path(examples.__path__[0]) / "langgraph"
    path, name = json.loads((folder / "langgraph.json").read_text())["graphs"]["waypoint"].split(":")

    assert f"{name} = chains.build_graph(" in (folder / path).read_text()


def test_the_tutorial_s_documents_are_cited_by_their_files(services, groq, capsys, tmp_path):
    (tmp_path / "gst.md").write_text("The rate of GST on imports into Singapore is 9 %.")
    groq.replies[:] = [Reply("The rate of GST on imports into Singapore is 9 % [1].")]
    tutorial_documents.main(tmp_path, services.index.embeddings, services.answerer.model(), QUESTION)

    assert capsys.readouterr().out == "The rate of GST on imports into Singapore is 9 % [gst.md]. ['gst.md']\n"


def test_the_table_of_rates_is_a_retriever(services, capsys):
    own_retriever.main(services.answerer.model(), QUESTION)

    assert capsys.readouterr().out == f"{ANSWER} ['singapore']\n"


def test_a_stage_puts_its_field_into_the_answer(services, capsys):
    own_stage.main(services, QUESTION)

    told = capsys.readouterr().out
    assert told.startswith(f"{ANSWER} ['unknown'")
    assert "'newest_first', 'context'" in told


def test_a_model_of_ones_own_quotes(services, capsys):
    own_model.main(services.answerer.retriever, QUESTION)

    assert "The rate of GST on imports into Singapore is 9 % [GST Guide > Rate]." in capsys.readouterr().out


def test_a_file_of_questions_becomes_a_file_of_answers(services, capsys, tmp_path):
    source, target = tmp_path / "questions.csv", tmp_path / "answers.csv"
    source.write_text(f'question\n"{QUESTION}"\n" "\n', encoding="utf-8")
    batch_csv.main(services, source, target)

    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["outcome"], row["answer"]) for row in rows] == [("answered", ANSWER), ("QuestionError", "")]
    assert "2 of 2: " in capsys.readouterr().out


def test_the_remote_chain_streams(url, capsys):
    remote_runnable.main(url, QUESTION)

    assert capsys.readouterr().out.startswith(f"{ANSWER}\nconfidence: ")


def test_openais_client_prints_the_links(url, groq, capsys):
    groq.replies[:] = [Reply("It is 9 % [1].")]
    openai_client.main(url, QUESTION)

    assert capsys.readouterr().out.splitlines()[-1] == "link: https://example.org/gst"


def test_the_client_of_responses_prints_words_and_quotes(url, groq, capsys):
    groq.replies[:] = [Reply("It is 9 % [1].")]
    responses_client.main(url, QUESTION)

    words, *_, last = capsys.readouterr().out.splitlines()
    assert words == "It is 9 % [1]."
    assert last == "https://example.org/gst 'The rate of GST on imports into Singapore is 9 %.'"


async def test_the_protocols_client_asks_and_lists(url, capsys):
    await mcp_client.main(url, QUESTION)

    assert capsys.readouterr().out == ("tools: ['ask', 'search']\nanswer: It is 9 % [1].\ndocuments: ['GST Guide']\n")


def test_the_prompts_of_a_university_answer_over_chat(groq, tmp_path):
    groq.replies[:] = [Reply("It is 9 % [1].")]
    with served(create_app(small_services(tmp_path, groq, prompts_path=MARP))) as url:
        told = httpx.post(f"{url}/chat", json={"query": QUESTION}).json()

    assert "Manual of Academic Regulations" in groq.requests[0]["messages"][0]["content"]
    assert (told["answer"], len(told["citations"])) == ("It is 9 % [1].", 1)


def test_the_prompts_of_a_university_replace_packaged_ones_and_keep_their_declines():
    own = {file.stem: file.read_text(encoding="utf-8") for file in MARP.iterdir()}

    assert own.keys() < prompts.texts().keys()
    assert own["system_numbered"].count("{context}") == 1
    assert is_decline("I don't have specific information about that in the MARP documents I can see.", [])


@pytest.mark.parametrize(("floor", "missed"), [("document hit@1=1", 0), ("document hit@1=2", 1)])
def test_an_evaluation_tells_what_is_under_its_floor(services, tmp_path, capsys, floor, missed):
    case: dict[str, Any] = {
        "id": "q1",
        "question": QUESTION,
        "kind": "answerable",
        "gold": [{"doc_id": "01_regulatory_gst", "section": "Rate", "evidence": "9 %"}],
        "answer_facts": ["9 %"],
    }
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(case), encoding="utf-8")

    assert evaluation_in_ci.main(services.chain, file, [floor]) == missed
    assert f"1 questions, {missed} floors missed" in capsys.readouterr().out
