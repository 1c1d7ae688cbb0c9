"""PostgreSQL with pgvector as the store of chunks, words and records: one for any number of hosts."""
