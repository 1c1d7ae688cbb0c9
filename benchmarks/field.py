"""Ask every case of a folder of documents that break readers, and print what is expected beside what is answered.

usage: python -m benchmarks.field FOLDER [NAME ...]

A case is a folder `NAME` with documents in `input/` and a page `case.md`, whose lines name the command with its
questions and what is expected of each, divided by ";". An answer is right where it holds the figures of what is
expected, or its words where there are none; where nothing is expected, the answer must not be sure. An answer without
these words may be right all the same, where they describe it: `?`, a reader has to judge.
"""

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from app.observability.logs import configure_logs
from benchmarks.offline import offline
from chains.text.tokens import tokens

_LINE: Final = re.compile(r"^- (\w+): (.*)$", re.MULTILINE)
_ASKED: Final = re.compile(r'waypoint ask "([^"]*)"')
_FIGURE: Final = re.compile(r"\d[\d.,:]*\d|\d")
_NOTHING: Final = re.compile(r"\b(?:no|not|nothing)\b")
_ASIDE: Final = re.compile(r"\([^()]*\)|, page \d+|,? or .*|, with .*|; quote .*")


def tried(case: Path) -> Iterator[tuple[str, bool | None]]:
    """Yield a line for each problem and question of a case, and whether that is right; None where it is prose."""
    lines = dict(_LINE.findall((case / "case.md").read_text("utf-8")))
    questions = _ASKED.findall(lines["Command"])
    parts = [part.strip() for part in lines["Expected"].split(";")]
    expected = parts if len(parts) == len(questions) else [lines["Expected"].split("; ")[0]] * len(questions)
    with tempfile.TemporaryDirectory() as folder:
        services = offline(Path(folder), case / "input")
        report = services.index.ingest([case / "input"], reset=True)  # Else nothing is said of what is in the index.
        for problem in [*report.problems, *report.warnings]:
            yield f"{problem.path}: {problem.reason}"[:200], True
        for wanted, question in zip(expected, questions, strict=True):
            answer: dict[str, Any] = dict(services.chain.invoke({"question": question}))
            right, level = _is_right(wanted, answer), (answer["confidence"] or {}).get("level") or "-"
            words, mark = " ".join(answer["answer"].split())[:150], {True: "ok", False: "NO", None: "?"}[right]
            yield f"{wanted} | {words} | {answer['outcome']} {level} | {mark}", right


def _is_right(expected: str, answer: dict[str, Any]) -> bool | None:
    """Return whether an answer holds what is expected; None where that is prose."""
    wanted = _ASIDE.sub("", expected)
    is_given, level = answer["outcome"] == "answered", (answer["confidence"] or {}).get("level")
    if _NOTHING.search(wanted):
        return not is_given or level in {"low", "very_low"}
    said = f"{answer['answer']} {' '.join(one['quote'] or '' for one in answer['citations'])}"
    figures = [_plain(figure) for figure in _FIGURE.findall(wanted)]
    if figures:
        return is_given and set(figures) <= {_plain(figure) for figure in _FIGURE.findall(said)}
    words = {word.key for word in tokens(wanted) if word.weight}
    return False if not is_given else (True if words <= {word.key for word in tokens(said)} else None)


def _plain(figure: str) -> str:
    whole, point, rest = figure.replace(",", "").partition(".")
    return f"{whole}{point}{rest.rstrip('0')}".rstrip(".:")


def main(folder: str, *names: str) -> None:
    """Print a line for each question, then how many cases are right as a whole."""
    configure_logs("error")
    right, open_to_judge = [], []
    for case in sorted(path.parent for path in Path(folder).glob("*/case.md")):
        if names and not {case.name, case.name.partition("-")[0]} & set(names):
            continue
        try:
            rows = list(tried(case))
        except Exception as error:  # A case that breaks the command is a row like others.
            rows = [(f"{type(error).__name__}: {error}", False)]
        print(*(f"{case.name} | {line}" for line, _ in rows), sep="\n", flush=True)
        right += [case.name] if all(ok for _, ok in rows) else []
        open_to_judge += [case.name] if None in {ok for _, ok in rows} else []
    print(f"{len(right)} right; to be judged by a reader: {', '.join(open_to_judge) or 'none'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
