"""Find the code and the bare links in markdown: no citation can stand there.

markdown-it-py, a CommonMark parser, separates code from text. It keeps line numbers for blocks and no offsets for
what is inside a line, so the rules that consume code spans and autolinks are wrapped to note where they stood.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, autolink, backtick

Range = tuple[int, int]

# Without one of these there is no code to find, and no need to parse.
_MAY_BE_CODE = re.compile(r"[`<]|~~~|^[ ]{0,3}(?:\t|[ ]{4})|\t", re.MULTILINE)

_InlineRule = Callable[[StateInline, bool], bool]
_NOTES = "ranges"


def code_ranges(text: str) -> list[Range]:
    """Return the ranges of code blocks, code spans and autolinks in `text`, in order. Linear in its length."""
    if not _MAY_BE_CODE.search(text):
        return []
    parser = _parser()
    flat = text.replace("\r", " ")  # The same length, so that offsets hold.
    lines = _line_starts(flat)
    ranges: list[Range] = []
    for token in parser.parse(flat):
        if token.type in {"fence", "code_block"} and token.map:
            ranges.append((lines[token.map[0]], lines[min(token.map[1], len(lines) - 1)]))
        elif token.type == "inline" and token.map and ("`" in token.content or "<" in token.content):
            ranges.extend(_spans(parser, flat, token.content, lines[token.map[0]]))
    return ranges


def _spans(parser: MarkdownIt, text: str, content: str, start: int) -> Iterator[Range]:
    notes: dict[str, list[Range]] = {_NOTES: []}
    parser.inline.parse(content, parser, notes, [])
    offsets = _offsets(text, content, start)
    for begin, end in notes[_NOTES]:
        yield offsets[begin], offsets[end - 1] + 1


def _offsets(text: str, content: str, start: int) -> list[int]:
    # A block's content is its lines without their indentation or quote marks: find each again, in order.
    offsets: list[int] = []
    cursor = start
    for line in content.split("\n"):
        at = text.find(line, cursor)
        cursor = cursor if at < 0 else at
        offsets.extend(range(cursor, cursor + len(line) + 1))
        cursor += len(line)
    return offsets


def _line_starts(text: str) -> list[int]:
    starts = [0]
    starts.extend(index + 1 for index, character in enumerate(text) if character == "\n")
    return [*starts, len(text)]


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").disable(["html_block", "reference"])
    parser.core.ruler.enableOnly(["block"])
    parser.inline.ruler.enableOnly(["text", "escape", "backticks", "autolink"])
    parser.inline.ruler2.enableOnly([])
    parser.inline.ruler.at("backticks", _noting(backtick))
    parser.inline.ruler.at("autolink", _noting(autolink))
    return parser


def _noting(rule: _InlineRule) -> _InlineRule:
    def noting(state: StateInline, silent: bool) -> bool:
        begin, tokens = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        if len(state.tokens) > tokens:
            state.env[_NOTES].append((begin, state.pos))
        return True

    return noting
