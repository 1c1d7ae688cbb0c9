"""Retrieval: find the passages that may answer a question, best first, each with its cosine similarity.

The strategies are in `chains.retrieval.strategies`. In all of them `score` is the cosine similarity clipped to 0-1, the
threshold applies to `score`, `rank` counts from 1, and the filters of the call apply.
"""
