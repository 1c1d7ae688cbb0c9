"""Check the words of the model, piece by piece, before anyone sees them, not even half of a link or a tag.

No foreign link, no image and no HTML is shown, and neither the canary nor the prompt recited.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from chains.documents.naming import source_urls
from chains.metadata import LINKS_REMOVED, WITHHELD
from chains.safety.cleaning import without_invisible
from chains.state import Passage

_WEB = ("http", "https")
# Ends an address in a text without blanks between the words.
WIDE_SIGNS = "\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_ADDRESS = re.compile(rf"https?://[^\s<>\"'\[\]|`{WIDE_SIGNS}]+", re.IGNORECASE)
# What ends a sentence or closes a bracket around an address, and is not part of it.
TRAILING = ".,;:!?*_~'\"\u201d\u2019>]}"


class KnownLinks:
    """The addresses that the passages shown to the model give as their sources, and those in their texts.

    A link stays where its host is one of a source. Its query and its path can carry words of the conversation away, so
    they have to stand in a passage as well; the beginning of a known path is known.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages

    def allow(self, url: str) -> bool:
        host = _host(url)
        if not host or host not in set(map(_host, self._sources)):
            return False
        parts, address = urlsplit(url), _plain(url)
        if parts.scheme.lower() not in _WEB or parts.username is not None:
            return False
        if parts.query or parts.fragment:
            return address in self._known
        beginnings = (f"{address}/", f"{address}?", f"{address}#")
        return any(known == address or known.startswith(beginnings) for known in self._known)

    @cached_property
    def _sources(self) -> set[str]:
        return {url for passage in self._passages for url in source_urls(passage["metadata"].get("source_urls"))}

    @cached_property
    def _known(self) -> set[str]:
        texts = (_ADDRESS.findall(passage["content"]) for passage in self._passages)
        written = {url.rstrip(TRAILING + ")") for urls in texts for url in urls}
        return {_plain(url) for url in self._sources | written}


def _plain(url: str) -> str:
    """Return the address without its scheme, `www.` and the slash at its end, the host in lower case."""
    _, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{host.lower().removeprefix('www.')}{slash}{path}".rstrip("/")


def _host(url: str) -> str:
    """Return the host of an address, with its port if it has one; empty where it is no address."""
    try:
        parts = urlsplit(url)
        name = (parts.hostname or "").removeprefix("www.")
        return f"{name}:{parts.port}" if parts.port else name
    except ValueError:
        return ""


REMOVED = "(link removed)"
# What stands for something that was taken out of the question, like <EMAIL>.
PLACEHOLDER = re.compile(r"<[A-Z][A-Z_]+>")
LONGEST = 2000  # Of a link or a tag that is waited for; what is longer is cut off there.
SHORT_RUN = 400  # Of a run without blanks that is held back.

_ELEMENTS = (
    "a|abbr|address|applet|area|article|aside|audio|b|base|bdi|bdo|big|blink|blockquote|body|br|button|canvas|center|"
    "cite|code|col|data|dd|del|details|dialog|div|dl|dt|em|embed|fieldset|figure|font|footer|form|frame|frameset|h[1-6]|"
    "head|header|hr|html|i|iframe|img|image|input|ins|kbd|label|legend|li|link|main|map|mark|marquee|math|menu|meta|"
    "meter|nav|noscript|object|ol|option|output|p|param|picture|plaintext|pre|progress|q|rp|rt|ruby|s|samp|script|"
    "section|select|slot|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|"
    "tfoot|th|thead|time|title|tr|track|tt|u|ul|var|video|wbr|xml|xmp|tool_call|tool_calls|function_call|function|think"
)
_COMMENT = r"--.{0,500}?--"
_TAG = rf"<[/!?]?(?:(?:{_ELEMENTS})\b[^<>]*|[a-z][\w:-]*[\s/][^<>=]*=[^<>]*|{_COMMENT}|\[CDATA\[[^<>]*)>"
_PLAIN_TAG = r"</?[a-z][\w:-]*\s*/?>"  # Of no element: text, like <Party>.
_DESTINATION = r"(?:<[^<>\n]*>|[\w .,;-]+(?=\))|[^\s()<>\[\]]*(?:\([^\s()<>\[\]]*\)[^\s()<>\[\]]*)*)"
_TITLE = r"(?:\s+(?:\"[^\"]*\"|'[^']*'))?"
# Renderers of markdown see an address behind a letter that is not Latin, and some behind any character.
_BARE = (
    r"(?:(?:https?|ftps?|wss?):/{2}|(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:/{2}|www\."
    r"|(?<![:/\w])/{2}(?=[\w-]+\.\w)|(?<![a-z0-9])(?:javascript|data|vbscript|mailto|tel|sms|xmpp):)"
    rf"[^\s<>][^\s<>|`\"\[\]{WIDE_SIGNS}]*"
)
# What none of the others takes may still be read as a link or a tag, or become one where something is taken out of it.
_STRAY = r"\]\(|\]:|<(?=[a-z/!?<])|[\]!](?=<)"
_FOUND = re.compile(
    rf"(?P<image>!(?=\[))|(?P<link>\]\(\s*(?P<destination>{_DESTINATION}){_TITLE}\s*\))"
    rf"|(?P<definition>\]:(?=\s*(?P<defined>\S+)))|<(?P<auto>[a-z][a-z0-9+.-]*:[^\s<>]*)>|(?P<tag>{_TAG})"
    rf"|(?P<bare>{_BARE})|(?P<plain>{_PLAIN_TAG})|(?P<stray>{_STRAY})",
    re.IGNORECASE | re.DOTALL,
)
# Leads nowhere, or below the page that shows the answer. Entities, schemes and two slashes may lead elsewhere.
_RELATIVE = re.compile(r"(?!www\.|/)(?!.*//)[^:&%?#<>\\\[\]@\n]*", re.IGNORECASE)
# At the end of what has come: the beginning of something that may still become a link, a comment or a tag.
_OPEN = re.compile(r"(?:\]:\s*\S*|\]\([^()]*(?:\([^()]*\)[^()]*)*|<(?:[/!?]?[a-z!-][^<>]*|[/!?]?))\Z", re.IGNORECASE)
# Behind an address: words that some renderers take for a part of it.
_GOES_ON = re.compile(r"(?!\][(:])[^\s<>\w]*\w")
_NOTABLE = re.compile(r"[:<&]|\]\(|www\.", re.IGNORECASE)


class MarkupFilter:
    """Passes the words of an answer on, without images, HTML and links that `allow` refuses; it counts what it removes.

    The last word is held back until the next one comes, because a link or a tag may begin in it.
    """

    def __init__(self, allow: Callable[[str], bool]) -> None:
        self._allow = allow
        self._held = ""
        self.removed = 0

    def feed(self, piece: str) -> str:
        self._held += without_invisible(piece)
        cut = self._whole_until()
        shown = self._cleaned(cut)
        self._held = self._held[cut:]
        return shown

    def flush(self) -> str:
        self._break_open(0)
        rest, self._held = self._cleaned(len(self._held)), ""
        return rest

    def _whole_until(self) -> int:
        """Return how much of the held text is before a link or a tag that has not ended, and before the last word."""
        self._break_open(LONGEST)
        tail = self._held[-LONGEST:]
        run = "" if not tail or tail[-1].isspace() else tail.rsplit(None, 1)[-1]
        # A link may begin in the last word, or in the end of a very long one.
        places = [
            len(self._held) - len(run if len(run) <= SHORT_RUN or _NOTABLE.search(run) else run[-LONGEST // 50 :])
        ]
        if opened := _OPEN.search(self._held):
            places.append(opened.start())
        comment = self._held.rfind("<!--", len(self._held) - LONGEST if len(self._held) > LONGEST else 0)
        if comment >= 0 and "-->" not in self._held[comment:]:
            places.append(comment)
        cut = min(places)
        found = next((found for found in _FOUND.finditer(self._held) if found.end() > cut), None)
        return min(cut, found.start()) if found else cut

    def _break_open(self, longest: int) -> None:
        """Put a blank into the beginning of a link or a tag that does not end: it is text then."""
        while (opened := _OPEN.search(self._held)) and len(opened[0]) > max(longest, 1):
            at = opened.start() + 1
            self._held = f"{self._held[:at]} {self._held[at:]}"
            self.removed += 1

    def _cleaned(self, end: int) -> str:
        """Return the held text up to `end`; what follows it is looked at, because it decides what the end is."""
        shown, at = [], 0
        for found in _FOUND.finditer(self._held):
            if found.start() >= end:
                break
            is_stray = found.lastgroup == "stray"
            part = f"{found[0][0]} {found[0][1:]}" if is_stray else self._shown(found)
            self.removed += not is_stray and part != found[0]
            shown += [self._held[at : found.start()], part]
            at = found.end()
        return "".join(shown) + self._held[at:end]

    def _shown(self, found: re.Match[str]) -> str:
        match found.lastgroup:
            case "image":
                return ""
            case "tag":
                return found[0] if PLACEHOLDER.fullmatch(found[0]) else ""
            case "auto":
                return found[0] if self._allow(found["auto"]) else REMOVED
            case "bare":
                shown = self._bare(found[0], goes_on=_GOES_ON.match(self._held, found.end()) is not None)
                is_enclosed = self._held[: found.start()].endswith("(") and shown.startswith(f"{REMOVED})")
                return shown.replace(REMOVED, REMOVED[1:-1], 1) if is_enclosed else shown
        destination = found["destination"] or found["defined"]
        if destination is None or _RELATIVE.fullmatch(destination) or self._allow(destination.strip("<>")):
            return found[0]
        return "]" if found.lastgroup == "link" else "] :"

    def _bare(self, run: str, *, goes_on: bool) -> str:
        url = run.rstrip(TRAILING)
        while url.endswith(")") and url.count(")") > url.count("("):
            url = url[:-1].rstrip(TRAILING)
        written = f"https://{url}" if url.lower().startswith("www.") else url
        if not self._allow(written):
            return f"{REMOVED}{run[len(url) :]}"
        return f"{run} " if goes_on else run


RECITED_WORDS = 16  # So many words in a row are no chance. Sentences that the prompt asks for are not counted.
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'"[^"]*"')


class SystemPrompt:
    """Knows the runs of words of a system prompt that no answer may hold."""

    def __init__(self, text: str, *, allowed: Iterable[str] = ()) -> None:
        words = _words(_QUOTED.sub(" ", text))
        permitted = {run for sentence in allowed for run in _runs(_words(sentence))}
        self.runs = frozenset(_runs(words)) - permitted


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _runs(words: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(RECITED_WORDS)), strict=False)


@dataclass
class OutputCheck:
    """Checks one answer, piece by piece: links lead where the passages say; prompt and canary are not recited."""

    passages: Sequence[Passage]
    prompt: SystemPrompt | None = None
    canary: str = ""
    _leaks: bool = False  # Whether a run of the prompt's words, or the canary, has come.

    def __post_init__(self) -> None:
        self._markup = MarkupFilter(KnownLinks(self.passages).allow)
        self._last: deque[str] = deque(maxlen=RECITED_WORDS)

    def feed(self, text: str) -> str:
        return self._unless_leaked(self._markup.feed(text))

    def flush(self) -> str:
        return self._unless_leaked(self._markup.flush())

    def findings(self) -> dict[str, Any]:
        counts: dict[str, Any] = {LINKS_REMOVED: self._markup.removed} if self._markup.removed else {}
        return counts | ({WITHHELD: "leak"} if self._leaks else {})

    def _unless_leaked(self, text: str) -> str:
        for word in _words(text):
            self._last.append(word)
            is_run = self.prompt and len(self._last) == RECITED_WORDS and tuple(self._last) in self.prompt.runs
            self._leaks = bool(self._leaks or is_run or (self.canary and self.canary in word))
        return "" if self._leaks else text
