"""Count the files, functions and calls of one question, as JSON and as a stream: `python -m benchmarks.hops`.

Python tells a profiling function of every call; those in `app`, `chains` and `prompts` count. The question is asked
through the HTTP application, of a language model on loopback, after another one that loads what is loaded once.
"""

import argparse
import asyncio
import importlib
import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

PACKAGES = ("app", "chains", "prompts")
QUESTION = "What is the GST rate on imports into Singapore?"
GUIDE = "---\ntitle: GST Guide\n---\n\n# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n"
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "json": ("/api/query", {"query": QUESTION}),
    "streamed": ("/copilot/stream", {"input": {"question": QUESTION}}),
}


class Counter:
    """Counts calls of this project's functions while it is on."""

    def __init__(self, root: Path) -> None:
        self._folders = tuple(f"{root / name}/" for name in PACKAGES)
        self._on = False
        self.calls = 0
        self.functions: set[tuple[str, int]] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call; threads call this as well."""
        code = frame.f_code
        if self._on and event == "call" and code.co_filename.startswith(self._folders):
            self.calls += 1
            self.functions.add((code.co_filename, code.co_firstlineno))

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count from zero while the body runs."""
        self.calls, self.functions, self._on = 0, set(), True
        yield
        self._on = False

    def found(self) -> dict[str, int]:
        """Return what was counted."""
        files = {name for name, _ in self.functions}
        return {"files": len(files), "functions": len(self.functions), "calls": self.calls}


def main() -> None:
    """Print the counts as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("provider", help="the address of the language model, as `benchmarks.load.provider` prints it")
    parser.add_argument("--checkout", type=Path, default=Path.cwd(), help="where the code is that runs")
    given = parser.parse_args()
    root = given.checkout.resolve()
    sys.path.insert(0, str(root))
    print(json.dumps(asyncio.run(count(root, given.provider))))


async def count(root: Path, provider: str) -> dict[str, dict[str, int]]:
    """Return files, functions and calls of a question, by how it is asked."""
    counter = Counter(root)
    threading.setprofile(counter)
    sys.setprofile(counter)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        transport = httpx.ASGITransport(application(Path(folder), provider))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
            for name, (path, body) in ASKED.items():
                (await client.post(path, json=body)).raise_for_status()
                with counter.counting():
                    (await client.post(path, json=body)).raise_for_status()
                found[name] = counter.found()
    sys.setprofile(None)
    return found


def application(folder: Path, provider: str) -> Any:
    """Return the HTTP application over one document; older commits have it in another place."""
    settings, wiring = importlib.import_module("app.settings"), importlib.import_module("app.wiring")
    try:
        server = importlib.import_module("app.http.server")
    except ModuleNotFoundError:
        server = importlib.import_module("app.server")
    guide = folder / "01_regulatory" / "gst.md"
    guide.parent.mkdir()
    guide.write_text(GUIDE, encoding="utf-8")
    options = {"llm_api_key": "gsk_hops", "llm_base_url": provider, "chroma_path": folder / "store", "min_chunks": 0}
    services = wiring.Services(settings.load_settings(_env_file=None, **options))
    services.ingest([folder])
    return server.create_app(services)


if __name__ == "__main__":
    main()
