"""What measurements print and keep: ways, costs, hostile clients, the ratchet of lines, and figures."""

import re
from pathlib import Path

import numpy as np

from benchmarks import ways
from benchmarks.figures import read_figures, told, write_figures
from benchmarks.fits.corpora import cases_of
from benchmarks.hostile import commands
from benchmarks.house import RATCHET, ratchet
from benchmarks.rendered import MEAN, MOST, PRICES, cost_table
from benchmarks.ways import Measured, change, lines


def measured(*firsts: float) -> Measured:
    return Measured(np.array([[first, 1.0, 1.0] for first in firsts]), 20.0, 3.0, 14.0)


def test_a_change_has_its_interval():
    assert change(np.array([1.0, 1.0])) == "+1.000 (+1.000 to +1.000)"


def test_the_first_way_is_compared_with_none():
    first, second = lines("sample", {"hybrid": measured(1, 0), "mmr": measured(1, 1)}).splitlines()

    assert first == "| sample | hybrid | 2 | 0.50 | 1.00 | 1.00 |  |  | 20.0 | 3.0 | 14 |"
    assert second.startswith("| sample | mmr | 2 | 1.00 | 1.00 | 1.00 | +0.500 (")


def test_every_question_set_that_ways_are_compared_on_can_be_read(tmp_path):
    read = {one.name: len(cases_of(one)) for one in ways.sets(tmp_path)}
    assert read.keys() == {"sample", *ways.OWN}
    assert all(read.values())


def test_a_thousand_questions_cost_their_tokens_times_the_prices():
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in cost_table().splitlines()[2:]]
    read, written = MEAN

    assert [row[0] for row in rows] == list(PRICES)
    for (name, _, mean, most), (prompt, answer) in zip(rows, PRICES.values(), strict=True):
        assert mean == f"{(read * prompt + written * answer) / 1000:.2f}", name
        assert most == f"{(MOST[0] * prompt + MOST[1] * answer) / 1000:.2f}", name


def test_an_attack_returns_rows_of_what_was_tried_and_held(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "_settings", lambda: iter([("retrieval_top_k", "x"), ("redis_url", "amqp://")]))

    assert [each.row()[:3] for each in commands.attack_settings(tmp_path)] == [["settings", "2", "2"]]


def test_more_lines_than_the_ratchet_fail_and_as_many_do_not() -> None:
    assert "delete" in str(ratchet(RATCHET + 1))
    assert ratchet(RATCHET) is None


def test_the_ratchet_follows_a_house_that_became_smaller() -> None:
    assert "lower RATCHET" in str(ratchet(RATCHET * 9 // 10))


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
