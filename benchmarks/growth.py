"""Measure how the time to read a text grows with its length, for texts made to be slow: `python -m benchmarks.growth`.

A text of one repeated piece is read at two lengths. Where the time grows in line with the length, the exponent is 1;
where it grows with the square, it is 2.
"""

import math
import time
from collections.abc import Callable

from langchain_core.messages import HumanMessage, SystemMessage

from app.wings.offline import OfflineChatModel
from chains.citations.evidence import prepare

FACTOR = 4
REPEATS = 3
CHARACTERS = 50_000
EVIDENCE = ("\n", "(", ". ", "|", "1.", "- ", "A.", "a ", ">\n", "'a", ",5", "# ", "x\n- ")
OFFLINE = ("[a](", "*a_", "| a ", "<a ", "a. ", "- a\n", "(\u201c", "\\[")


def main() -> None:
    """Print a table with a row for each reader and repeated piece."""
    print("| reader | repeated piece | characters | ms | exponent |\n|---|---|---|---|---|")
    for piece in EVIDENCE:
        print(row("sentences of a chunk", piece, prepare))
    for piece in OFFLINE:
        print(row("offline answer", piece, answer_offline))


def row(name: str, piece: str, read: Callable[[str], object]) -> str:
    """Return one row of the table."""
    short, long = (seconds(read, piece * (length // len(piece))) for length in (CHARACTERS, FACTOR * CHARACTERS))
    exponent = math.log(long / short, FACTOR)
    return f"| {name} | `{piece!r}` | {FACTOR * CHARACTERS:,} | {long * 1000:.1f} | {exponent:.2f} |"


def seconds(read: Callable[[str], object], text: str) -> float:
    """Return the processor time of one reading, the fastest of a few; no two texts are equal, so caches do not help."""
    times = []
    for number in range(REPEATS):
        started = time.process_time()
        read(f"{text}\n\n{number}")
        times.append(time.process_time() - started)
    return max(min(times), 1e-6)


def answer_offline(text: str) -> object:
    """Let the offline answerer read the text as a passage."""
    system = f"Answer from the documents.\n\n<context>\n[Guide > a]\n{text}\n</context>"
    return OfflineChatModel().invoke([SystemMessage(system), HumanMessage("What is the a rate?")])


if __name__ == "__main__":
    main()
