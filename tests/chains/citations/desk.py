"""Passages that a model was shown, and what stage 4 makes of an answer on them."""

from typing import Any

from langchain_core.messages import AIMessage

from chains.citations import CiteSources
from chains.citations.numbering import NumberedMarkers, TitledMarkers, rewrite
from chains.state import CitationResult, Context, Generated, Passage

GST = "Import GST in Singapore is 9 % of the CIF value plus duty. The relief limit is S$400 for goods by air or post."
FORM = "A Form D proves ASEAN origin. It needs a regional value content of 40 %."


def passage(title: str, section: str = "", content: str = "", **metadata: Any) -> Passage:
    name = title.lower().replace(" ", "_")
    return Passage(
        content=content, metadata={"title": title, "section": section, "doc_id": name, **metadata}, score=0.5
    )


SHOWN = [
    passage("GST Guide", "Import GST", GST, source_urls='["https://example.org/a,b", "N/A"]'),
    passage("GST Guide", "Reliefs", "Trade samples without value are exempt from import GST.", source_urls="N/A"),
    passage("Certificates of Origin", "Form D", FORM, section_path='["Preferential", "Form D"]'),
    passage("PIL [Pacific] Service Guide", "Reefer Containers", "PIL offers reefer containers for frozen goods."),
]


def read(
    answer: str,
    shown: list[Passage] | None = None,
    question: str = "What is the import GST in Singapore?",
    **options: Any,
) -> CitationResult:
    kept = SHOWN if shown is None else shown
    cite = CiteSources(**options)
    rewriter = NumberedMarkers(kept) if cite.style == "numbered" else TitledMarkers(kept)
    return cite(
        Generated(
            question=question,
            documents=kept,
            context=Context(text="", passages=kept),
            message=AIMessage(answer),
            answer=rewrite(answer, rewriter),
        )
    )


def found(answer: str) -> list[tuple[str, str | None, str | None]]:
    citations = read(answer, attribution=False, min_citations=0)["citations"]
    return [(c["raw"], c["doc_id"], c["section"]) for c in citations]
