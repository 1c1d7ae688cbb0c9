"""The command line: one file per command, imported when it is called.

Exit codes: 0 done; 1 the work failed; 2 bad usage or settings.
"""

import os
import sys
from contextlib import suppress
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from app import hooks
from chains.errors import ConfigurationError, IngestionError, QuestionError, WaypointError

FAILED, BAD_USAGE = 1, 2
# Where each command is, and the line that `waypoint --help` shows of it.
COMMANDS = {
    "ask": ("cli.ask:ask", "Answer one question."),
    "chat": ("cli.ask:chat", "Answer questions in a conversation."),
    "copy": ("cli.ingest:copy", "Copy the index to another store, without embedding again."),
    "doctor": ("cli.doctor:doctor", "Check settings, models, store, Redis, RabbitMQ and tracing."),
    "eval": ("cli.evaluate:evaluate", "Run a question set, and print the metrics."),
    "forget": ("wings.knowledge.command:forget", "Delete a user's answers and feedback from the log of answers."),
    "ingest": ("cli.ingest:ingest", "Update the index from files, buckets and web sites."),
    "init": ("cli.init:init", "Write the first files for documents of your own."),
    "insights": ("wings.knowledge.command:insights", "Say what to write next."),
    "lint": ("wings.knowledge.command:lint", "Find contradictions, old documents and duplicates."),
    "mcp": ("wings.mcp.command:mcp", "Offer the documents to an agent over stdin and stdout."),
    "migrate": ("cli.ingest:migrate", "Create or upgrade the tables of the ledger."),
    "upgrade": ("cli.ingest:upgrade", "Bring what earlier programs kept into the ledger."),
    "recall": ("wings.knowledge.command:recall", "List the answers that rest on words which changed."),
    "serve": ("cli.serve:serve", "Serve the page and the HTTP API."),
    "test": ("wings.knowledge.testing:run_tests", "Ask the questions of *.tests.yaml files, and check the answers."),
    "verify": ("wings.knowledge.command:verify_proof", "Check the proof of an answer."),
    "why": ("wings.knowledge.command:why_not", "Say where an answer lost a document, and what brings it back."),
}


class Commands(TyperGroup):
    """The commands of COMMANDS, and those of other packages; each is imported when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return sorted({*COMMANDS, *hooks.names("commands")})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        del ctx
        if cmd_name in hooks.names("commands"):
            return _command(cmd_name, hooks.load("commands", cmd_name))
        return TyperCommand(cmd_name, short_help=COMMANDS[cmd_name][1]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, left = super().resolve_command(ctx, args)
        if name in COMMANDS:
            command = _command(name, hooks.own(COMMANDS[name][0], name))
        return name, command, left


def _command(name: str, function: Any) -> Any:
    alone = typer.Typer(add_completion=False, context_settings=NAMES_OF_HELP)
    alone.command(name)(function)
    return typer.main.get_command(alone)


NAMES_OF_HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="waypoint",
    cls=Commands,
    help="Answer questions from your own documents, with citations that can be checked.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=NAMES_OF_HELP,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"waypoint {version('waypoint-copilot')}")
        raise typer.Exit


@app.callback()
def _prepare(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    from app.observability.logs import configure_logs

    configure_logs("warning")  # Only answers go to stdout; `serve` sets its own log level.


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # Not every terminal supports UTF-8.
    try:
        try:
            app(prog_name="waypoint")
        finally:
            sys.stdout.flush()  # Without this, a failed write becomes a traceback when the interpreter exits.
    except (ConfigurationError, IngestionError, QuestionError) as error:
        _fail(error, BAD_USAGE)
    except BrokenPipeError:
        _fail(None, FAILED)
    except (WaypointError, OSError) as error:
        _fail(error, FAILED)


def _fail(reason: Exception | None, code: int) -> None:
    if reason is not None:
        from app.cli.rendering import complain

        complain(f"waypoint: {reason}")
    if isinstance(reason, OSError) or reason is None:
        with suppress(OSError):  # Otherwise the interpreter tries to flush again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
