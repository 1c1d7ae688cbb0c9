"""Compute stage 4: read the markers of an answer, match and verify them, and decide the outcome."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from langchain_core.messages import AIMessage

import prompts
from chains.citations.cited_sentences import (
    CheckedText,
    Sentence,
    SentenceGate,
    cited_sentences,
    clauses_of,
    headings,
    sentences_of,
    unanswered_parts,
    without,
)
from chains.citations.contradiction import Disagreement, find_disagreements
from chains.citations.evidence import Asked, asked_about
from chains.citations.markers import inside, link_labels
from chains.citations.numbering import NumberedMarkers, TitledMarkers, insert_markers, number_markers, rewrite
from chains.citations.references import (
    bibliography,
    candidates,
    numbered_sources,
    read_notes,
    read_numbers,
    read_references,
    reference_to,
)
from chains.citations.sources import cited_sources, closest_of, related_documents, sources_of
from chains.citations.support import LEAST_SUPPORT, Support
from chains.citations.titles import Reference
from chains.citations.verification import (
    attribute,
    first_decline,
    is_decline,
    leading,
    opens_with_decline,
    says_nothing_found,
    support_together,
    turns_in_circles,
    verify,
)
from chains.documents.naming import source_urls
from chains.metadata import DEGRADED, MATCH, UNSURE, WITHHELD
from chains.ports import WordSimilarity
from chains.side_steps import side_step
from chains.state import (
    SMALL_TALK,
    UNDERSPECIFIED,
    Citation,
    CitationResult,
    CitationStyle,
    ClosestPassage,
    Contextualised,
    Generated,
    Outcome,
    Passage,
    is_blocked,
)
from chains.text.asking import gives_what_is_asked
from chains.text.statements import REFERS
from prompts import Translations, translated

_UNSEARCHED: Mapping[str, Outcome] = {SMALL_TALK: "small_talk", UNDERSPECIFIED: "question_back"}
_NUMBER = re.compile(r"[\[【](\d+)[\]】]")
_REWRITERS = {"title": TitledMarkers, "numbered": NumberedMarkers}


@dataclass(frozen=True)
class CiteSources:
    """Read, match and verify the citations of an answer.

    Args:
        style: `[Title > Section]`, or numbered markers that are counted by first appearance.
        min_citations: an answer that cites fewer sources validly is replaced.
        attribution: whether a sentence without a citation gets the shown passage that supports it.
        similarity: cosines between words, which lets a synonym count as support; without it only shared stems do.
        checked: whether a stream shows a sentence once it is whole and checked, and none before the first that a
            passage supports; else words are shown as they come.
        markers_suffice: whether an answer with valid markers stands though no passage supports it, as in POST /chat.
        fallback: the text that replaces an ungrounded answer.
        withheld: the text that replaces an answer which the safety check withholds.
        decline: the sentence of the deployment's own prompt for what the documents lack.
        translations: of these texts and of a decline, for a question with a `language`; by default the packaged ones.
        reader: quotes the passages where the model declines, or no source supports what it wrote; None where it is not
            sure of them. By default nothing does.
    """

    style: CitationStyle = "title"
    min_citations: int = 1
    attribution: bool = True
    similarity: WordSimilarity | None = None
    checked: bool = True
    markers_suffice: bool = False
    fallback: str | None = None
    withheld: str | None = None
    decline: str = ""
    translations: Translations = field(default_factory=prompts.translations)
    reader: Callable[[Generated], AIMessage | None] | None = None

    def markers(self, shown: Sequence[Passage]) -> NumberedMarkers:
        """Return what writes the markers of an answer in this style, whole and final."""
        return _REWRITERS[self.style](shown)

    def gate(self, markers: NumberedMarkers, state: Contextualised) -> SentenceGate | None:
        """Return what checks the sentences of a stream; None where words are shown as they come."""
        shown, asked, numbers = state["context"]["passages"], _asked(state), dict[tuple[object, object], int]()

        def check(text: str) -> CheckedText:
            references, notes = read_numbers(text, markers.cited), list[tuple[int, int]]()
            if self.style == "title":
                references, notes = read_references(text, shown)
            notes = [*notes, *((note.start, note.end) for note in bibliography(text, shown))]
            return self._cite(text, references, shown, asked, notes=notes, numbers=numbers)

        return SentenceGate(check) if self.checked and shown else None

    def __call__(self, state: Generated) -> CitationResult:
        shown, written, asked = state["context"]["passages"], state["answer"], _asked(state)
        raw = str(state["message"].text)
        if is_unsure := bool(state["message"].response_metadata.get(UNSURE)):
            raw = self._with_translated_line(raw, state)
        answer, references, notes = self._read(raw, shown)
        found = self._cite(answer, references, shown, asked, notes=notes)
        several = "parts" in state
        judged = self._refused(state) or (("unsure", None) if is_unsure else None)
        outcome, replacement = judged or self._judge(answer, found, shown, several=several)
        if state["message"].response_metadata.get(DEGRADED) and outcome not in {"no_results", "blocked"}:
            # The text is kept and marked: quotations without a network, or an answer that broke off.
            outcome, replacement = "degraded", None
        if outcome in {"declined", "ungrounded"} and self.reader and (quotes := self.reader(state)):
            quotes = quotes.model_copy(update={"content": self._with_translated_line(quotes.text, state)})
            draft = answer if outcome == "ungrounded" else ""
            return {**replace(self, reader=None)(Generated(**{**state, "message": quotes})), "draft": draft}
        match = self._match(state, found) if outcome == "answered" and self.reader else None
        marked = cited_sources([citation for citation in found.citations if citation["number"] is not None])
        is_lacking = self.style == "numbered" and len(marked) < max(1, self.min_citations)
        if outcome == "answered" and is_lacking and found.unmarked:  # A number for each attributed sentence.
            _, cited = number_markers(raw, numbered_sources(raw, shown))
            passages = [(sentence, verified.passage) for sentence, verified in found.unmarked if verified.passage]
            written_out, sources = insert_markers(answer, passages, cited)
            answer, references, notes = self._read(written_out, sources)
            words = {sentence.words for sentence, _ in found.unmarked}
            found = self._cite(answer, references, shown, asked, notes=notes, attributed=words)
        is_shown = outcome in {"answered", "degraded", "unsure"}
        citations = found.citations if is_shown else []
        text = replacement or answer
        if not is_shown:
            text = translated(text, state.get("language"), self.translations)
        closest: list[ClosestPassage] = []
        disagreement: Disagreement | None = None
        older: Disagreement | None = None
        unanswered = unanswered_parts(answer, len(state.get("parts", [])), self._standing(citations))
        if outcome != "blocked" and (unanswered or outcome != "answered"):
            with side_step("closest"):
                closest = closest_of(state, unanswered)
        if outcome == "answered":
            with side_step("disagreement"):
                disagreement, older = find_disagreements(answer, found.citations, shown, asked.text)
        return CitationResult(
            citations=citations,
            sources=sources_of(citations, shown),
            related_docs=related_documents(state["documents"]),
            closest=closest,
            outcome=outcome,
            unanswered=unanswered,
            replacement=text if text != written else None,
            unsupported=found.unsupported if is_shown else [],
            draft=answer if outcome == "ungrounded" else "",
            disagreement=disagreement,
            older=older[1] if older else None,
            match=match,
        )

    def _with_translated_line(self, quotations: str, state: Generated) -> str:
        line, gap, quoted = quotations.partition("\n")
        return translated(line, state.get("language"), self.translations) + gap + quoted

    def _match(self, state: Generated, found: CheckedText) -> float | None:
        """Return how sure the reader is of its best quotation, where that says what an unmarked answer says; else 0.

        A model that marks its sources has read them; one that does not may have taken the row beside the right one.
        """
        if not self.reader or not found.unmarked or not all(one["attributed"] for one in found.citations):
            return None
        if (quotes := self.reader(state)) is None:
            return 0.0
        text, references, _ = self._read(quotes.text.partition("\n\n")[2], state["context"]["passages"])
        above = (f"{one.title} > {one.section or ''}" for one in references)
        best = text[: references[0].end] if references else text  # It is what the probability is of.
        quoted = Passage(content="\n\n".join([best, *above]), metadata={}, score=None)
        said = verify([found.unmarked[0][0].words], [quoted], self.similarity, _asked(state))
        return quotes.response_metadata.get(MATCH, 0.0) if said.supported else 0.0

    def _read(self, raw: str, shown: Sequence[Passage]) -> tuple[str, list[Reference], list[tuple[int, int]]]:
        """Return the answer that the model's `raw` words become, its references, and the ranges of their notes.

        A bibliography at the end may give the numbers another meaning than the ranks had while the answer streamed.
        """
        if self.style == "title":
            answer = raw if bibliography(raw, shown) else rewrite(raw, TitledMarkers(shown, link_labels(raw)))
            return answer, *read_references(answer, shown)
        answer, cited = number_markers(raw, numbered_sources(raw, shown))
        references, notes = read_notes(answer, shown)
        notes += [(note.start, note.end) for note in bibliography(answer, shown)]
        references += [reference for reference in read_numbers(answer, cited) if not inside(reference.start, notes)]
        return answer, references, notes

    def _cite(
        self,
        answer: str,
        references: Sequence[Reference],
        shown: Sequence[Passage],
        asked: Asked,
        *,
        notes: Sequence[tuple[int, int]] = (),
        attributed: Collection[str] = (),
        numbers: dict[tuple[object, object], int] | None = None,
    ) -> CheckedText:
        """Return the citations of an answer, and what of it no passage supports."""
        if not shown:
            return CheckedText(False, [], None)
        places = [(reference.start, reference.end) for reference in references]
        titles = headings(answer) if asked.parts else []
        sentences = [one for one in sentences_of(answer, sorted({*places, *notes})) if not inside(one.start, titles)]
        clauses, doubtful = clauses_of(answer, sentences, places), dict[int, dict[str, bool]]()
        citations, stands = list[Citation](), set[int]()
        by_sentence: dict[int, list[tuple[Citation, Reference, list[Passage]]]] = {}
        for reference, indices in zip(references, cited_sentences(sentences, places), strict=True):
            cited = [sentences[index] for index in indices]
            claims = [sentence for sentence in cited if sentence.is_claim] or cited
            # A number stands for a page or a document, whichever of its sections; a title may name the section.
            named = candidates(reference, shown, by_title=self.style == "title")
            verified = verify([claim.words for claim in claims], named, self.similarity, asked)
            clause = clauses.get(reference.start)
            is_whole = clause is None or verified.supported
            if clause and not is_whole:
                verified = verify([clause], named, self.similarity, asked)
            raw = answer[reference.start : reference.end]
            citation = _citation(raw, reference.start, verified, reference)
            citation["attributed"] = any(sentence.words in attributed for sentence in cited)
            citations.append(citation)
            if len(claims) == 1 and not clause:
                by_sentence.setdefault(claims[0].start, []).append((citation, reference, named))
            if is_whole and _is_supported(citation):
                stands.update(sentence.start for sentence in cited)
            elif clause:
                verdicts = doubtful.setdefault(cited[0].start, {})
                verdicts[clause] = verdicts.get(clause, False) or _is_supported(citation)
        stands.update(start for start, verdicts in doubtful.items() if all(verdicts.values()))
        for sentence in sentences:
            if self._cite_together(sentence, by_sentence.get(sentence.start, []), asked):
                stands.add(sentence.start)
        bare = [sentence for sentence in sentences if sentence.is_claim and sentence.start not in stands]
        unmarked = list(attribute(bare, shown, asked)) if self.attribution else []
        for sentence, verified in unmarked:
            reference = reference_to(verified.passage, sentence.start, sentence.end)
            raw = answer[sentence.start : sentence.end]
            citations.append(_citation(raw, sentence.start, verified, reference) | {"attributed": True})
            stands.add(sentence.start)
        citations.sort(key=lambda citation: (citation["start"], citation["end"]))
        unsupported = [
            (one.start, one.end) for one in bare if one.start not in stands and not says_nothing_found(one.words)
        ]
        looks = self.min_citations and self.attribution and not self.markers_suffice
        return CheckedText(
            bool(cited_sources(self._standing(citations))),
            unsupported,
            _leads(sentences, stands, asked) if looks else None,
            _numbered(citations, self.style, {} if numbers is None else numbers),
            unmarked,
        )

    def _cite_together(
        self, sentence: Sentence, marked: Sequence[tuple[Citation, Reference, list[Passage]]], asked: Asked
    ) -> bool:
        """Give the markers of a sentence the parts that their sources support; return whether these support it all."""
        passages = list({id(named[0]): named[0] for _, _, named in marked if named}.values())
        if len(passages) < 2:  # noqa: PLR2004 - One source has been checked.
            return False
        found = support_together(sentence.words, passages, self.similarity, asked)
        for citation, reference, named in marked:
            place = next((place for place, one in enumerate(passages) if named and one is named[0]), -1)
            if place in found:
                citation.update(_citation(citation["raw"], citation["start"], found[place], reference))
        return bool(found)

    def _standing(self, citations: Sequence[Citation]) -> list[Citation]:
        return [one for one in citations if self.markers_suffice or _is_supported(one)]

    def _refused(self, state: Generated) -> tuple[Outcome, str | None] | None:
        """Return the outcome of a question that was not searched for, or of an answer that is not shown."""
        message = state["message"]
        if message.response_metadata.get(WITHHELD) and not opens_with_decline(message.text, self.decline):
            return "blocked", self.withheld or prompts.load("withheld")
        if is_blocked(state):
            return "blocked", None
        redirect = state.get("scope")
        return (_UNSEARCHED.get(redirect["intent"], "redirected"), None) if redirect else None

    def _judge(
        self, answer: str, found: CheckedText, shown: Sequence[Passage], *, several: bool
    ) -> tuple[Outcome, str | None]:
        if not shown:
            return "no_results", None
        citations = found.citations
        standing = cited_sources(self._standing(citations))
        # One question of several may be declined.
        if is_decline(answer, citations, self.decline) and not (several and standing):
            return "declined", _without_markers(first_decline(answer), citations)
        if len(standing) < self.min_citations or found.leads is False or turns_in_circles(answer):
            return "ungrounded", self.fallback or prompts.load("ungrounded")
        return "answered", None


def _asked(state: Contextualised) -> Asked:
    parts = tuple(part["query"] for part in state.get("parts", []))
    return asked_about(state.get("search_query") or state["question"], state["context"]["passages"], parts)


def _leads(sentences: Sequence[Sentence], stands: Collection[int], asked: Asked) -> bool | None:
    """Return whether the sentence that answers is supported and gives what is asked; None where none answers.

    In a stream something supported may have been shown before it. Without a word of the question each may answer it.
    """
    if asked.parts:
        return None
    if lead := leading(sentences, asked):
        behind = next((one for one in sentences if one.start > lead.start), lead)
        told = [lead, behind] if behind.start in stands and REFERS.match(behind.words) else [lead]  # "It costs ...".
        is_right = lead.start in stands and any(gives_what_is_asked(one.words, asked.text) for one in told)
        return is_right or any(start < lead.start for start in stands)
    given = [gives_what_is_asked(one.words, asked.text) for one in sentences if one.start in stands]
    return False if given and not any(given) else None


def _is_supported(citation: Citation) -> bool:
    return citation["matched"] and citation["support"] >= LEAST_SUPPORT


def _citation(raw: str, start: int, verified: Support, reference: Reference) -> Citation:
    passage = verified.passage
    metadata = passage["metadata"] if passage else {}
    matched = passage is not None and not verified.contradicted
    section = metadata.get("section") or None if passage and reference.section_matched else None
    return Citation(
        raw=raw,
        number=None,
        title=str(metadata.get("title") or reference.title),
        section=section if passage else reference.section,
        page=metadata.get("page"),
        doc_id=metadata.get("doc_id"),
        matched=matched,
        source_urls=source_urls(metadata.get("source_urls")) if matched else [],
        score=passage["score"] if passage else 0.0,
        start=start,
        end=start + len(raw),
        quote=verified.quote,
        support=verified.score,
        attributed=False,
        contradicted=verified.contradicted,
    )


def _numbered(
    citations: list[Citation], style: CitationStyle, numbers: dict[tuple[object, object], int]
) -> list[Citation]:
    """Number the marked citations by the document and section they stand for, or by what the marker says."""
    for citation in citations:
        if style == "numbered":
            marker = _NUMBER.fullmatch(citation["raw"])
            citation["number"] = int(marker[1]) if marker else None
        elif citation["matched"] and not citation["attributed"]:
            key = (citation["doc_id"] or citation["title"], citation["section"])
            citation["number"] = numbers.setdefault(key, len(numbers) + 1)
    return citations


def _without_markers(answer: str, citations: Sequence[Citation]) -> str:
    """Return the answer without its markers, its line breaks kept."""
    marked = [(citation["start"], citation["end"]) for citation in citations if not citation["attributed"]]
    if not marked:
        return answer
    lines, at = [], 0
    for line in answer.splitlines(keepends=True):
        lines.append(without(answer, at, at + len(line), marked))
        at += len(line)
    return "\n".join(lines).strip()
