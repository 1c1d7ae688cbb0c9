"""Documents as LangChain's tutorials make them: files, a splitter, a vector store in memory, and cited answers."""

from pathlib import Path

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

import chains
from app.wiring import sample_corpus
from examples import services


def main(folder: Path, embeddings: Embeddings, model: BaseChatModel, question: str) -> None:
    """Print the answer, and the files that it cites."""
    # What TextLoader gives: the text, and its path as `source`.
    files = [Document(path.read_text(), metadata={"source": str(path)}) for path in folder.rglob("*.md")]
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=100)
    store = InMemoryVectorStore.from_documents(splitter.split_documents(files), embeddings)
    answer = chains.build_chain(retriever=store.as_retriever(), model=model).invoke({"question": question})
    print(answer["answer"], sorted({citation["title"] for citation in answer["citations"]}))


if __name__ == "__main__":
    opened = services()
    main(
        sample_corpus(),
        opened.index.embeddings,
        opened.answerer.model(),
        "What is the rate of GST on imports into Singapore?",
    )
