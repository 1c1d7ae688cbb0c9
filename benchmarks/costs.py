"""What a question costs by model: the mean tokens, and the most that settings allow, times list prices."""

from benchmarks.tables import table

# Dollars for a million tokens of the prompt and of the answer; list prices of the providers in July 2026.
PRICES = {
    "Groq, llama-3.1-8b-instant (the default with a key)": (0.05, 0.08),
    "Groq, llama-3.3-70b-versatile": (0.59, 0.79),
    "OpenAI, gpt-5-mini": (0.25, 2.00),
    "a model on your own machine, or none": (0.0, 0.0),
}
# Tokens of a prompt and an answer: the mean of 60 own questions that a model of 1.5 B parameters answered, and the most
# that the default settings allow.
MEAN = (1591, 26)
MOST = (4000, 500)


def cost_table() -> str:
    """Return what a thousand questions cost with each model, in dollars: of the mean length, and of the longest."""
    lengths = (MEAN, MOST)
    rows = [
        (name, f"{prompt:.2f} / {answer:.2f}", *(f"{_dollars(length, prompt, answer):.2f}" for length in lengths))
        for name, (prompt, answer) in PRICES.items()
    ]
    heads = (
        f"$ for 1,000 {kind} questions of {read:,} / {written} tokens"
        for kind, (read, written) in zip(("mean", "longest"), lengths, strict=True)
    )
    return table(("model", "$ for a million tokens, prompt / answer", *heads), rows)


def _dollars(length: tuple[int, int], prompt: float, answer: float) -> float:
    return 1000 * (length[0] * prompt + length[1] * answer) / 1e6
