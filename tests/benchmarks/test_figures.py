import re
from pathlib import Path

from benchmarks.figures import read_figures, told, write_figures

ROOT = Path(__file__).parents[2]
COMMIT = re.compile(r"[0-9a-f]{7,40}\+?")


def test_a_group_of_figures_is_replaced_with_its_date_and_command_and_others_are_kept(tmp_path):
    file = tmp_path / "figures.json"
    write_figures("speed", {"p95_ms": 9}, file=file)
    write_figures("size", {"lines": 12}, file=file)
    write_figures("size", {"lines": 11}, file=file)

    kept = read_figures(file=file)
    assert {name: group["values"] for name, group in kept.items()} == {"size": {"lines": 11}, "speed": {"p95_ms": 9}}
    assert all(group["date"] and group["command"].startswith("python -m ") for group in kept.values())
    assert all(COMMIT.fullmatch(group["commit"]) for group in kept.values())


def test_every_kept_figure_has_its_date_commit_and_command():
    for group in read_figures().values():
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", group["date"])
        assert COMMIT.fullmatch(group["commit"])
        assert group["command"]


def test_every_group_of_figures_is_shown_with_its_date_commit_and_command():
    shown = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
    groups = set(read_figures()) - {"first_answer"}  # That one is what a command printed, not a figure.

    assert {name for name in groups if told(name) not in shown} == set()


def test_no_page_shows_a_figure_without_the_commit_it_is_of():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    measured = [
        line for page in pages for line in page.read_text(encoding="utf-8").splitlines() if "Measured on 20" in line
    ]

    assert measured
    assert [line for line in measured if not re.search(r"at commit `[0-9a-f]{7,40}\+?`, by `", line)] == []
