import pytest

from benchmarks.hostile.kinds.frames import attack


@pytest.mark.timeout(600)
def test_no_frame_ends_the_server_and_its_end_is_no_error(tmp_path):
    [tried] = attack(tmp_path)

    assert tried.failed == []
