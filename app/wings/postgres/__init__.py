"""PostgreSQL with pgvector: index, conversations, waiting events."""
