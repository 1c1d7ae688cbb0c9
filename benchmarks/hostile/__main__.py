"""Try everything hostile, print what held and what did not, and keep the table of docs/security.md: `make hostile`."""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from app.observability.logs import configure_logs
from benchmarks.figures import write_figures
from benchmarks.hostile import audience
from benchmarks.hostile.commands import try_commands
from benchmarks.hostile.files import try_files
from benchmarks.hostile.replies import try_replies
from benchmarks.hostile.requests import try_requests
from benchmarks.hostile.settings import try_settings
from benchmarks.hostile.stack import try_stack
from benchmarks.hostile.tried import Tried
from tests.access import settings_over, write_corpus
from tests.processes import ROOT, service

ALONE = {"LLM_PROVIDER": "offline", "SCOPE_ENABLED": "false", "LOG_LEVEL": "error", "RATE_LIMIT": "off"}


def main() -> None:
    """Run the parts that are asked for, by default all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; by default all")
    configure_logs("critical")
    chosen = parser.parse_args().parts or list(PARTS)
    tried: list[Tried] = []
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            found = PARTS[name](Path(folder))
            for each in found:
                print(f"{each.kind}: {each.count - len(each.failed)} of {each.count} held", flush=True)
            print(f"  {name}: {time.perf_counter() - started:.0f} s", flush=True)
            tried += found
    print(json.dumps({each.kind: each.failed for each in tried if each.failed}, indent=2))
    if chosen == list(PARTS):
        write_figures("hostile", {"rows": [each.row() for each in tried]})
    sys.exit(any(each.failed for each in tried))


def requests(folder: Path) -> list[Tried]:
    """Send malformed requests to one process over a small index."""
    write_corpus(folder)
    with service(folder, CHROMA_PATH=str(folder / "store"), RELEVANCE_THRESHOLD="0", **ALONE) as running:
        return [asyncio.run(try_requests(running.url))]


def strangers(folder: Path) -> list[Tried]:
    """Ask for internal documents as a stranger."""
    from app.wiring import Services  # noqa: PLC0415 - the parts that start processes only need not wait for it.

    corpus = folder / "corpus"
    audience.write_corpus(corpus)
    staff = Services(settings_over(folder, "http://127.0.0.1:1", llm_provider="offline", llm_api_key=None))
    staff.ingest([corpus])
    known = [staff.chain.invoke({"question": audience.question(number)}) for number in range(len(audience.INTERNAL))]
    if not all("hushed" in json.dumps(answer, default=str) for answer in known):
        sys.exit("The staff does not see all that strangers must not see: the probes would show nothing.")
    options = {"CHROMA_PATH": str(folder / "store"), "RELEVANCE_THRESHOLD": "0", "ALLOW_ANONYMOUS": "true"}
    with service(folder, **options, **ALONE) as running:
        return [audience.try_audience(running.url)]


def files(folder: Path) -> list[Tried]:
    """Ingest hostile files."""
    environment = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "HOME": str(Path.home()), "LOG_LEVEL": "error"}
    return [try_files(folder, environment)]


def commands(folder: Path) -> list[Tried]:
    """Run commands that cannot work, over a small index."""
    write_corpus(folder)
    return [try_commands(folder)]


PARTS: dict[str, Callable[[Path], list[Tried]]] = {
    "requests": requests,
    "audience": strangers,
    "files": files,
    "settings": lambda _: [try_settings()],
    "commands": commands,
    "replies": lambda folder: [try_replies(folder)],
    "stack": try_stack,
}

if __name__ == "__main__":
    main()
