"""Ingestion: read files, cut them into chunks, and bring the vector store in line with them.

The package imports none of its modules: the worker that reads files needs a few of them, and starts faster.
"""
