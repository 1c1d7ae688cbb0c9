"""`waypoint ask`: one answer."""

import gc
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.ingest import read_settings, service_to_ask
from app.cli.rendering import answer_text, as_json, complain, show, show_stream
from chains.question import check_question, question_with


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="Print the whole answer object.")] = False,
    top_k: Annotated[int | None, typer.Option(min=1, max=100, help="Number of passages to retrieve.")] = None,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Minimum similarity of a passage.")] = None,
    language: Annotated[str | None, typer.Option(help="Language of texts that replace an answer, such as id.")] = None,
    proof: Annotated[
        Path | None, typer.Option(dir_okay=False, help="File for the answer's proof, which `waypoint verify` checks.")
    ] = None,
) -> None:
    """Answer one question. Where you have set up no documents of yours, the sample corpus answers."""
    gc.disable()  # The process lives for seconds: garbage collection would only delay the answer.
    settings = read_settings()
    text = check_question(question, settings.web.question_characters)
    question_fields = question_with(text, top_k=top_k, threshold=threshold, language=language)
    service = service_to_ask(settings, logs_answers=True)
    if json:
        answer = service.chain.invoke(question_fields)
        show(as_json(answer))
    else:
        from app.wiring.llm import unused_local_server
        from chains.output import merge

        if provider := unused_local_server(service.settings):
            complain(
                f"A language model server answers on this machine: LLM_PROVIDER={provider} asks it. "
                "LLM_PROVIDER=offline hides this line."
            )
        parts: list[Any] = []
        show_stream(answer_text(service.chain.stream(question_fields), parts))
        answer = merge(parts)
    if proof is not None:
        from app import hooks
        from app.adapters.private_files import write_atomically

        certificate = hooks.wing("knowledge.certificate:certificate")(answer, service.index)
        write_atomically(proof, as_json(certificate) + "\n")
        complain(f"The proof is in {proof}. Check it: waypoint verify {proof} --documents FOLDER")
