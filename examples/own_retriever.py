"""A retriever of one's own: passages from a table, with a title, a section and a score."""

from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever

import chains
from examples import services

RATES = {"Singapore": "9 %", "Malaysia": "8 %", "Indonesia": "11 %"}


class RateTable(BaseRetriever):
    """Finds the countries that the question names."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [
            Document(
                f"The rate of GST on imports into {country} is {rate}.",
                metadata={"title": "GST Guide", "section": "Rate", "doc_id": country.lower(), "score": 0.9},
            )
            for country, rate in RATES.items()
            if country in query
        ]


def main(model: BaseChatModel, question: str) -> None:
    """Print the answer and what it cites."""
    answer = chains.build_chain(retriever=RateTable(), model=model).invoke({"question": question})
    print(answer["answer"], [citation["doc_id"] for citation in answer["citations"]])


if __name__ == "__main__":
    main(services().answerer.model(), "What is the rate of GST on imports into Singapore?")
