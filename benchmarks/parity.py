"""Compare the vectors of the two embedding backends: run by `make parity`, in an environment with torch.

Prints the least cosine similarity of any text's two vectors and the largest difference of a component, and fails below
0.99999 or above 1e-5. Where there is a GPU, its vectors are compared as well: there the least cosine is 0.999.
"""

import sys
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.adapters.embeddings.huggingface import Device, torch_embeddings
from app.adapters.embeddings.onnx import MODEL, OnnxEmbeddings
from app.wiring import sample_corpus
from chains.errors import ConfigurationError
from chains.ingestion.chunks import Chunker

LARGEST_DIFFERENCE = 1e-5  # Of a component, on the processor.
LEAST_COSINE: dict[Device, float] = {"cpu": 0.99999, "cuda": 0.999}


def texts(corpus: Path) -> list[str]:
    """Return texts of many lengths: a word, questions, the corpus in chunks, and one far too long."""
    files = sorted(corpus.glob("*/*.md"))[:6]
    chunks = [chunk.text for file in files for chunk in Chunker().split_markdown(file.read_text(encoding="utf-8"))]
    odd = ["", "GST", "Which permits for cosmetics to Indonesia?", "Überseecontainer 集装箱 naïve café", "9 % " * 600]
    return [*odd, *chunks]


def main() -> int:
    compared = texts(sample_corpus())
    ours = vectors(OnnxEmbeddings(), compared)
    held = [agrees(ours, compared, "cpu")]
    try:
        held.append(agrees(ours, compared, "cuda"))
    except ConfigurationError as error:
        print(f"no GPU was compared: {error}")
    return 0 if all(held) else 1


def agrees(ours: NDArray[np.float64], compared: list[str], device: Device) -> bool:
    """Print how near torch's vectors on a device are to ours, and say whether they are near enough."""
    theirs = vectors(torch_embeddings(MODEL, device=device), compared)
    cosines, differs = (ours * theirs).sum(axis=1), np.abs(ours - theirs).max()
    print(
        f"{len(compared)} texts, torch on {device}: least cosine {cosines.min():.8f}, largest difference {differs:.1e}"
    )
    return bool(cosines.min() >= LEAST_COSINE[device] and (device != "cpu" or differs <= LARGEST_DIFFERENCE))


def vectors(embeddings: Embeddings, compared: list[str]) -> NDArray[np.float64]:
    """Return the vectors of the texts, each checked to be of length one and equal to that of the text alone."""
    found = np.array(embeddings.embed_documents(compared))
    alone = np.array(embeddings.embed_query(compared[1]))
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)  # noqa: S101 - a wrong order would be hidden else.
    assert found[1] @ alone > 0.999  # noqa: S101
    return found


if __name__ == "__main__":
    sys.exit(main())
