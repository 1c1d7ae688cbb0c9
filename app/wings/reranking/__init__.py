"""Rerankers that RERANKER names: a cross-encoder, a service, the language model."""
