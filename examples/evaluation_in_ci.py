"""Fail a build where answers get worse: python -m examples.evaluation_in_ci questions.jsonl 'document hit@3=0.9'.

`waypoint eval QUESTIONS.jsonl --fail-under 'document hit@3=0.9'` does the same; these are its parts, for any chain.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.runnables import Runnable

from evals.gate import failures, read_floor
from evals.metrics import evaluate
from evals.questions import read_questions
from evals.rows import ask_all
from examples import services


def main(chain: Runnable[Any, Any], questions: Path, floors: Sequence[str]) -> int:
    """Print the metrics that are under their floors; return how many there are."""
    cases = read_questions(questions)
    found = failures([read_floor(floor) for floor in floors], evaluate(cases, list(ask_all(chain, cases))))
    for sentence in found:
        print(sentence)
    print(f"{len(cases)} questions, {len(found)} floors missed")
    return len(found)


if __name__ == "__main__":
    sys.exit(main(services().chain, Path(sys.argv[1]), sys.argv[2:]) > 0)
