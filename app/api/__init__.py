"""One file per HTTP contract."""
