"""Versions of one title are told by the whole index, also where a question finds only one of them."""

from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig

from app.wiring import Service
from benchmarks.offline import offline
from chains.state import Question
from tests.corpora import write_documents

HANDBOOKS = {
    "public/allowances.md": "# Allowances 2023\n\nThe bicycle allowance is 30 euro a month.\n",
    "public/allowances_new.md": "# Allowances 2025\n\nThe train allowance is 90 euro a month.\n",
    "public/fees.md": "# Fees\n\nA day ticket costs 4 euro.\n",
    "internal/fees.md": "---\naudience: internal\n---\n# Fees\n\nThe staff canteen costs 3 euro.\n",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    folder: Path = tmp_path_factory.mktemp("handbooks")
    return offline(folder, write_documents(folder / "docs", HANDBOOKS))


def cited(service: Service, question: str, audience: str = "internal") -> list[str | None]:
    config = RunnableConfig(configurable={"audience": audience})
    return [one["title"] for one in service.chain.invoke(Question(question=question, top_k=1), config)["citations"]]


def test_an_older_version_says_so_where_the_version_in_force_is_silent(service):
    assert cited(service, "What is the bicycle allowance?") == ["Allowances 2023 (older version)"]


def test_titles_are_told_apart_by_the_documents_that_the_asker_may_see(service):
    assert cited(service, "What does a day ticket cost?") == ["Fees (public_fees)"]
    assert cited(service, "What does a day ticket cost?", "public") == ["Fees"]


def test_the_list_of_documents_has_the_titles_that_answers_cite(service):
    catalogue = service.index.library.catalogue("internal")
    assert catalogue.title("public_allowances") == "Allowances 2023 (older version)"
    assert service.index.library.catalogue("public").title("public_fees") == "Fees"


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Which documents do you have?", ["Allowances 2025", "Fees", "Allowances 2023 (older version)"]),
        ("Please summarise the allowances", ["Allowances 2025"]),
        ("What changed between the allowances of 2023 and 2025?", ["Allowances 2023", "Allowances 2025"]),
    ],
)
def test_a_question_about_whole_documents_is_given_those_and_no_other(service, question, titles):
    found = service.chain.invoke(Question(question=question), RunnableConfig(configurable={"audience": "public"}))
    assert sorted(one["metadata"]["title"].removesuffix(" (older version)") for one in found["documents"]) == sorted(
        title.removesuffix(" (older version)") for title in titles
    )
    assert found["outcome"] == "answered"
