"""Stage 3. The context and the question -> the model's message, streamed token by token, whatever the network does.

`ask` puts the question to a chat model; `resilient` is one that outlasts outages, made of `retry`, `breaker`, `budget`
and `provider`.
"""

from chains.generation.generate import generate

__all__ = ["generate"]
