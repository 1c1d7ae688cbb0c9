"""Invented companies and their figures: the same on every machine, because each company has a seed of its own."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal

Style = Literal["filing", "typeset", "plain"]
YEARS_SHOWN = 3


@dataclass(frozen=True)
class Company:
    """A company of one year; `style` is how its report looks, `words` are what its trade calls things."""

    name: str
    short: str
    year: int
    ends: str
    style: Style
    city: str
    words: dict[str, Any]
    seed: int
    figures: dict[str, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "figures", _figures(Random(self.seed), self.year))  # noqa: S311 - no secret.

    @property
    def doc_id(self) -> str:
        """Return the name of the file without its ending, which tells nothing of the company."""
        return f"filing_{self.seed}_{self.year}"

    @property
    def years(self) -> list[int]:
        """Return the years of a statement, the latest first."""
        return [self.year - back for back in range(YEARS_SHOWN)]


def _figures(random: Random, year: int) -> dict[str, list[int]]:
    """Return each figure of the three years, in millions; every year of a company is drawn in the same order."""
    scale = random.randint(900, 9000)
    shares = {name: random.uniform(*bounds) for name, bounds in SHARES.items()}
    found: dict[str, list[int]] = {name: [] for name in shares}
    by_year: dict[int, dict[str, int]] = {year: {} for year in range(2016, 2026)}
    for values in by_year.values():
        scale = round(scale * random.uniform(0.94, 1.13))
        values |= {name: max(2, round(scale * share * random.uniform(0.85, 1.15))) for name, share in shares.items()}
    for name in shares:
        found[name] = [by_year[year - back][name] for back in range(YEARS_SHOWN)]
    return found


# What share of the revenue a figure is, about.
SHARES = {
    "revenue": (1.0, 1.0), "cost": (0.55, 0.62), "selling": (0.14, 0.2), "research": (0.03, 0.09),
    "amortization": (0.01, 0.02), "restructuring": (0.004, 0.01), "interest": (0.01, 0.03), "taxes": (0.02, 0.04),
    "net": (0.05, 0.1), "cash": (0.08, 0.15), "receivables": (0.1, 0.15), "inventories": (0.1, 0.18),
    "prepaid": (0.01, 0.03), "plant": (0.2, 0.35), "goodwill": (0.2, 0.4), "intangibles": (0.08, 0.15),
    "payables": (0.07, 0.12), "accrued": (0.03, 0.06), "debt": (0.3, 0.5), "leases": (0.04, 0.09),
    "pensions": (0.03, 0.08), "equity": (0.4, 0.6), "operating_cash": (0.1, 0.16), "capex": (0.03, 0.07),
    "acquisitions": (0.01, 0.05), "buybacks": (0.02, 0.06), "dividends": (0.02, 0.04), "borrowings": (0.03, 0.08),
    "depreciation": (0.03, 0.06), "stock_pay": (0.01, 0.02), "first": (0.45, 0.5), "second": (0.28, 0.33),
    "third": (0.15, 0.2), "domestic": (0.5, 0.6), "abroad": (0.3, 0.4), "facility": (0.2, 0.4),
    "contributions": (0.004, 0.01), "deferred": (0.03, 0.06), "warranty": (0.005, 0.02), "backlog": (0.3, 0.6),
    "unrecognized": (0.01, 0.02), "rent": (0.01, 0.03), "current_tax": (0.015, 0.03), "legal": (0.002, 0.006),
    "advertising": (0.01, 0.03), "impairment": (0.005, 0.02), "commitments": (0.05, 0.2), "hedges": (0.05, 0.15),
}  # fmt: skip


def companies() -> list[Company]:
    """Return all of them, as `companies.json` lists them."""
    found = json.loads((Path(__file__).parent / "companies.json").read_text(encoding="utf-8"))
    return [Company(words=found["trades"][one.pop("trade")], **one) for one in found["companies"]]
