"""Rows of `make bench` for stage 4: what citing costs on a usual answer, and on a hostile one."""

import time
from collections.abc import Callable, Iterator

from langchain_core.messages import AIMessage

from app.adapters.embeddings.onnx.weights import find_weights
from app.adapters.embeddings.onnx.words import WordVectors
from app.wiring import sample_corpus
from chains.citations import CiteSources
from chains.citations.numbering import number_markers
from chains.citations.references import read_references
from chains.ingestion.chunks import Chunk, Chunker
from chains.state import Context, Generated, Passage

CHUNKS = 10
ANSWER_CHARACTERS = 2_000  # 500 tokens at four characters a token.
HOSTILE_CHARACTERS = 200_000

Row = tuple[str, str, str]


def rows() -> Iterator[Row]:
    """Yield what stage 4 costs: by shared stems, with word vectors, and to parse 200 kB of brackets."""
    state = usual_answer()
    vectors = WordVectors(find_weights())
    lexical, full = CiteSources(), CiteSources(similarity=vectors)
    name = f"stage 4 on a 500-token answer and {CHUNKS} chunks, median"
    yield f"{name}, no embeddings", f"{_median_ms(lambda: lexical(state)):.1f} ms", "<= 3 ms"
    yield f"{name}, word vectors", f"{_median_ms(lambda: full(state)):.1f} ms", "<= 10 ms"
    slowest = max(_hostile_seconds(unit, state) for unit in ("[", "[a > b]", "[1, ", "[1](", "` [", "[[a]]"))
    yield "200 kB of brackets, parsed, slowest of six kinds", f"{slowest:.2f} s", "< 1 s"


def usual_answer() -> Generated:
    """Return an answer made of the corpus's own sentences, a third of them cited, as a model would write it."""
    file = sorted(sample_corpus().glob("01_regulatory/*.md"))[0]
    chunks = Chunker().split_markdown(file.read_text(encoding="utf-8"))[:CHUNKS]
    shown = [_passage(chunk) for chunk in chunks]
    lines: list[str] = []
    while sum(map(len, lines)) < ANSWER_CHARACTERS:
        chunk = chunks[len(lines) % CHUNKS]
        sentence = " ".join(chunk.text.split("\n")[-1].split()[:18])
        lines.append(f"{sentence} [The Guide > {chunk.section}]." if len(lines) % 3 == 0 else f"{sentence}.")
    answer = "\n".join(lines)[:ANSWER_CHARACTERS]
    context = Context(text="", passages=shown)
    return Generated(question="Q?", documents=shown, context=context, message=AIMessage(answer), answer=answer)


def _passage(chunk: Chunk) -> Passage:
    metadata = {"title": "The Guide", "section": chunk.section, "doc_id": "guide"}
    return Passage(content=chunk.text, metadata=metadata, score=0.5)


def _median_ms(action: Callable[[], object]) -> float:
    times = []
    for _ in range(31):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return 1000 * sorted(times)[len(times) // 2]


def _hostile_seconds(unit: str, state: Generated) -> float:
    text, shown = unit * (HOSTILE_CHARACTERS // len(unit)), state["context"]["passages"]
    started = time.perf_counter()
    read_references(text, shown)
    middle = time.perf_counter()
    number_markers(text, shown)
    return max(middle - started, time.perf_counter() - middle)
