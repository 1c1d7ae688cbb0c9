"""A graph of LangGraph with the chain as a node, and a way of its own where the documents hold no answer."""

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from app.wiring import Service
from examples import services


class State(TypedDict, total=False):
    """What the nodes write; the chain's answer has fields of the same names."""

    question: str
    answer: str
    outcome: str


def hand_over(state: State) -> State:
    """Say who answers what the documents do not hold."""
    return {"answer": f"A colleague will answer: {state['question']}"}


def way_on(state: State) -> str:
    """Choose what comes behind the answer."""
    return END if state["outcome"] == "answered" else "hand_over"


def main(services: Service, question: str) -> None:
    """Print what the graph answers."""
    graph = StateGraph(State)
    graph.add_node("ask", services.chain)
    graph.add_node("hand_over", hand_over)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", way_on, [END, "hand_over"])
    graph.add_edge("hand_over", END)
    print(graph.compile().invoke({"question": question})["answer"])


if __name__ == "__main__":
    main(services(), "What is the rate of GST on imports into Singapore?")
