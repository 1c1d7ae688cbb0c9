"""What answers when no language model is reachable: the best evidence, quoted and cited.

The steps, one module each: `passages` reads the prompt's context into statements, `question` weighs what is asked,
`evidence` scores the statements against it, `answer` quotes the best or declines, `model` is the chat model around
them; `words`, `plain` and `vocabulary` serve the first two.
"""

from app.adapters.offline.answer import DECLINE
from app.adapters.offline.model import MODEL_NAME, OfflineChatModel

__all__ = ["DECLINE", "MODEL_NAME", "OfflineChatModel"]
