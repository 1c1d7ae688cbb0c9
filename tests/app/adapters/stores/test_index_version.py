import pytest

from app.adapters.stores.index_version import IndexVersion


class KilledError(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def version(tmp_path):
    return IndexVersion(tmp_path / "new" / "index.version")


def change(version):
    with version.changing():
        pass
    return version.current()


def test_a_version_lasts_until_the_index_changes(version):
    first = version.current()

    assert first
    assert version.current() == first
    assert change(version) not in {None, first}


def test_while_an_index_changes_its_version_is_another_and_after_it_a_third(version):
    first = version.current()
    with version.changing():
        during = version.current()
    after = version.current()

    assert len({first, during, after}) == 3


def test_an_ingestion_that_changed_nothing_leaves_the_version(version):
    first = version.current()
    with version.changing() as keep:
        assert version.current() != first
        keep()

    assert version.current() == first


def test_an_ingestion_that_failed_leaves_another_version(version):
    first = version.current()
    with pytest.raises(KilledError), version.changing():
        raise KilledError

    assert version.current() != first


def test_after_one_that_was_killed_the_next_makes_a_version_though_it_changes_nothing(version):
    killed = version.changing()
    killed.__enter__()  # And it never comes back.
    cut_off = version.current()
    with version.changing() as keep:
        keep()

    assert version.current() != cut_off


def test_a_change_within_another_counts_though_the_outer_one_changed_nothing(version):
    first = version.current()
    with version.changing() as keep:
        with version.changing():
            pass
        keep()

    assert version.current() != first


def test_an_index_without_a_place_for_its_version_has_none(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert IndexVersion(tmp_path / "file" / "index.version").current() is None


@pytest.mark.parametrize("content", [b"\xff\xfe", "ключ".encode()])
def test_a_file_that_is_garbage_is_replaced(tmp_path, content):
    file = tmp_path / "kb.version"
    file.write_bytes(content)

    assert IndexVersion(file).current() == file.read_text(encoding="ascii")
