"""Engines of ingestion that run outside of this process."""
