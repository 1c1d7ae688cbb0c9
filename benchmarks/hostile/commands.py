"""Commands and settings that cannot work, and a full disk: an exit code and a sentence, no traceback."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from app.settings import SettingsError, fields, load_settings
from benchmarks.hostile.trying import DOCUMENTS, OPTIONS, QUESTION, Tried, index
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
    return [Tried("command-line cases", means, held(cases(folder), folder, b"\x1b[2J"))]


def held(cases: Sequence[Case], folder: Path, never: bytes) -> Iterator[tuple[str, bool]]:
    """Run commands, two at a time: each ends with 0, 1 or 2, and prints neither a traceback nor what it never may."""
    with ThreadPoolExecutor(2) as threads:
        for case, (code, told) in zip(cases, threads.map(lambda case: run(case, folder), cases), strict=True):
            is_told = b"Traceback" in told or never in told
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


MOUNTS = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
# A folder gets a file system of its own with the desk in it, and is filled to the last byte.
FULL = """
set -e
mount -t tmpfs -o size=24m full "$1"
cp -R "$2/." "$1"
cd "$1"
cat /dev/zero > fill 2>/dev/null || true
shift 2
exec "$@"
"""
STORES = ({"CHROMA_PATH": "store"}, {"VECTOR_STORE_TYPE": "memory", "CHROMA_PATH": "store"})
ASIDE = {"room for temporary files": "", "no room at all": "tmp"}


def attack_disk(folder: Path) -> list[Tried]:
    """Ask, and ingest, on a full disk; nothing is tried where no file system can be mounted."""
    cases = _on_full_disks(folder) if can_mount() else ()
    means = "questions are answered; ingestion exits with 1 and names the disk"
    return [Tried("commands on a full disk", means, cases)]


def _on_full_disks(folder: Path) -> Iterator[tuple[str, bool]]:
    for number, (store, name) in enumerate(product(STORES, ASIDE)):
        desk = Desk(folder / f"{number}", OPTIONS | {"MIN_CHUNKS": "0"} | store, DOCUMENTS)
        asked, ingested = (desk.run(*words, aside=ASIDE[name]) for words in (("ask", QUESTION), ("ingest", "docs")))
        yield f"ask: {store}, {name}", asked.returncode == 0 and "5 %" in asked.stdout
        says = ingested.returncode == 1 and "disk" in ingested.stderr and "Traceback" not in ingested.stderr
        yield f"ingest: {store}, {name}", says


def can_mount() -> bool:
    """Say whether this user may mount a file system that only its own processes see."""
    command = [*MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(command, capture_output=True, check=False).returncode == 0


class Desk:
    """A folder with documents and their index, whose commands run on a full disk; a document waits to be ingested."""

    def __init__(self, folder: Path, settings: Mapping[str, str], documents: Mapping[str, str]) -> None:
        self.folder, self.full = folder / "desk", folder / "full"
        self.full.mkdir(parents=True)
        (self.folder / "tmp").mkdir(parents=True)
        self._environment = environment(**settings)
        for name, text in documents.items():
            self._write(name, text)
        command = [sys.executable, *PROGRAM, "ingest", "docs"]
        subprocess.run(command, cwd=self.folder, env=self._environment, check=True, capture_output=True)
        self._write("new.md", "# New\n\nNobody has read this.\n" * 1000)

    def run(self, *words: str, aside: str) -> "subprocess.CompletedProcess[str]":
        """Run a command; temporary files go to the usual place, or to a folder of the full disk."""
        command = [*MOUNTS, "sh", "-c", FULL, "sh", str(self.full), str(self.folder), sys.executable, *PROGRAM, *words]
        variables = self._environment | ({"TMPDIR": str(self.full / aside)} if aside else {})
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
