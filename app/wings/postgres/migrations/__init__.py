"""The schema of the database, changed step by step by alembic."""
