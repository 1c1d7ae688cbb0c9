"""Settings -> adapters -> chain: the composition root."""

from app.wiring.build import Services, sample_corpus

__all__ = ["Services", "sample_corpus"]
