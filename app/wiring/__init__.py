"""The composition root: settings, then adapters, then the chain."""

from app.wiring.build import Services
from app.wiring.examples import ExampleQuestions
from app.wiring.parts import Parts
from app.wiring.scope import sample_corpus
from app.wiring.teams import Team, Teams

__all__ = ["ExampleQuestions", "Parts", "Services", "Team", "Teams", "sample_corpus"]
