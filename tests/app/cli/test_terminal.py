"""`waypoint chat` as a process of its own on a pseudo-terminal, by the keys of a user."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)

import pty

from tests.served import small_services

ROOT = Path(__file__).parents[3]
PROGRAM = "from app.cli import main; main()"
# prompt_toolkit switches pasting to brackets on as soon as it reads keys.
READS_KEYS = b"\x1b[?2004h"
# A bound for each wait for what never comes; a busy machine needs a few seconds.
LIMIT_S = 90.0


class Terminal:
    """A program on a pseudo-terminal: keys go in, and what is printed is waited for."""

    def __init__(self, folder: Path, *words: str, **variables: str) -> None:
        self._screen, keyboard = pty.openpty()
        plain = {"PATH": os.defpath, "HOME": str(folder), "PYTHONPATH": str(ROOT), "TERM": "xterm"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            cwd=folder,
            env=plain | {"PROMPT_TOOLKIT_NO_CPR": "1"} | variables,
            stdin=keyboard,
            stdout=keyboard,
            stderr=keyboard,
            start_new_session=True,  # Keys are the program's, not the tests'.
        )
        os.close(keyboard)
        self._printed = b""

    def press(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def wait_for(self, wanted: bytes) -> None:
        """Read up to the wanted bytes; the next wait goes on behind them."""
        while wanted not in self._printed:
            readable, _, _ = select.select([self._screen], [], [], LIMIT_S)
            assert readable, f"no {wanted!r} within {LIMIT_S:g} s after {self._printed!r}"
            self._printed += self._read()
        self._printed = self._printed.partition(wanted)[2]

    def _read(self) -> bytes:
        try:
            return os.read(self._screen, 4096)
        except OSError as error:  # The program has ended, and closed its side.
            message = f"the program ended after {self._printed!r}"
            raise AssertionError(message) from error

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._screen)


@pytest.fixture
def terminal(tmp_path, groq) -> Iterator[Terminal]:
    services = small_services(tmp_path, groq, llm_provider="offline")
    variables = {"CHROMA_PATH": str(services.settings.chroma.path), "SCOPE_FILE": "off", "LLM_PROVIDER": "offline"}
    terminal = Terminal(tmp_path, "chat", **variables)
    yield terminal
    terminal.close()


def test_chat_on_a_terminal_answers_shows_the_source_and_ends_at_ctrl_d(terminal):
    terminal.wait_for(b"Ctrl-D ends.")
    terminal.wait_for(READS_KEYS)
    terminal.press("dropped at Ctrl-C\x03")
    terminal.wait_for(READS_KEYS)
    terminal.press("What is the GST rate on imports into Singapore?\r")
    terminal.wait_for(b"The rate of GST on imports into Singapore is 9 %.")
    terminal.wait_for(READS_KEYS)
    terminal.press("/sources 1\r")
    terminal.wait_for(b"The rate of GST on imports into Singapore is 9 %.")
    terminal.wait_for(READS_KEYS)
    terminal.press("\x04")

    assert terminal.process.wait(LIMIT_S) == 0
