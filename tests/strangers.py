"""What a stranger asks to find out which words stand in internal documents, and documents with and without these."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from chains.output import merge
from tests.corpora import write_documents
from tests.fakes import FakeGroq

PUBLIC = {
    "weekends.md": "The surcharge on weekends is 5 percent of the freight, for parcels and for pallets.",
    "parcels.md": "Parcels of more than 30 kg travel as pallets, and need a booking two days before departure.",
    "permits.md": "Live animals need a permit; the permit is free, and a broker applies for it.",
    "demurrage.md": "Demurrage begins after five free days and is paid by the importer, per container and day.",
    "weights.md": "The chargeable weight is the greater of the gross weight and the volume weight.",
}
# Their words are the company's own. Some are near to public ones, some are public words that are rare there.
SECRETS = [
    *("zarquon", "falcon", "osprey", "kestrel", "marlin", "borealis", "quicksilver", "halcyon", "redwood", "tamarind"),
    *("perimt", "parcal", "palets", "demurage", "surcharges", "weekender", "brokered", "boking", "frieght", "animols"),
    *("importer", "greater", "departure", "container"),
]
FORMS = (
    "What is {word}?",
    "Does the surcharge on weekends change with {word}?",
    "Who pays for {typo} and for pallets?",
)
# What differs from one call to the next.
PASSING = {"latencyMs", "latency_ms", "traceId", "trace_id", "run_id", "created", "id", "timestamp"}


def probes() -> list[tuple[str, str]]:
    """Return each question, with the internal word that it tests."""
    return [(word, form.format(word=word, typo=word[:-2] + word[-1])) for word in SECRETS for form in FORMS]


@dataclass
class Attacked:
    """A service that strangers may ask, and what its model was sent."""

    client: httpx.Client
    groq: FakeGroq | None = None

    def asked(self, path: str, body: dict[str, Any], **options: Any) -> Any:
        """Return the answer without what passes, and all that the model was sent for it."""
        kept = self.groq.requests if self.groq else []
        kept.clear()
        response = self.client.post(path, json=body, **options)
        sent = [request["messages"] for request in kept]
        return response.status_code, _lasting(response), sent


def _lasting(response: httpx.Response) -> Any:
    if response.headers["content-type"].startswith("text/event-stream"):
        lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: {")]
        parts = [json.loads(line) for line in lines]
        if any("event" in part for part in parts):
            return [_without(part, PASSING) for part in parts]
        return _without(dict(merge(parts)), PASSING)  # Time decides which words come in one part.
    return _without(response.json(), PASSING)


def _without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(one, names) for name, one in value.items() if name not in names}
    return [_without(one, names) for one in value] if isinstance(value, list) else value


def write_corpus(folder: Path, *, internal: bool) -> Path:
    """Write the public documents, and with `internal` two of the staff's for each word, before and after them."""
    texts = {f"02_carriers/{name}": text for name, text in PUBLIC.items()}
    if internal:
        for number, word in enumerate(SECRETS):
            texts[f"01_regulatory/internal/{number}.md"] = f"{word} {word} is our word for the surcharge on pallets."
            texts[f"04_internal_synthetic/{number}.md"] = (
                f"The margin of {word} parcels on weekends is {number} percent."
            )
    guides = {name: f"# Guide to {Path(name).stem}\n\n## Rule\n\n{text}\n" for name, text in texts.items()}
    return write_documents(folder / "kb", guides)
