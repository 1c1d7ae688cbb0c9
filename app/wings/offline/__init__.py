"""Answer a question by quoting the prompt's context, with citations, or decline; no language model is needed.

`passages` splits the context into entries with the statements that may be quoted, `question` corrects and reads what is
asked, `matching` compares their words, `evidence` measures the statements by them (and by the kind of answer), `ranker`
weighs what was measured by the fitted weights of ranker.json, `answer` quotes the best or declines, `model` is the chat
model around them.
"""

from app.wings.offline.model import MODEL_NAME, OfflineChatModel, quoted_instead

__all__ = ["MODEL_NAME", "OfflineChatModel", "quoted_instead"]
