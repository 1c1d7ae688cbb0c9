"""Questions of a CSV file, four at a time, with progress: python -m examples.batch_csv questions.csv answers.csv."""

import csv
import sys
from pathlib import Path
from typing import Any

from app.wiring import Service
from chains.state import Question
from examples import services


def main(services: Service, source: Path, target: Path) -> None:
    """Write a row for each question of the column `question`; one that fails is written with its error."""
    with source.open(encoding="utf-8", newline="") as file:
        questions = [row["question"] for row in csv.DictReader(file)]
    asked = [Question(question=question) for question in questions]
    rows: dict[int, list[str]] = {}
    done: Any = services.chain.batch_as_completed(asked, {"max_concurrency": 4}, return_exceptions=True)
    for count, (number, answer) in enumerate(done, start=1):
        failed = isinstance(answer, Exception)
        result = [type(answer).__name__, ""] if failed else [answer["outcome"], answer["answer"]]
        rows[number] = [questions[number], *result]
        print(f"{count} of {len(questions)}: {result[0]}")
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["question", "outcome", "answer"], *(row for _, row in sorted(rows.items()))])


if __name__ == "__main__":
    main(services(), Path(sys.argv[1]), Path(sys.argv[2]))
