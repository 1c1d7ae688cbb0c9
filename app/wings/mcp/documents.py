"""The documents as resources: a list, and the text of one."""

import re
from collections.abc import Sequence
from urllib.parse import unquote

from langchain_core.runnables import RunnableConfig
from mcp import types
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl

from app.wings.mcp.tools import DOCUMENTS, address_of
from app.wiring.library import Library
from chains.audience import audience_in, called_by
from chains.library import Entry, around, parts_of

PAGE = 100
UNKNOWN = -32002  # The protocol's code for a resource that is not there.
_CURSOR = re.compile(r"[0-9]{1,9}")
TEMPLATE = types.ResourceTemplate(
    uriTemplate=f"{DOCUMENTS}{{doc_id}}",
    name="document",
    title="A document",
    description="The text of one document; its id comes from `search`, `ask` or the list.",
    mimeType="text/markdown",
)


def listed(library: Library, config: RunnableConfig, cursor: str | None) -> types.ListResourcesResult:
    """Return a page of the documents that the caller may see; the cursor is the number of those before it.

    Raises:
        McpError: the cursor is none of ours.
    """
    if not _CURSOR.fullmatch(cursor or "0"):
        raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message="This cursor is not known; list anew."))
    first = int(cursor or "0")
    entries = list(library.catalogue(audience_in(config)).entries.values())
    following = str(first + PAGE) if first + PAGE < len(entries) else None
    return types.ListResourcesResult(
        resources=[_resource(entry) for entry in entries[first : first + PAGE]], nextCursor=following
    )


def text_of(library: Library, config: RunnableConfig, address: str) -> str:
    """Return the text of a document, page by page where it has pages.

    Raises:
        McpError: there is no such document, or the caller may not see it.
    """
    doc_id = unquote(address.removeprefix(DOCUMENTS))
    with called_by(audience_in(config)):
        chunks = library.chunks(doc_id) if address.startswith(DOCUMENTS) else []
    if not chunks:
        raise McpError(types.ErrorData(code=UNKNOWN, message="There is no such document."))
    shown = around(chunks, chunks[0].metadata["start_char"])
    rest: Sequence[str] = () if len(shown) == len(chunks) else ("[The document goes on; `search` finds the rest.]",)
    pages = [part.text if part.page is None else f"Page {part.page}\n\n{part.text}" for part in parts_of(shown)]
    return "\n\n".join([*pages, *rest])


def _resource(entry: Entry) -> types.Resource:
    known = (entry.category, entry.organisation, entry.jurisdiction, entry.last_updated)
    return types.Resource(
        uri=AnyUrl(address_of(entry.doc_id) or ""),
        name=entry.doc_id,
        title=entry.title,
        description=", ".join(filter(None, known)) or None,
        mimeType="text/markdown",
    )
