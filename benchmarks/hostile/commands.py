"""Commands and settings that cannot work: an exit code and a sentence, no traceback."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from app.settings import SettingsError, fields, load_settings
from benchmarks.hostile.trying import QUESTION, Tried, index
from benchmarks.processes import PROGRAM, environment

LIMIT_S = 120
CODES = {0, 1, 2}


@dataclass(frozen=True)
class Case:
    """Words of a command line, what the environment holds, and where its output goes."""

    words: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    output: str = ""


def attack(folder: Path) -> list[Tried]:
    """Run commands that cannot work over a small index, two at a time."""
    index(folder)
    means = "exit code 0, 1 or 2 within two minutes; no traceback, no raw control characters"
    return [Tried("command-line cases", means, _held(folder))]


def _held(folder: Path) -> Iterator[tuple[str, bool]]:
    tried = cases(folder)
    with ThreadPoolExecutor(2) as threads:
        for case, (code, told) in zip(tried, threads.map(lambda case: run(case, folder), tried), strict=True):
            is_told = b"Traceback" in told or b"\x1b[2J" in told
            yield f"{case.words} {case.environment} {case.output}"[:200], code in CODES and not is_told


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
        Case(("ask", ask), {"VECTOR_STORE_TYPE": "memory", "CHROMA_PATH": str(bad / "garbage")}),
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


NUMBERS = ("x", "nan", "inf", "-1", "1e999", "9" * 400, "0x10", "1,5")
WORDS = ("maybe", "2", "\u202e", "secret-word")
ADDRESSES = (
    *("amqp://", "http://", "redis://user:hushed@host:port/0", "htps://user:hushed@host", "user:hushed@host"),
    *("https://user:hushed@[host", "//user:hushed@host", "http://user:hushed@host:99999/"),
)
# What a setting is given, by a part of its name or of its type.
VALUES = {"url": ADDRESSES, "int": NUMBERS, "float": NUMBERS, "bool": WORDS, "Literal": WORDS}


def _settings() -> Iterator[tuple[str, str]]:
    for name, setting in fields().items():
        kind = "url" if "url" in name else str(setting.annotation)
        values = next((values for part, values in VALUES.items() if part in kind), ())
        yield from ((name, value) for value in values)


def attack_settings(folder: Path) -> list[Tried]:
    """Load each from a file; it is refused by its name or taken, and nothing else."""
    cases = ((f"{name.upper()}={value[:40]}", _is_refused(folder / ".env", name, value)) for name, value in _settings())
    return [Tried("settings", "refused by name, or taken; no traceback, no password shown", cases)]


def _is_refused(file: Path, name: str, value: str) -> bool:
    file.write_text(f"{name.upper()}={value}\n", encoding="utf-8")
    try:
        load_settings(_env_file=file)
    except SettingsError as error:
        return name.upper() in str(error) and "hushed" not in str(error)
    except Exception:  # Anything else is a traceback to the operator.
        return False
    return True
