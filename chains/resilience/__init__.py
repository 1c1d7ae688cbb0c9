"""Retries and circuit breakers for calls of services: language models and embeddings."""
