"""A graph that searches, grades what it found, searches again in other words, answers, and verifies its citations."""

import operator
import sys
from typing import Annotated, Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import chains
import prompts
from app.wiring import Service
from app.wiring.llm import first_model
from chains.citations.support import LEAST_SUPPORT
from examples import services

SEARCHES = 2
GRADE = "{found}\n\nDo these passages say anything about: {question}\nReply with one word, yes or no."
REWORD = "Write this question as a search query of three to six other words. Reply with the query only.\n{question}"


class State(TypedDict, total=False):
    """What the nodes write."""

    question: str
    queries: Annotated[list[str], operator.add]
    documents: list[Document]
    answer: str
    citations: list[Any]


def agentic_graph(service: Service, model: BaseChatModel) -> Any:
    """Return the compiled graph; `model` grades, rewords and answers."""
    tool = chains.as_search_tool(service.answerer.retriever)
    generate = chains.generate(model, system=prompts.load("system_numbered"))

    def search(state: State) -> State:
        call = {"name": tool.name, "args": {"query": state["queries"][-1]}, "id": "1", "type": "tool_call"}
        known = {document.page_content: document for document in state.get("documents", [])}
        found = {document.page_content: document for document in tool.invoke(call).artifact or []}
        return {"documents": list((known | found).values())}

    def grade(state: State) -> str:
        if len(state["queries"]) == SEARCHES:
            return "answer"
        found = "\n\n".join(document.page_content for document in state["documents"])
        verdict = str(model.invoke(GRADE.format(found=found, question=state["question"])).text)
        return "answer" if verdict.strip().lower().startswith("yes") else "reword"

    def reword(state: State) -> State:
        return {"queries": [str(model.invoke(REWORD.format(question=state["question"])).text)]}

    def answer(state: State) -> State:
        context = chains.format_context(state["documents"], style="numbered")
        asked: Any = {"question": state["question"], "context": context}
        return {"answer": str(generate.invoke(asked).text)}

    def verify(state: State) -> State:
        citations = chains.process_citations(state["answer"], state["documents"], style="numbered")["citations"]
        supported = [one for one in citations if one["support"] >= LEAST_SUPPORT and not one["contradicted"]]
        return {"citations": supported, "answer": state["answer"] if supported else prompts.load("decline")}

    graph = StateGraph(State)
    for node in (search, reword, answer, verify):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "search")
    graph.add_conditional_edges("search", grade, ["reword", "answer"])
    graph.add_edge("reword", "search")
    graph.add_edge("answer", "verify")
    graph.add_edge("verify", END)
    return graph.compile()


def main(service: Service, model: BaseChatModel, question: str) -> None:
    """Print each node that ran, the answer, and the words of the documents that support it."""
    state: Any = {}
    for step in agentic_graph(service, model).stream({"question": question, "queries": [question]}):
        for node, change in step.items():
            print(f"{node}:", change.get("queries") or len(change.get("documents", [])) or "done")
            state |= change
    print(state["answer"])
    for citation in state["citations"]:
        print(f"[{citation['number']}]", citation["title"], repr(citation["quote"]))


if __name__ == "__main__":
    opened = services()
    if opened.settings.llm.provider == "offline":
        sys.exit("The graph needs a language model: set LLM_API_KEY, or LLM_PROVIDER and LLM_BASE_URL of a local one.")
    main(opened, first_model(opened.settings), "What is the rate of GST on imports into Singapore?")
