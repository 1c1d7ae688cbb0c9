"""The composition root: `Index`, `Answerer` and `Service`, each made from the settings by one function."""

from app.wiring.index import Parts, open_index
from app.wiring.sample import sample_corpus
from app.wiring.service import Service, open_service

__all__ = ["Parts", "Service", "open_index", "open_service", "sample_corpus"]
