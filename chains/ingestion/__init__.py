"""The other chain: files -> sections -> chunks -> vector store.

The package imports none of its modules: the worker that reads files needs a few of them, and starts faster.
"""
