"""`waypoint ask`: one answer."""

import gc
from typing import Annotated

import typer

from app.cli.ingest import open_services, read_settings
from app.cli.rendering import answer_text, as_json, complain, show
from app.settings import Settings
from chains.question import check_question
from chains.state import Question


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="Print the whole answer object.")] = False,
    top_k: Annotated[int | None, typer.Option(min=1, max=100, help="Number of passages to retrieve.")] = None,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Minimum similarity of a passage.")] = None,
    language: Annotated[str | None, typer.Option(help="Language of texts that replace an answer, such as id.")] = None,
) -> None:
    """Answer one question. On an empty index the sample corpus is ingested first."""
    gc.disable()  # The process lives for seconds: garbage collection would only delay the answer.
    settings = read_settings()
    asked = Question(question=check_question(question, settings.limits.question_characters))
    if top_k is not None:
        asked["top_k"] = top_k
    if threshold is not None:
        asked["threshold"] = threshold
    if language is not None:
        asked["language"] = language
    services = open_services(settings)
    if json:
        show(as_json(services.chain.invoke(asked)))
        return
    _mention_local_server(services.settings)
    for text in answer_text(services.chain.stream(asked)):
        show(text, end="")


def _mention_local_server(settings: Settings) -> None:
    from app.wiring.llm import unused_local_server

    if provider := unused_local_server(settings):
        complain(
            f"A language model server answers on this machine: LLM_PROVIDER={provider} asks it. "
            "LLM_PROVIDER=offline hides this line."
        )
