import json
from concurrent.futures import ThreadPoolExecutor

from app.adapters.feedback_file import Feedback, FeedbackFile


def said(number: int) -> Feedback:
    return Feedback("2026-11-23T09:30:00Z", f"trace-{number}", 1, "x" * 100)


def test_the_size_is_kept_and_the_newest_lines_are_there(tmp_path):
    file = FeedbackFile(tmp_path / "feedback", max_bytes=4_000)
    for number in range(200):
        file.add(said(number))
    kept = sorted((tmp_path / "feedback").glob("*.jsonl"))

    assert [path.name for path in kept] == ["feedback.1.jsonl", "feedback.jsonl"]
    assert sum(path.stat().st_size for path in kept) <= 4_000
    numbers = [json.loads(line)["trace_id"] for path in kept for line in path.read_text().splitlines()]
    assert numbers == [f"trace-{number}" for number in range(200 - len(numbers), 200)]


def test_lines_of_many_at_once_are_whole(tmp_path):
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: FeedbackFile(tmp_path, max_bytes=10**6).add(said(number)), range(50)))

    lines = (tmp_path / "feedback.jsonl").read_text().splitlines()
    assert {json.loads(line)["trace_id"] for line in lines} == {f"trace-{number}" for number in range(50)}
