"""Vector stores, the word index, the record of what was ingested, and Redis."""
