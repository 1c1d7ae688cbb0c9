"""The composition root: settings, then adapters, then the chain."""

from app.wiring.build import Services
from app.wiring.indexing import Parts
from app.wiring.page_files import ExampleQuestions, Team, Teams
from app.wiring.sample import sample_corpus

__all__ = ["ExampleQuestions", "Parts", "Services", "Team", "Teams", "sample_corpus"]
