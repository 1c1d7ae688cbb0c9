from contextlib import closing
from sqlite3 import connect

import pytest

from app.adapters.stores.folder import FILE, open_records
from chains.errors import VectorStoreError


@pytest.mark.parametrize(
    ("method", "options"), [("update", [["id"]]), ("exists", [["id"]]), ("list_keys", []), ("delete_keys", [["id"]])]
)
def test_every_call_on_records_that_are_damaged_says_what_to_do(tmp_path, method, options):
    records = open_records(tmp_path, "shelf")
    with closing(connect(tmp_path / FILE)) as connection:
        connection.execute("DROP TABLE upsertion_record")

    with pytest.raises(VectorStoreError, match=r"records .* cannot be used \(no such table.*check that CHROMA_PATH"):
        getattr(records, method)(*options)


def test_a_file_that_is_no_database_says_what_to_do(tmp_path):
    (tmp_path / FILE).write_bytes(b"text" * 1000)

    with pytest.raises(VectorStoreError, match=r"not a database.*check that CHROMA_PATH"):
        open_records(tmp_path, "shelf")
