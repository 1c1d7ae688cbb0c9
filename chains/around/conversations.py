"""Keep conversations by session: a question gets the earlier turns, and its answer is added to them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig, ensure_config

from chains.around.runnable import Around, Invocation
from chains.documents.audience import audience_in
from chains.errors import SessionError
from chains.history import Turn
from chains.logs import get_logger
from chains.output import merge
from chains.state import Answer

SESSION = "session_id"

log = get_logger(__name__)


def user_of(config: RunnableConfig | None) -> str:
    """Return the `user_id` in the metadata of a config; "" if the caller is unknown."""
    return str((ensure_config(config).get("metadata") or {}).get("user_id") or "")


def owner_of(config: RunnableConfig | None) -> str:
    """Return the owner of a call's conversations: the user and the audience.

    An answer may quote internal documents, so the public page on a machine never shows what its staff asked.
    """
    return f"{audience_in(config)}:{user_of(config)}"


class ConversationStore(Protocol):
    """Stores the turns of conversations by owner and session; session ids are per owner.

    Every method raises SessionError where the store is unavailable. A damaged conversation counts as none.
    """

    async def turns(self, session_id: str, owner: str) -> list[Turn]:
        """Return the turns, oldest first; none where the owner has no such conversation."""

    async def add(self, session_id: str, owner: str, turns: Sequence[Turn]) -> None:
        """Append the turns in one step; the first ones begin the conversation."""

    async def delete(self, session_id: str, owner: str) -> None:
        """Forget a conversation; SessionNotFoundError where it is unknown."""


@dataclass(eq=False, repr=False)
class WithConversations(Around):
    """The `bound` chain, which reads and keeps the conversation of a question with a `session_id`.

    A `history` that the client sends wins, and its answer is kept too. A conversation belongs to `owner_of` the
    config; the id of an anonymous caller needs at least `shortest_anonymous` characters. Each call reads the
    conversation when it begins and adds question and answer together when it ends, so that two calls at once do not
    mix. Synchronous calls neither read nor keep one.
    """

    store: ConversationStore
    shortest_anonymous: int = field(default=1, kw_only=True)

    def before(self, question: Any, config: RunnableConfig | None) -> Any:
        return _without_session(question)

    async def aparts(self, call: Invocation) -> AsyncIterator[Any]:
        """Yield the parts of the answer; SessionError where the conversation cannot be read at the moment."""
        parts = []
        async for part in call.aask(await self._continued(call.question, call.config)):
            parts.append(part)
            yield part
        await self._keep(call.question, call.config, merge(parts))

    async def _continued(self, question: Any, config: RunnableConfig | None) -> Any:
        session_id, owner = self._session_of(question, config)
        if session_id is None:
            return _without_session(question)
        turns = await self.store.turns(session_id, owner)
        if question.get("history") or not turns:
            return _without_session(question)
        history = [{"role": turn.role, "content": turn.text} for turn in turns]
        return _without_session(question) | {"history": history}

    def _session_of(self, question: Any, config: RunnableConfig | None) -> tuple[str | None, str]:
        """Return the session's id, None where nothing is kept, and whose it is."""
        session_id = str(question.get(SESSION) or "") if isinstance(question, Mapping) else ""
        shortest = 1 if user_of(config) else self.shortest_anonymous
        return (session_id if len(session_id) >= shortest else None), owner_of(config)

    async def _keep(self, question: Any, config: RunnableConfig | None, answer: Answer) -> None:
        session_id, owner = self._session_of(question, config)
        if session_id is None or answer["outcome"] == "blocked":
            return
        said = [Turn("user", answer["question"].strip()), Turn("assistant", answer["answer"].strip())]
        try:
            await self.store.add(session_id, owner, said)
        except SessionError as error:  # The answer is there; its reader gets it.
            log.warning("conversation_not_kept", error=type(error).__name__)


def _without_session(question: Any) -> Any:
    if not isinstance(question, Mapping):
        return question
    return {name: value for name, value in question.items() if name != SESSION}
