"""The ledger: one database that holds all durable state of a deployment, a SQLite file or PostgreSQL."""
