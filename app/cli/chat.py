"""`waypoint chat`: a conversation on a terminal or from a pipe."""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable

from app.cli.ingest import service_to_ask
from app.cli.rendering import answer_facts, answer_words, complain, show, show_stream
from app.edge import cited_name, conversation_markdown, matched, one_line_verdict
from app.observability.logs import escaped
from chains.errors import WaypointError
from chains.output import merge
from chains.question import QUESTION_MAX_CHARACTERS, check_question
from chains.state import Answer

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

PROMPT = "> "
WELCOME = "Ask a question, or /help for the commands. exit or Ctrl-D ends."
STOPPED = "\n(stopped)\n"
NOTHING_YET = "Nothing has been answered yet."
LEAVING = {"exit", "quit"}


class Conversation:
    """Asks the chain, remembers the conversation, and runs commands that begin with a slash."""

    def __init__(self, chain: Runnable[Any, Any], *, most_characters: int = QUESTION_MAX_CHARACTERS) -> None:
        self._chain = chain
        self._most_characters = most_characters
        self.answers: list[Answer] = []
        self.ended = False
        self.commands: Mapping[str, tuple[Callable[[list[str]], None], str]] = {
            "/why": (self._why, "/why: show the citations, sources, confidence and model of the last answer"),
            "/sources": (self._sources, "/sources [N]: show the quotes behind citation N, or the whole answer"),
            "/new": (self._new, "/new: start a new conversation"),
            "/save": (self._save, "/save FILE.md: save the conversation to a file"),
            "/help": (self._help, "/help: show this list"),
            "/quit": (self._quit, "/quit: quit (or exit, or Ctrl-D); Ctrl-C stops an answer"),
        }

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
                if name in self.commands:
                    self.commands[name][0](words)
                else:
                    complain(f"Unknown command {name!r}; /help lists the commands.")
            else:
                self._ask(check_question(text, self._most_characters))
        except (WaypointError, OSError) as error:
            complain(f"waypoint: {error}")

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
        self.answers.append(merge(parts))
        if line := one_line_verdict(self.answers[-1]):
            show(f"{line} · /why for more\n")

    def _why(self, words: list[str]) -> None:
        if self.answers:
            show_stream(answer_facts(self.answers[-1]))
        else:
            complain(NOTHING_YET)

    def _sources(self, words: list[str]) -> None:
        if not self.answers:
            complain(NOTHING_YET)
            return
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

    def _new(self, words: list[str]) -> None:
        self.answers.clear()
        show("New conversation.")

    def _save(self, words: list[str]) -> None:
        if len(words) != 1:
            complain("Give one file name, like /save answers.md.")
            return
        Path(words[0]).expanduser().write_text(conversation_markdown(self.answers), encoding="utf-8")
        show(f"Saved to {words[0]}.")

    def _help(self, words: list[str]) -> None:
        show("\n".join([*(line for _, line in self.commands.values()), "Alt-Enter starts a new line."]))

    def _quit(self, words: list[str]) -> None:
        self.ended = True


def chat() -> None:
    """Answer questions in a conversation; each may refer to earlier ones."""
    services = service_to_ask(logs_answers=True)
    conversation = Conversation(services.chain, most_characters=services.settings.web.question_characters)
    if not sys.stdin.isatty():
        talk(conversation, (line for line in sys.stdin))
        return
    show(WELCOME)
    session = prompt_session(list(conversation.commands))
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
