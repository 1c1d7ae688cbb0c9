"""What an answer looks like outside: as plain values, as markdown and as text, each in one form.

A contract (HTTP, OpenAI, MCP, the command line, the page) gives these its own names, and nothing else.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Annotated, Any

from pydantic import Field

from chains.documents import naming
from chains.state import Answer, Citation, ClosestPassage
from chains.text.letters import escape_brackets, one_line
from chains.text.statements import read_statements
from chains.text.tokens import tokens

SOURCES, CLOSEST = "\n\nSources:\n\n", "\n\nClosest passages:\n\n"
UNSUPPORTED = "\n\nNo passage supports:\n\n"
WITHDRAWN = "\n\n---\n\nThe answer above is withdrawn. "
_PAIR_OR_BRACKET = re.compile(r"\\.|(?=[\[\]])")


def matched(citations: Iterable[Citation]) -> list[Citation]:
    return [citation for citation in citations if citation["matched"]]


def numbered_places(answer: Answer) -> list[naming.Place]:
    """Return the place of each number of the answer, at the number's position; one that leads nowhere has a title."""
    best_first = sorted(answer["citations"], key=lambda citation: not citation["matched"])
    places = {each["number"]: naming.place_of(each) for each in reversed(best_first) if each["number"] is not None}
    return [place for _, place in sorted(places.items())]


def numbers_of(citations: Sequence[Mapping[str, Any]]) -> list[int | None]:
    """Return the number of each matched citation, one for a document and section, counted as they stand in the text."""
    known = sorted((citation for citation in citations if citation["matched"]), key=itemgetter("end"))
    sources = list(dict.fromkeys(map(_source, known)))
    return [sources.index(_source(citation)) + 1 if citation["matched"] else None for citation in citations]


def _source(citation: Mapping[str, Any]) -> tuple[object, object]:
    return citation["doc_id"] or citation["title"], citation["section"] or None


def word_of_three(level: str) -> str:
    """Return the confidence as clients know it that switch on High, Medium and Low; very_low and unknown are Low."""
    return {"high": "High", "medium": "Medium"}.get(level.lower(), "Low")


class NumberedSource(naming.Place):
    """What a number in the answer stands for."""

    number: int
    quote: Annotated[str, Field(description="The words of the source that support the answer.")]


def sources_of(answer: Answer) -> list[NumberedSource]:
    cited = naming.cited_by_number(answer["citations"])
    return [{**naming.place_of(source), "number": number, "quote": source["quote"]} for number, source in cited.items()]


class NearPassage(naming.Place):
    """A passage near a question that was not answered."""

    quote: Annotated[str, Field(description="The passage, in markdown.")]
    marked: Annotated[str, Field(description="The words of it that fit the question best; empty where none is sure.")]
    score: Annotated[float | None, Field(description="The similarity to the question, 0 to 1.")]


def closest_of(answer: Answer) -> list[NearPassage]:
    return [
        {
            **naming.place_of(passage),
            "quote": naming.passage_markdown(passage["quote"], passage["table_head"]),
            "marked": passage["marked"],
            "score": passage["score"],
        }
        for passage in answer["closest"]
    ]


def judged(answer: Answer) -> dict[str, Any]:
    """Return what a contract made for plain answers has no field for: how far this one can be trusted, and its id."""
    names = ("outcome", "closest", "unsupported", "draft", "confidence")
    return {**{name: answer[name] for name in names}, "trace_id": answer["metadata"]["trace_id"]}  # type: ignore[literal-required]


def markdown_below(answer: Answer, *, replaced: bool = False) -> str:
    """Return the lists below an answer: sources, unsupported sentences, closest passages.

    Where a stream was `replaced` by words that are no answer, it is withdrawn and these words come before.
    """
    if replaced and answer["outcome"] not in {"answered", "unsure"}:
        return WITHDRAWN + answer["answer"] + closest_markdown(answer["closest"])
    cited = naming.cited_by_number(answer["citations"]).items()
    sources = "\n".join(f"{number}. {_linked(naming.place_of(citation))}" for number, citation in cited)
    sentences = "\n".join(f"- {one_line(sentence)}" for sentence in naming.unsupported_sentences(answer))
    lists = ((SOURCES, sources), (UNSUPPORTED, sentences))
    below = "".join(heading + lines for heading, lines in lists if lines)
    return below + closest_markdown(answer["closest"])


def closest_markdown(closest: Sequence[ClosestPassage]) -> str:
    """Return the closest passages as a numbered list that shows no link, image or tag of theirs; empty without any."""
    items = []
    for number, passages in enumerate(naming.passages_by_place(closest), start=1):
        harmless: list[ClosestPassage] = [
            {**passage, "quote": _harmless(passage["quote"]), "table_head": _harmless(passage["table_head"])}
            for passage in passages
        ]
        items.append(naming.listed_markdown(_linked(naming.place_of(passages[0])), harmless, f"{number}. "))
    return CLOSEST + "\n\n".join(items) if items else ""


def _harmless(text: str) -> str:
    return _PAIR_OR_BRACKET.sub(lambda pair: pair[0] or "\\", text).replace("<", "&lt;")


def _linked(place: naming.Place) -> str:
    name = escape_brackets(one_line(naming.place_name(place["title"], place["section"])))
    page = f", page {place['page']}" if place["page"] else ""
    return f"[{name}]({place['url']}){page}" if place["url"] else f"{name}{page}"


def conversation_markdown(answers: Iterable[Answer]) -> str:
    """Return a conversation: each question as a heading, its answer, and the quotes behind it."""
    lines: list[str] = []
    for answer in answers:
        quotes = (
            f"> {cited_name(citation)}: {' '.join(citation['quote'].split())}\n"
            for citation in matched(answer["citations"])
        )
        question = " ".join(answer["question"].split())
        lines += [f"## {question}\n", f"{answer['answer'].strip()}\n", *dict.fromkeys(quotes)]
    return "\n".join(lines)


def cited_name(citation: Citation) -> str:
    """Return `Title > Section, page 3`."""
    return naming.place_name(citation["title"], citation["section"], citation["page"])


Section = tuple[str, list[str]]
"""The heading of a list below an answer in text, and its lines: each may hold any character, but is meant to be one."""


def notices(answer: Answer, *, replaced: bool) -> Iterator[str]:
    """Yield sentences on an answer in text: that its words are withdrawn, cut off, or of another question."""
    metadata = answer["metadata"]
    if replaced and answer["outcome"] != "unsure":
        yield f"The answer above is withdrawn: {answer['answer']}"
    if metadata["search_query"] not in metadata["query"]:
        yield f"Searched for: {one_line(metadata['search_query'])}"
    if metadata["finish_reason"] == "length":
        yield "The answer was cut off at LLM_MAX_TOKENS."
    if metadata["finish_reason"] == "error":
        yield "The answer above is incomplete: the language model broke off. Ask again."


def doubts(answer: Answer) -> Iterator[Section]:
    """Yield what no passage supports, and the closest passages: a statement a line, the marked ones with a sign."""
    sentences = [one_line(text) for text in (answer["draft"], *naming.unsupported_sentences(answer)) if text]
    yield "No passage says this", sentences
    lines: list[str] = []
    for passages in naming.passages_by_place(answer["closest"]):
        lines += [*([""] if lines else []), naming.place_text(naming.place_of(passages[0]))]
        for passage in passages:
            for statement in read_statements(passage["quote"], passage["table_head"]):
                if statement.kind != "head":
                    sign = ">" if statement.words == passage["marked"] else "-" if statement.kind == "item" else " "
                    lines.append(f"  {sign} {statement.said}")
    yield "Closest passages", lines


def grounds(answer: Answer) -> Iterator[Section]:
    """Yield the translation of an answer, its sources, and the related documents that it does not cite."""
    yield "Translation, written by the language model", answer.get("answer_translation", "").splitlines()
    yield "Citations", list(_cited(answer))
    cited = {citation["doc_id"] for citation in matched(answer["citations"])}
    related = (document["title"] for document in answer["related_docs"] if document["doc_id"] not in cited)
    yield "Related documents", list(dict.fromkeys(related))


def _cited(answer: Answer) -> Iterator[str]:
    """Yield each source once, those without a marker last: name, addresses, quotes that the answer does not repeat."""
    places: dict[tuple[object, ...], list[Citation]] = {}
    for citation in sorted(matched(answer["citations"]), key=lambda citation: citation["number"] or math.inf):
        places.setdefault((citation["doc_id"], citation["section"], citation["page"]), []).append(citation)
    said = {word.key for word in tokens(answer["answer"])}
    for citations in places.values():
        first, support = citations[0], min(citation["support"] for citation in citations)
        numbers = "".join(dict.fromkeys(f"[{citation['number']}] " for citation in citations if citation["number"]))
        marker = "" if numbers else "no marker in the text, "
        yield f"{numbers}{cited_name(first)} ({marker}support {support:.2f})"
        statements = (read_statements(citation["quote"]) for citation in citations)
        quotes = [" ".join(statement.said for statement in quote) for quote in statements]
        further = [quote for quote in dict.fromkeys(quotes) if not said.issuperset(word.key for word in tokens(quote))]
        yield from (f"    {line}" for line in [*first["source_urls"], *(f"“{quote}”" for quote in further)])


def verdict(answer: Answer) -> Iterator[str]:
    """Yield what was taken out of the question, the confidence, and which model answered."""
    confidence, metadata = answer["confidence"], answer["metadata"]
    safety = metadata.get("safety")
    if safety and safety["redacted"]:
        kinds = ", ".join(kind.replace("_", " ").lower() for kind in safety["redacted"])
        yield f"Removed from the question: {kinds}"
    if confidence:
        yield f"Confidence: {confidence['level']} ({confidence['reason']})"
        yield from (f"  question {n}: {part['level']}" for n, part in enumerate(confidence.get("parts", []), start=1))
    yield f"Model: {metadata['model'] or 'none'} · outcome: {answer['outcome']} · {metadata['latency_ms']:.0f} ms"


def one_line_verdict(answer: Answer) -> str:
    """Return confidence, number of cited documents and time; empty where there is no confidence."""
    if not answer["confidence"]:
        return ""
    cited = {citation["doc_id"] for citation in matched(answer["citations"])}
    documents = f"{len(cited)} {'document' if len(cited) == 1 else 'documents'} cited"
    return f"Confidence: {answer['confidence']['level']} · {documents} · {answer['metadata']['latency_ms']:.0f} ms"
