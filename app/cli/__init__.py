"""The command line: one file per command.

Exit codes: 0 done; 1 the work failed; 2 bad usage or settings.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated

import typer

from app import hooks
from app.cli.ask import ask
from app.cli.chat import chat
from app.cli.copy import copy
from app.cli.doctor import doctor
from app.cli.evaluate import evaluate
from app.cli.ingest import ingest
from app.cli.init import init
from app.cli.rendering import complain, show
from app.cli.serve import serve
from app.settings import SettingsError
from chains.errors import ConfigurationError, IngestionError, QuestionError, WaypointError

FAILED, BAD_USAGE = 1, 2

app = typer.Typer(
    name="waypoint",
    help="Answer questions from your own documents, with citations that can be checked.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: dict[str, Callable[..., None]] = {
    "ask": ask,
    "init": init,
    "ingest": ingest,
    "serve": serve,
    "chat": chat,
    "eval": evaluate,
    "doctor": doctor,
    "copy": copy,
}
for name in hooks.names("commands"):
    with suppress(hooks.LeftOutError):
        COMMANDS[name] = hooks.load("commands", name)
for name, command in COMMANDS.items():
    app.command(name=name)(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        show(f"waypoint {version('waypoint-copilot')}")
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
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # Not every terminal supports UTF-8.
    with _errors_reported():
        try:
            app(prog_name="waypoint")
        finally:
            sys.stdout.flush()  # Without this, a failed write becomes a traceback when the interpreter exits.


@contextmanager
def _errors_reported() -> Iterator[None]:
    try:
        yield
    except (SettingsError, ConfigurationError, IngestionError, QuestionError) as error:
        _fail(error, BAD_USAGE)
    except BrokenPipeError:
        _fail(None, FAILED)
    except (WaypointError, OSError) as error:
        _fail(error, FAILED)


def _fail(reason: Exception | None, code: int) -> None:
    if reason is not None:
        complain(f"waypoint: {reason}")
    if isinstance(reason, OSError) or reason is None:
        with suppress(OSError):  # Otherwise the interpreter tries to flush again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
