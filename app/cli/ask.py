"""`waypoint ask`: one answer; `waypoint chat`: a conversation on a terminal or from a pipe."""

import gc
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.ingest import read_settings, service_to_ask
from app.cli.rendering import answer_facts, answer_text, answer_words, as_json, complain, show, show_stream
from app.edge import cited_name, conversation_markdown, matched, one_line_verdict
from app.observability.logs import escaped
from chains.errors import WaypointError
from chains.question import check_question, question_with
from chains.state import Answer

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable
    from prompt_toolkit import PromptSession


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
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
    text = check_question(question)
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
        from app.ledger.private_files import write_atomically

        certificate = hooks.wing("knowledge.certificate:certificate")(answer, service.index)
        write_atomically(proof, as_json(certificate) + "\n")
        complain(f"The proof is in {proof}. Check it: waypoint verify {proof} --documents FOLDER")


PROMPT = "> "
WELCOME = "Ask a question, or /help for the commands. exit or Ctrl-D ends."
STOPPED = "\n(stopped)\n"
NOTHING_YET = "Nothing has been answered yet."
LEAVING = {"exit", "quit"}
COMMANDS = {
    "/why": "/why: show the citations, sources, confidence and model of the last answer",
    "/sources": "/sources [N]: show the quotes behind citation N, or the whole answer",
    "/new": "/new: start a new conversation",
    "/save": "/save FILE.md: save the conversation to a file",
    "/help": "/help: show this list",
    "/quit": "/quit: quit (or exit, or Ctrl-D); Ctrl-C stops an answer",
}


class Conversation:
    """Asks the chain, remembers the conversation, and runs commands that begin with a slash."""

    def __init__(self, chain: "Runnable[Any, Any]") -> None:
        self._chain = chain
        self.answers: list[Answer] = []
        self.ended = False

    def handle(self, line: str) -> None:
        """Run a command, or ask a question and show its answer; errors are shown, and the conversation goes on."""
        text = line.strip()
        if not text:
            return
        try:
            if text.casefold() in LEAVING:
                self.ended = True
            elif text.startswith("/"):
                try:
                    name, *words = shlex.split(text)
                except ValueError:  # An unclosed quotation mark.
                    name, *words = text.split()
                self._run(name, words)
            else:
                self._ask(check_question(text))
        except (WaypointError, OSError) as error:
            complain(f"waypoint: {error}")

    def _run(self, name: str, words: list[str]) -> None:
        match name:
            case "/help":
                show("\n".join([*COMMANDS.values(), "Alt-Enter starts a new line."]))
            case "/quit":
                self.ended = True
            case "/new":
                self.answers.clear()
                show("New conversation.")
            case "/save" if len(words) == 1:
                Path(words[0]).expanduser().write_text(conversation_markdown(self.answers), encoding="utf-8")
                show(f"Saved to {words[0]}.")
            case "/save":
                complain("Give one file name, like /save answers.md.")
            case "/why" | "/sources" if not self.answers:
                complain(NOTHING_YET)
            case "/why":
                show_stream(answer_facts(self.answers[-1]))
            case "/sources":
                self._sources(words)
            case _:
                complain(f"Unknown command {name!r}; /help lists the commands.")

    def _ask(self, question: str) -> None:
        """Stream the answer; Ctrl-C stops it, and it is then not part of the conversation."""
        history = [
            {"role": role, "content": text}
            for answer in self.answers
            for role, text in (("user", answer["question"]), ("assistant", answer["answer"]))
        ]
        parts: list[Mapping[str, Any]] = []
        stream = self._chain.stream({"question": question, "history": history})
        try:
            show_stream(answer_words(stream, parts))
        except KeyboardInterrupt:
            show(STOPPED)
            return
        finally:
            stream.close()  # type: ignore[attr-defined]
        from chains.output import merge

        self.answers.append(merge(parts))
        if line := one_line_verdict(self.answers[-1]):
            show(f"{line} · /why for more\n")

    def _sources(self, words: list[str]) -> None:
        sources: dict[str, None] = {}
        for citation in matched(self.answers[-1]["citations"]):
            if not words or str(citation["number"]) == words[0].strip("[]"):
                number = f"[{citation['number']}] " if citation["number"] else ""
                lines = [f"{number}{escaped(cited_name(citation))}", f"  {citation['quote']}", *citation["source_urls"]]
                sources["\n".join(lines)] = None
        if not sources:
            complain(f"The last answer has no source {' '.join(words)}".rstrip() + ".")
        for text in sources:
            show(text)


def chat() -> None:
    """Answer questions in a conversation; each may refer to earlier ones."""
    services = service_to_ask(logs_answers=True)
    conversation = Conversation(services.chain)
    if not sys.stdin.isatty():
        talk(conversation, (line for line in sys.stdin))
        return
    show(WELCOME)
    session = prompt_session(list(COMMANDS))
    talk(conversation, typed(lambda: session.prompt(PROMPT)))


def talk(conversation: Conversation, lines: Iterable[str]) -> None:
    for line in lines:
        conversation.handle(line)
        if conversation.ended:
            return


def typed(read: Callable[[], str]) -> Iterator[str]:
    """Yield typed lines until Ctrl-D; Ctrl-C discards the current line."""
    while True:
        try:
            yield read()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def prompt_session(commands: list[str]) -> "PromptSession[str]":
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return PromptSession(
        completer=WordCompleter(commands, sentence=True), key_bindings=keys, complete_while_typing=False
    )
