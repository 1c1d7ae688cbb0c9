"""The composition root: `Index`, `Answerer` and `Service`, each made from the settings by one function."""

from app.wiring.index import Parts, open_index
from app.wiring.service import Service, open_service
from app.wiring.storage import sample_corpus

__all__ = ["Parts", "Service", "open_index", "open_service", "sample_corpus"]
