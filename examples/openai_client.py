"""A running `waypoint serve` asked by OpenAI's own client; the links are annotations of the answer."""

import sys

from openai import OpenAI


def main(url: str, question: str, *, key: str = "none") -> None:
    """Print the answer of the first model that is served, and its links."""
    with OpenAI(base_url=f"{url}/v1", api_key=key) as client:
        model = next(iter(client.models.list())).id
        reply = client.chat.completions.create(model=model, messages=[{"role": "user", "content": question}])
    message = reply.choices[0].message
    print(message.content)
    for annotation in message.annotations or []:
        print("link:", annotation.url_citation.url)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:3000", "What is the rate of GST on imports?")
