import json
from pathlib import Path

import pytest

from app.wiring import sample_corpus
from tests.cases import cases
from tests.corpora import write_documents

RATE = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is {} %.\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_documents(tmp_path / "desk", {"gst.md": RATE.format(9)})


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)


def test_titles_that_answers_label_are_no_finding(folder, waypoint):
    for place, fee in (("first", "5 euro a stall"), ("second", "7 euro a permit"), ("third", "9 euro a boat")):
        write(folder, f"{place}.md", f"---\ntitle: Fees\n---\n# Fees\n\nThe fee is {fee} in this part of the town.\n")
    write(folder, "zz.md", "---\ntitle: Fee\u0455\n---\n# Fee\u0455\n\nDogs stay out of the hall at all times.\n")
    _, out, _ = waypoint("lint", "desk")
    assert [line.partition(":")[0] for line in out.splitlines() if "title" in line] == ["desk/zz.md"]


def test_the_sample_corpus_has_nothing_to_find(waypoint):
    code, out, err = waypoint("lint", str(sample_corpus()))

    assert (code, out) == (0, "")
    assert "18 documents: 0 errors, 0 warnings" in err


def test_the_findings_are_json_on_request(folder, waypoint):
    write(folder, "memo.md", "# Import tax\n\nGST on imports into Singapore is charged at 8 %.\n")
    code, out, _ = waypoint("lint", "desk", "--json")
    [finding] = json.loads(out)

    assert code == 1
    assert finding | {"message": ""} == {
        "file": "desk/gst.md",
        "line": 5,
        "kind": "conflict",
        "message": "",
        "other_file": "desk/memo.md",
        "other_line": 3,
        "level": "error",
    }


@pytest.mark.parametrize(
    ("rate", "level", "expected"), [(9, "error", 0), (9, "warning", 1), (9, "never", 0), (8, "never", 0)]
)
def test_the_level_that_fails_is_chosen(folder, waypoint, rate, level, expected):
    write(folder, "copy.md", RATE.format(rate))
    assert waypoint("lint", "desk", "--fail-on", level)[0] == expected


SHARED = " ".join(f"Word{number} and ship{number} sail to port{number}." for number in range(20))
SOMEWHERE = ("gst.md", "gst.md#rate", "#here", "https://example.org/x", "mailto:desk@example.org", "/somewhere")
BARE = RATE.replace("# GST Guide", "")
# What stands beside the guide, how the command ends, if that is told, and a line of what it prints; None is nothing.
LINTED: dict[str, list[tuple[dict[str, str], int | None, str | None]]] = {
    "nothing is found in a clean folder": [({}, 0, None)],
    "two documents that contradict each other": [
        (
            {"memo.md": "# Import tax\n\nGST on imports into Singapore is charged at 8 %.\n"},
            1,
            "desk/gst.md:5: conflict: 9 % here, 8 % in desk/memo.md:3: 'The rate of GST on imports",
        )
    ],
    "titles that no reader can tell apart": [
        (
            {"zoll.md": "---\ntitle: G\u0405T Gu\u0456de\n---\n\nThe fee for a registration is 300 SGD.\n"},
            0,
            "desk/zoll.md:2: title: no reader of a citation can tell 'G\u0405T Gu\u0456de' from the title of",
        )
    ],
    "a passage that two documents share": [
        (
            {"a.md": f"# A\n\n{SHARED}\n", "b.md": f"# B\n\nFirst of all.\n\n{SHARED}\n"},
            None,
            "desk/b.md:1: duplicate: a passage that is nearly word for word in desk/a.md:1",
        )
    ],
    "a document that says it is superseded contradicts nothing": [
        ({"old.md": f"# Old guide\n\nThis guide is superseded.\n\n{RATE.format(7)}"}, 0, "")
    ],
    "an older version is named with the one in force and contradicts nothing": [
        (
            {
                "gst_2023.md": f"---\ntitle: Tax rules 2023\n---\n\n{BARE.format(8)}",
                "gst_2026.md": f"---\ntitle: Tax rules 2026\n---\n\n{BARE.format(9)}",
            },
            0,
            "desk/gst_2023.md: version: 'Tax rules 2026' (desk/gst_2026.md) is the version in force",
        )
    ],
    "a link that leads somewhere": [
        ({"a.md": f"# A\n\n## Here\n\nSee [the guide]({link}) about ships and cargo.\n"}, 0, None) for link in SOMEWHERE
    ],
    "each kind of finding": [
        ({"a.md": text}, None, line)
        for text, line in {
            RATE.format(9): "desk/gst.md:1: duplicate: the same text as desk/a.md",
            "---\nreview_by: 2020-01-31\n---\n# Old\n\nA rule.\n": "a.md:2: old: its review was due on 2020-01-31",
            "# A\n\nSee [the guide](gts.md) for ships.\n": "a.md:3: link: 'gts.md': there is no such file",
            "# A\n\nSee [it](gst.md#no).\n": "a.md:3: link: 'gst.md#no': gst.md has no heading of this name",
            "Ships sail from here every day.\n": "a.md:1: title: it has no title; citations call it 'A'",
            "# A\n\n## Empty\n\n-\n": "a.md:3: passage: no question reaches it, it says next to nothing",
            "# A\n\n| ships | 4 |\n| cargo | 9 |\n| boats | 8 |\n": "rows of a table without its head and rule",
            "": "a.md: unreadable: the file is empty",
            "---\ntitle: [\n---\nText.\n": "a.md: unreadable: the front matter is not valid YAML",
        }.items()
    ],
}


@pytest.mark.parametrize(("documents", "ends", "line"), cases(LINTED))
def test_each_kind_of_finding_is_named_with_its_line_and_nothing_else_is(folder, waypoint, documents, ends, line):
    write_documents(folder, documents)
    code, out, _ = waypoint("lint", "desk")

    assert ends in {None, code}
    assert out == "" if line is None else line in out


def test_a_document_is_old_by_its_date_only_where_an_age_is_given(folder, waypoint):
    write(folder, "a.md", "---\nlast_updated: 2020-01-31\n---\n# A\n\nA rule about ships and cargo.\n")
    assert waypoint("lint", "desk")[1] == ""
    assert (
        "desk/a.md:2: old: last updated on 2020-01-31, more than 365 days ago"
        in waypoint("lint", "desk", "--max-age-days", "365")[1]
    )


def test_ingestion_ends_with_what_is_worth_a_look_and_says_nothing_more_of_clean_documents(folder, waypoint):
    assert "Worth a look" not in waypoint("ingest", "desk")[1]
    write(folder, "memo.md", RATE.format(8))
    code, out, _ = waypoint("ingest", "desk")

    assert code == 0
    assert out.endswith("Worth a look: conflict 1; `waypoint lint desk` shows where\n")
    assert json.loads(waypoint("ingest", "desk", "--json")[1])["notes"] == [out.splitlines()[-1]]
