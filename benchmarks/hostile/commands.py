"""Commands that cannot work, each in a process of its own: an exit code and a sentence, no traceback."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.hostile.trying import QUESTION, Tried, index
from benchmarks.processes import PROGRAM, environment

LIMIT_S = 120


@dataclass(frozen=True)
class Case:
    """Words of a command line, what the environment holds, and where its output goes."""

    words: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    output: str = ""


def attack(folder: Path) -> list[Tried]:
    """Run commands that cannot work over a small index, two at a time."""
    index(folder)
    tried = Tried(
        "command-line cases", "exit code 0, 1 or 2 within two minutes; no traceback, no raw control characters"
    )
    made = cases(folder)
    with ThreadPoolExecutor(2) as threads:
        for case, held in zip(made, threads.map(lambda case: _held(case, folder), made), strict=True):
            tried.add(repr((case.words, case.environment, case.output))[:160], held=held)
    return [tried]


def cases(folder: Path) -> list[Case]:
    """Return the cases; `folder` holds a small index and files that are wrong."""
    bad = _write(folder)
    questions = ("", " ", "x" * 5000, "\x1b[2J\x07", "\udce9", "\u202e\u2028", "--", "-x")
    numbers = ("0", "-1", "x", "1e9", "nan", "9" * 50)
    ask = QUESTION
    return [
        *(Case(("ask", question)) for question in questions),
        *(Case(("ask", ask, "--top-k", number)) for number in numbers),
        *(Case(("ask", ask, "--threshold", number)) for number in numbers),
        *(Case((command, "--no-such-option")) for command in ("ask", "ingest", "serve", "eval", "doctor")),
        *(Case(("ingest", name)) for name in ("/no/such", "/dev/null", "", "\udce9", str(bad / "loop"), "a\nb")),
        *(Case(("eval", str(bad / name))) for name in ("empty", "garbage", "list.jsonl", "missing")),
        *(Case(("serve", "--port", port)) for port in ("x", "-1", "99999")),
        *(Case(("serve", "--host", host)) for host in ("0.0.0.0", "nowhere.invalid", "\x1b")),  # noqa: S104 - refused.
        Case(("serve", "--workers", "0")),
        Case(("serve", "--workers", "2")),
        Case(("ask", ask), {"CHROMA_PATH": str(bad / "garbage")}),
        Case(("ask", ask), {"CHROMA_PATH": "/proc/nothing"}),
        Case(("ask", ask), {"PYTHONIOENCODING": "ascii"}),
        Case(("ask", ask), {"LLM_PROVIDER": "groq", "LLM_API_KEY": "k", "LLM_BASE_URL": "http://127.0.0.1:9"}),
        Case(("ask", ask), {"VECTOR_STORE_TYPE": "memory", "MEMORY_STORE_PATH": str(bad / "garbage")}),
        Case(("ask", ask), {"PROMPTS_PATH": str(bad)}),
        Case(("ask", ask), {"SCOPE_FILE": str(bad / "garbage")}),
        Case(("ask", ask), {"CHROMA_HOST": "127.0.0.1", "CHROMA_PORT": "9"}),
        Case(("serve",), {"PROMETHEUS_MULTIPROC_DIR": "/no/such/folder"}),
        Case(("serve",), {"AUTH_MODE": "api_key", "API_KEYS": "x"}),
        Case(("ask", ask), output="/dev/full"),
        Case(("ask", "--json", ask), output="/dev/full"),
        Case(("ingest", "--dry-run", str(folder)), output="/dev/full"),
    ]


def _write(folder: Path) -> Path:
    bad = folder / "bad"
    bad.mkdir()
    (bad / "empty").write_bytes(b"")
    (bad / "garbage").write_bytes(bytes(range(256)) * 10)
    (bad / "list.jsonl").write_text("[]\n", encoding="utf-8")
    (bad / "loop").symlink_to(bad / "loop")
    return bad


def _held(case: Case, folder: Path) -> bool:
    code, told = run(case, folder)
    return code in {0, 1, 2} and b"Traceback" not in told and b"\x1b[2J" not in told


def run(case: Case, folder: Path, *, limit_s: float = LIMIT_S) -> tuple[int | None, bytes]:
    """Return the exit code of a command, None where it does not end in time, and what it printed."""
    settings = {"LLM_PROVIDER": "offline", "CHROMA_PATH": str(folder / "store"), "HOME": str(folder)}
    settings |= {"XDG_CACHE_HOME": str(Path.home() / ".cache")} | case.environment
    output = open(case.output or os.devnull, "wb")  # noqa: SIM115 - closed below, where a full disk may complain.
    try:
        done = subprocess.run(
            [sys.executable, *PROGRAM, *case.words],
            cwd=folder,
            env=environment(**settings),
            stdin=subprocess.DEVNULL,
            stdout=output if case.output else subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=limit_s,
            check=False,
        )
    except (subprocess.TimeoutExpired, ValueError):
        return None, b""
    finally:
        output.close()
    return done.returncode, (done.stdout or b"") + done.stderr
