"""The chain of a running `waypoint serve` as a Runnable of this program, by LangServe's client."""

import sys
from typing import Any

from langserve import RemoteRunnable


def main(url: str, question: str) -> None:
    """Print the answer as it streams, then its confidence."""
    copilot: RemoteRunnable[Any, Any] = RemoteRunnable(f"{url}/copilot")
    confidence = None
    for part in copilot.stream({"question": question}):
        print(part.get("answer", ""), end="")
        confidence = part.get("confidence", confidence)
    print("\nconfidence:", confidence["level"] if confidence else "unknown")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:3000", "What is the rate of GST on imports?")
