"""The composition root: settings, then adapters, then the chain."""

from app.wiring.build import Parts, Services
from app.wiring.examples import ExampleQuestions
from app.wiring.scope import sample_corpus

__all__ = ["ExampleQuestions", "Parts", "Services", "sample_corpus"]
