"""Answer a question by quoting the prompt's context, with citations, or decline; no language model is needed.

`passages` reads the context into entries of quotable statements (`plain` strips the markdown), `question` weighs what
is asked, `evidence` scores the statements against it, `answer` quotes the best or declines, `model` is the chat model
around them; `words` makes texts comparable.
"""

from app.adapters.llm.offline.model import MODEL_NAME, OfflineChatModel

__all__ = ["MODEL_NAME", "OfflineChatModel"]
