"""Cut markdown and plain text along headings into chunks, each an exact slice of the source.

A chunk never crosses a heading, so its section is always true; a heading without text of its own appears in the section
paths of the chunks below it. Inside a section the rule of LangChain's RecursiveCharacterTextSplitter, which gives no
offsets, decides where to cut; table rows stay whole, and a chunk that starts inside a table carries its header.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from operator import attrgetter
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from chains.ingestion.source import MAX_NAME, Heading, Page, SourceText, Table, without_controls

NEWLINE = re.compile(r"\r\n?|\n")
LINE = re.compile(r"[^\r\n]+")
ROW = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)
# A comment in a code fence: start no chunk with it. The lookbehind keeps long runs of blanks from costing their square.
LOOKS_LIKE_HEADING = re.compile(r"[.!?]?(?<!\s)\s++(?=#{1,6}\s)")
START = attrgetter("start")
LONGEST = 4  # In chunk sizes: a longer heading is cut like any text, and a longer head of a table is not repeated.
_RULE = re.compile(r"[-*_=\s]+")  # Between two parts of a text; it says nothing.
FIRST_CHARACTER = re.compile(r"\s*\S")

FIXED = "\0"  # Stands for a character at which nothing may be cut.
# From the best place to cut to the worst: last behind any letter, for a word longer than a chunk.
SEPARATORS = [re.compile(pattern) for pattern in (r"\n\n", r"\n", r"\. ", "! ", r"\? ", " ", r"[^\0\n .!?]")]


@dataclass(frozen=True)
class Chunk:
    """A slice of a source: `source[start_char:end_char] == text`."""

    text: str
    start_char: int
    end_char: int
    section: str = ""
    section_path: tuple[str, ...] = ()
    context: str = ""  # Header and rule of the table that the chunk starts in, if they are short and not in the text.
    page: int | None = None  # Counted from 1; None where the source has no pages.


class SourceSpan(NamedTuple):
    """A stretch of the source."""

    start: int
    end: int


@dataclass(frozen=True)
class Chunker:
    """Cut texts into chunks of at most `size` characters; only a longer table row or heading is left whole.

    `overlap` is the most that a chunk repeats of the one before it in its section. `separator_stays` says whether a
    full stop ends the piece before it or starts the next one, as in LangChain's default. `fill` joins the remnants that
    the splitter leaves between long paragraphs where they fit into one chunk. `join` keeps a heading of level 2 or
    below and all that stands under it in one chunk, labelled with that heading, if it is not longer; 0 never does.
    """

    size: int = 800
    overlap: int = 100
    separator_stays: Literal["start", "end"] = "end"
    fill: bool = True
    join: int = 0

    def __post_init__(self) -> None:
        if self.join >= self.size:
            raise ValueError(f"join must be below the chunk size {self.size}, not {self.join}")

    def split(self, source: SourceText) -> list[Chunk]:
        if source.headings:
            return list(self._split_pages(source))
        if source.pages:
            return [chunk for page in source.pages for chunk in self._split_page(source, page)]
        if source.plain:
            return self.split_text(source.text, start=source.body_start)
        return self.split_markdown(source.text, start=source.body_start, title=source.metadata["title"])

    def split_text(self, source: str, *, start: int = 0) -> list[Chunk]:
        """Return the chunks of `source[start:]`, a text without markup, their offsets counted in `source`."""
        spans = self._cut(source, SourceSpan(start, len(source)), [])
        return [Chunk(source[span.start : span.end], *span) for span in spans]

    def _split_pages(self, source: SourceText) -> Iterator[Chunk]:
        """Yield the chunks of pages; a section goes on, over the pages, until the next heading.

        What the title says, such as the company's name on a cover, is no name of a section.
        """
        path: list[Heading] = []
        title = source.metadata["title"].casefold()
        for page in source.pages:
            first, last = (bisect_left(source.headings, place, key=START) for place in (page.start, page.end))
            chunks: list[Chunk] = []
            top, bottom = (Heading("", 0, place, place) for place in (page.start, page.end))
            for heading, following in pairwise([top, *source.headings[first:last], bottom]):
                above = [over for over in path if over.level < (heading.level or inf)]
                path = above + [heading] * bool(heading.level)
                names = tuple(above.text for above in path if above.text.casefold() not in title)
                spans = self._cut_section(source.text, heading, following.start, source.tables)
                chunks += self._chunks(source.text, spans, source.tables, names, page.number)
            # A page of headings only, such as a cover, is text as well.
            yield from chunks or self._split_page(source, page)

    def _split_page(self, source: SourceText, page: Page) -> Iterator[Chunk]:
        spans, path = self._cut(source.text, SourceSpan(page.start, page.end), []), (page.section,) * bool(page.section)
        return self._chunks(source.text, spans, source.tables, path, page.number)

    def _chunks(
        self, source: str, spans: Iterable[SourceSpan], tables: Sequence[Table], path: tuple[str, ...], page: int | None
    ) -> Iterator[Chunk]:
        for span in spans:
            text, context = source[span.start : span.end], self._context(source, span, tables)
            yield Chunk(text, *span, "".join(path[-1:]), path, context, page)

    def split_markdown(self, source: str, *, start: int = 0, title: str = "") -> list[Chunk]:
        """Return the chunks of `source[start:]`, their offsets counted in `source`.

        Section paths begin below the heading of level 1, unless that heading says something else than `title`.
        """
        tokens, lines = parse_markdown(source, start)
        headings = find_headings(tokens, lines)
        # markdown-it counts the header row and the rule below it as two lines.
        maps = [token.map for token in tokens if token.type == "table_open" and token.map]
        tables = [Table(lines[first], lines[min(first + 2, last)], lines[last]) for first, last in maps]
        top = Heading(next((heading.text for heading in headings if heading.level == 1), ""), 0, start, start)
        chunks: list[Chunk] = []
        path: list[Heading] = []
        last = Heading("", 0, len(source), len(source))
        for heading, following in pairwise([top, *_join_headings(headings, source, self.join), last]):
            path = [above for above in path if above.level < heading.level] + [heading] * bool(heading.level)
            names = tuple(above.text for above in path if above.level > 1 or above.text != title)
            cut = self._cut_section(source, heading, following.start, tables)
            spans = (span for span in cut if not _RULE.fullmatch(source, *span))
            parts = self._chunks(source, spans, tables, names, None)
            chunks += (replace(chunk, section=heading.text) for chunk in parts)
        return chunks

    def _cut_section(self, source: str, heading: Heading, end: int, tables: Sequence[Table]) -> Iterator[SourceSpan]:
        """Yield the chunks of one section: the heading stays with the text below it, a table's head with its rows."""
        first = FIRST_CHARACTER.match(source, heading.end, end)
        if first is None:
            return
        non_breaking = [SourceSpan(heading.start, first.end())]
        if heading.end - heading.start > LONGEST * self.size:
            non_breaking = []
        elif heading.end - heading.start <= self.size < first.end() - heading.start:
            # The heading fills a chunk to its last characters and has no room for text.
            non_breaking = [SourceSpan(heading.start, heading.end)]
        for table in tables[bisect_left(tables, heading.end, key=START) : bisect_left(tables, end, key=START)]:
            lines = [SourceSpan(*line.span()) for line in LINE.finditer(source, table.start, min(table.end, end))]
            non_breaking += lines
            top = SourceSpan(table.start, lines[:3][-1].end)
            non_breaking += [top] * (top.end - top.start <= self.size // 2)
        yield from self._cut(source, SourceSpan(heading.start, end), non_breaking)

    def _context(self, source: str, span: SourceSpan, tables: Sequence[Table]) -> str:
        """Return header and rule of the table that a chunk starts in, unless it starts with the header itself."""
        number = bisect_right(tables, span.start, key=START) - 1
        if number < 0 or span.start >= tables[number].end:
            return ""
        table = tables[number]
        if table.body - table.start > LONGEST * self.size or not source[table.start : span.start].strip():
            return ""
        return source[table.start : table.body].strip()

    def _cut(self, source: str, whole: SourceSpan, non_breaking: list[SourceSpan]) -> Iterator[SourceSpan]:
        """Yield the chunks of one stretch, in order and trimmed, none of them cut inside a `non_breaking` span."""
        signs = list(source[whole.start : whole.end])
        for match in LOOKS_LIKE_HEADING.finditer("".join(signs)):
            signs[match.start() : match.end()] = "x" * len(match[0])
        fixed = (SourceSpan(start - whole.start, end - whole.start) for start, end in non_breaking)
        for start, end in (*(match.span() for match in ROW.finditer(source[whole.start : whole.end])), *fixed):
            signs[start:end] = FIXED * (end - start)
        text = "".join(signs)
        cut: SourceSpan | None = None
        for piece in self._split(text, SourceSpan(0, len(text))):
            words = source[whole.start + piece.start : whole.start + piece.end]
            span = SourceSpan(
                whole.start + piece.end - len(words.lstrip()), whole.start + piece.start + len(words.rstrip())
            )
            if span.end <= max(span.start, cut.end if cut else 0):
                continue
            if cut and self.fill and span.end - cut.start <= self.size:
                cut = SourceSpan(cut.start, span.end)
                continue
            if cut:
                yield cut
            cut = span
        if cut:
            yield cut

    def _split(self, text: str, span: SourceSpan, level: int = 0) -> Iterator[SourceSpan]:
        """Yield stretches of at most `size` characters, cut at the best separators that there are and joined again."""
        last = len(SEPARATORS) - 1
        level = next((found for found in range(level, last) if SEPARATORS[found].search(text, *span)), last)
        cuts = (match.end() if self.separator_stays == "end" else match.start()
                for match in SEPARATORS[level].finditer(text, *span))  # fmt: skip
        short: list[SourceSpan] = []
        for start, end in pairwise([span.start, *cuts, span.end]):
            if end - start < self.size:
                short += [SourceSpan(start, end)] * (end > start)
                continue
            yield from self._join(short)
            short = []
            longer = SourceSpan(start, end)
            yield from self._split(text, longer, level + 1) if level < last else [longer]
        yield from self._join(short)

    def _join(self, pieces: Sequence[SourceSpan]) -> Iterator[SourceSpan]:
        """Yield neighbouring pieces together, as many as `size` allows; the first ones repeat up to `overlap`."""
        first = 0
        for number, piece in enumerate(pieces):
            start = pieces[first].start
            if piece.end - start > self.size:
                yield SourceSpan(start, piece.start)
                while first < number and (
                    piece.start - pieces[first].start > self.overlap or piece.end - pieces[first].start > self.size
                ):
                    first += 1
        if pieces:
            yield SourceSpan(pieces[first].start, pieces[-1].end)


def parse_markdown(source: str, start: int = 0) -> tuple[list[Token], list[int]]:
    """Return the blocks of `source[start:]`, and where in the source each of their lines begins."""
    tokens = MarkdownIt("commonmark").enable("table").disable("inline").parse(source[start:])
    return tokens, [start, *(match.end() for match in NEWLINE.finditer(source, start)), len(source)]


def find_headings(tokens: list[Token], lines: list[int]) -> list[Heading]:
    """Return the headings of the document itself, not those inside quotations and lists."""
    inline = MarkdownIt("commonmark")
    headings = []
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            words = (child.content for token in inline.parseInline(content.content) for child in token.children or [])
            start, end = (lines[number] for number in opening.map)
            name = " ".join(without_controls("".join(words)).split())[:MAX_NAME]
            headings.append(Heading(name, int(opening.tag[1:]), start, end))
    return headings


def _join_headings(headings: list[Heading], source: str, limit: int) -> list[Heading]:
    """Return the headings that start chunks of their own: not those inside a part of at most `limit` characters.

    A part is a heading of level 2 or below with all that stands under it, if that is not only headings.
    """
    kept: list[Heading] = []
    joined_until = 0
    for number, heading in enumerate(headings):
        if heading.start < joined_until:
            continue
        kept.append(heading)
        below = pairwise([*headings[number:], Heading("", 0, len(source), len(source))] if heading.level > 1 else [])
        has_text = False
        for above, following in below:
            if following.start - heading.start > limit:
                break
            has_text = has_text or bool(source[above.end : following.start].strip())
            if following.level <= heading.level:
                joined_until = following.start if has_text else 0
                break
    return kept
