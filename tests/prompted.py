"""What a model was asked, without the reminder that stands behind each question."""

import prompts


def asked(content: str) -> str:
    return content.removesuffix(f"\n\n{prompts.load('reminder')}")
