"""A stage of one's own: the newest passages first, and a field of its own in the answer."""

from typing import Any

import chains
from app.wiring import Service
from chains.stage import stage
from chains.state import Passage
from examples import services


def newest_first(state: dict[str, Any]) -> list[Passage]:
    """Return the passages in the order of their documents' dates."""
    return sorted(state["documents"], key=lambda one: str(one["metadata"].get("last_updated") or ""), reverse=True)


def dates(state: dict[str, Any]) -> list[str]:
    """Return when the documents were last updated."""
    return [str(one["metadata"].get("last_updated") or "unknown") for one in state["documents"]]


def main(services: Service, question: str) -> None:
    """Print the answer and the dates of what it was written from."""
    chain = chains.build_chain(
        retriever=services.answerer.retriever,
        model=services.answerer.model(),
        stages={"retrieval": stage("newest_first", documents=newest_first), "confidence": stage("dating", dates=dates)},
    )
    answer: Any = chain.invoke({"question": question})
    print(answer["answer"], answer["dates"], list(answer["metadata"]["timings_ms"]))


if __name__ == "__main__":
    main(services(), "What is the rate of GST on imports into Singapore?")
