"""The sample corpus with documents of other formats beside it, and one that is hostile."""

from pathlib import Path

from app.wiring import open_index
from app.wiring.storage import sample_corpus
from benchmarks.documents import pdf
from tests.corpora import write_documents
from tests.web.service import settings_over

PDF_TITLE = "Penang Depot Handbook"
PDF_QUOTE = "The depot at Penang accepts empty containers until 18:00 on working days."
HTML_TITLE = "Johor Warehouse Rules"
HTML_QUOTE = "Pallets in the Johor warehouse are stacked at most four metres high."
HOSTILE_TITLE = "Carrier Notice 77 <img src=x onerror=alert(1)>"
HOSTILE_QUOTE = "The notice period for carrier 77 is fourteen working days."
BEACON = "http://198.51.100.7/beacon"  # An address of documentation; nobody is there.

_PDF_PAGES = (
    "Penang Depot Handbook\n\nThis handbook is for drivers who come to the depot.",
    f"Opening hours\n\n{PDF_QUOTE}\nOn Saturdays it closes at noon.",
    "Fees\n\nLifting a container costs RM 45.",
)
_HTML = f"""<!doctype html><html><head><title>{HTML_TITLE}</title></head><body><h1>{HTML_TITLE}</h1>
<h2>Stacking</h2><p>{HTML_QUOTE}</p>
<table><tr><th>Goods</th><th>Height</th></tr><tr><td>Paper</td><td>3 m</td></tr></table>
<script>document.title = "taken over"</script>
<p onclick="document.title='taken over'">Ask the guard.</p></body></html>"""
_HOSTILE = f"""---
title: '{HOSTILE_TITLE}'
source_urls: ["javascript:document.title='taken over'", "https://example.org/notice"]
source_organization: "<b onmouseover=document.title='taken over'>Carrier 77</b>"
---

# Notice

## Periods

{HOSTILE_QUOTE} <script>document.title = "taken over"</script>
<img src="{BEACON}?image" onerror="document.title='taken over'"> ![beacon]({BEACON}?markdown)
[a link](javascript:document.title='taken over') <iframe src="{BEACON}?frame"></iframe>
<style>@import url("{BEACON}?style");</style> <form action="{BEACON}?form"><input name="token"></form>
The amount is \u202e0001 $\u202c for the customer. {"Donaudampfschifffahrt" * 60}
"""


def indexed_corpus(folder: Path) -> Path:
    """Write the documents below `folder`, index them with the sample corpus, and return the folder of the index."""
    depot = pdf(*_PDF_PAGES, metadata={"/Title": PDF_TITLE})
    documents: dict[str, str | bytes] = {
        "penang_depot.pdf": depot,
        "johor_warehouse.html": _HTML,
        "carrier_notice.md": _HOSTILE,
    }
    reference = write_documents(folder / "03_reference", documents)
    store = folder / "store"
    open_index(settings_over(store, "http://127.0.0.1:1", llm_provider="offline")).ingest([sample_corpus(), reference])
    return store
