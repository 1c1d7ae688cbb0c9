"""Compare the vectors of the two embedding backends: run by `make parity`, in an environment with torch.

Prints the least cosine similarity of any text's two vectors, and fails below 0.99999.
"""

import sys
from pathlib import Path

import numpy as np

from app.adapters.embeddings.huggingface import torch_embeddings
from app.adapters.embeddings.onnx import OnnxEmbeddings
from app.adapters.embeddings.onnx.weights import MODEL
from app.wiring import sample_corpus
from chains.ingestion.chunks import Chunker

LEAST_COSINE = 0.99999


def texts(corpus: Path) -> list[str]:
    """Return texts of many lengths: a word, questions, the corpus in chunks, and one far too long."""
    files = sorted(corpus.glob("*/*.md"))[:6]
    chunks = [chunk.text for file in files for chunk in Chunker().split_markdown(file.read_text(encoding="utf-8"))]
    odd = ["", "GST", "Which permits for cosmetics to Indonesia?", "Überseecontainer 集装箱 naïve café", "9 % " * 600]
    return [*odd, *chunks]


def main() -> int:
    """Print the comparison and return the exit code."""
    compared = texts(sample_corpus())
    ours = np.array(OnnxEmbeddings().embed_documents(compared))
    theirs = np.array(torch_embeddings(MODEL).embed_documents(compared))
    cosines = (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    print(f"{len(compared)} texts: least cosine of onnx and torch {cosines.min():.8f}, mean {cosines.mean():.8f}")
    return 0 if cosines.min() >= LEAST_COSINE else 1


if __name__ == "__main__":
    sys.exit(main())
