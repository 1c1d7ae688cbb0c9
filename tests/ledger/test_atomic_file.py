from concurrent.futures import ThreadPoolExecutor

import pytest

from app.ledger.private_files import write_atomically


def test_a_reader_sees_one_content_or_the_other_and_nothing_is_left_beside(tmp_path):
    file = tmp_path / "new" / "file"
    contents = [bytes([number]) * 200_000 for number in range(8)]
    write_atomically(file, contents[0])
    with ThreadPoolExecutor(8) as pool:
        pool.map(lambda content: write_atomically(file, content), contents * 4)
        seen = {file.read_bytes() for _ in range(50)}

    assert seen <= set(contents)
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path):
    folder = tmp_path / "folder"
    (folder / "file").mkdir(parents=True)
    with pytest.raises(OSError, match="file"):
        write_atomically(folder / "file", b"x")

    assert [one.name for one in folder.iterdir()] == ["file"]
