"""Stage 3. The context and the question -> the model's message, streamed token by token.

`ask` prompts a chat model. `resilient` is a chat model that outlasts outages: it calls each `provider` behind its
retries, circuit breaker and `rate_limiter`, and marks an answer that had to do without them as `degraded`.
"""

from chains.generation.generate import generate

__all__ = ["generate"]
