"""A model of one's own: any chat model of LangChain; this one quotes the first passage that it is shown."""

import re
from typing import Any

from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever

import chains
from examples import services

PASSAGE = re.compile(r"^(\[\d+\]) [^\n]+\n(?:#.*\n|\n)*(.+)$", re.MULTILINE)


class Quoting(SimpleChatModel):
    """Quotes a passage with its marker."""

    @property
    def _llm_type(self) -> str:
        return "quoting"

    def _call(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> str:
        _, _, context = messages[0].text.partition("<context>")
        found = PASSAGE.search(context)
        return f"{found[2].rstrip('.')} {found[1]}." if found else "The documents do not say."


def main(retriever: BaseRetriever, question: str) -> None:
    """Print the answer as it streams."""
    chain = chains.build_chain(retriever=retriever, model=Quoting())
    for part in chain.stream({"question": question}):
        print(part.get("answer", ""), end="")
    print()


if __name__ == "__main__":
    main(services().answerer.retriever, "What is the rate of GST on imports into Singapore?")
