"""List the external sources and the related documents of an answer, and its citations in markdown."""

from collections.abc import Sequence

from chains.documents.audience import category_of
from chains.documents.naming import place_name, source_urls
from chains.state import Citation, Passage, RelatedDocument, Source


def sources_of(citations: Sequence[Citation], passages: Sequence[Passage]) -> list[Source]:
    """Return the external pages of the matched citations, unique by address, in order of appearance."""
    orgs = {passage["metadata"].get("doc_id"): passage["metadata"].get("source_org") for passage in passages}
    sources: dict[str, Source] = {}
    for citation in citations:
        for url in citation["source_urls"] if citation["matched"] else []:
            sources.setdefault(
                url,
                Source(
                    title=citation["title"],
                    org=orgs.get(citation["doc_id"]),
                    url=url,
                    section=citation["section"],
                    page=citation["page"],
                ),
            )
    return list(sources.values())


def cited_sources(citations: Sequence[Citation]) -> set[tuple[object, object]]:
    """Return the sources of the valid citations: each document and page once."""
    return {
        (citation["doc_id"] or citation["title"], citation["page"]) for citation in citations if citation["matched"]
    }


def related_documents(passages: Sequence[Passage]) -> list[RelatedDocument]:
    """Return the parent documents of the retrieved passages, each once, in rank order."""
    documents: dict[str, RelatedDocument] = {}
    for passage in passages:
        metadata = passage["metadata"]
        key = str(metadata.get("doc_id") or metadata.get("title"))
        if key not in documents:
            documents[key] = RelatedDocument(
                title=str(metadata.get("title") or ""),
                category=category_of([metadata.get("category")]) or metadata.get("category"),
                doc_id=metadata.get("doc_id"),
                url=next(iter(source_urls(metadata.get("source_urls"))), None),
            )
    return list(documents.values())


def format_citations_markdown(citations: Sequence[Citation]) -> str:
    """Return the matched citations as a numbered markdown list; one without an address is an *(Internal Document)*."""
    labels: dict[str, str] = {}
    for citation in citations:
        if citation["matched"]:
            name = place_name(citation["title"], citation["section"])
            urls = citation["source_urls"]
            labels.setdefault(name, f"[{name}]({urls[0]})" if urls else f"{name} *(Internal Document)*")
    return "\n".join(f"{number}. {label}" for number, label in enumerate(labels.values(), start=1))
