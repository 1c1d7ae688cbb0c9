"""What a question costs by model: the tokens that were measured, times list prices."""

from benchmarks.figures import read_figures
from benchmarks.tables import table

# Dollars for a million tokens of the prompt and of the answer; list prices of the providers in July 2026.
PRICES = {
    "Groq, llama-3.1-8b-instant (the default with a key)": (0.05, 0.08),
    "Groq, llama-3.3-70b-versatile": (0.59, 0.79),
    "OpenAI, gpt-5-mini": (0.25, 2.00),
    "a model on your own machine, or none": (0.0, 0.0),
}


def cost_table() -> str:
    """Return what a thousand questions cost with each model, in dollars."""
    read, written = tokens()
    rows = [
        (name, f"{prompt:.2f} / {answer:.2f}", f"{1000 * (read * prompt + written * answer) / 1e6:.2f}")
        for name, (prompt, answer) in PRICES.items()
    ]
    head = ("model", "$ for a million tokens, prompt / answer", f"$ for 1,000 questions of {read:,} / {written} tokens")
    return table(head, rows)


def tokens() -> tuple[int, int]:
    """Return the mean tokens of a prompt and of an answer of the large model."""
    lines = {line[0]: line[-1] for line in read_figures()["models"]["values"]["lines"]}
    return tuple(int(lines[name].replace(",", "")) for name in ("tokens of a prompt, mean", "tokens written, mean"))  # type: ignore[return-value]
