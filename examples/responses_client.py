"""A running `waypoint serve` asked over OpenAI's Responses; each citation is an annotation with its words."""

import sys

from openai import OpenAI


def main(url: str, question: str, *, key: str = "none") -> None:
    """Print the words as they arrive, then the link or file, and the quote, of each citation."""
    with OpenAI(base_url=f"{url}/v1", api_key=key) as client:
        model = next(iter(client.models.list())).id
        with client.responses.stream(model=model, input=question) as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    print(event.delta, end="", flush=True)
            response = stream.get_final_response()
    print()
    for annotation in response.output[0].to_dict()["content"][0]["annotations"]:  # type: ignore[index] # A message.
        print(annotation.get("url") or annotation.get("filename"), repr(annotation["quote"]))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:3000", "What is the rate of GST on imports?")
