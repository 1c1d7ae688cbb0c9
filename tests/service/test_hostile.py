import pytest

from benchmarks.hostile.requests import NOT_ANSWERED
from tests.service.hostile import measure, service


@pytest.mark.slow
async def test_hostile_clients_break_nothing_and_others_are_answered_beside_them():
    with service() as url:
        report = await measure(url, questions=5, held_open=400)

    # A request may be refused or hung up on, or be answered after all; it never breaks anything.
    assert {name: told for name, told in report.told.items() if told[0] not in "24" and told != NOT_ANSWERED} == {}
    assert report.told["no HTTP"] == "400"
    assert set(report.statuses) == {200}
