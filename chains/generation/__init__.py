"""Stage 3: ask the language model, and stream its message.

`generate` prompts a chat model and groups its chunks into pieces. `resilient` is a chat model that outlasts outages: it
calls each provider behind its retries, circuit breaker and `rate_limiter`, and marks an answer that had to do without
them as degraded (`reply`).
"""

from chains.generation.generate import ChatModel, Generate, generate

__all__ = ["ChatModel", "Generate", "generate"]
