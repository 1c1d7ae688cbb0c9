"""Ingestion on a Ray cluster."""
