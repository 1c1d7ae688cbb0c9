"""A full disk: what reads goes on, what writes says why not."""

import pytest

from benchmarks.hostile.commands import ASIDE, STORES, Desk, can_mount
from tests.served import GUIDE, QUESTION

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_mount(), reason="no file system can be mounted here")]


@pytest.mark.parametrize("store", STORES, ids=["chroma", "memory"])
@pytest.mark.parametrize("aside", ASIDE.values(), ids=ASIDE)
def test_a_full_disk_stops_ingestion_and_no_question(store, aside, tmp_path):
    settings = {"LLM_PROVIDER": "offline", "MIN_CHUNKS": "0", "SCOPE_FILE": "off"} | store
    desk = Desk(tmp_path, settings, {"gst.md": GUIDE})
    asked, ingested = desk.run("ask", QUESTION, aside=aside), desk.run("ingest", "docs", aside=aside)

    answer = "The rate of GST on imports into Singapore is 9 %. [GST Guide > Rate]"
    assert (asked.returncode, asked.stdout.splitlines()[:1]) == (0, [answer])
    assert ingested.returncode == 1
    assert "disk" in ingested.stderr
    assert "Traceback" not in asked.stderr + ingested.stderr
