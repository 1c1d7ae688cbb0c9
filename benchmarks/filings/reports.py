"""Write the reports of all companies into a folder."""

from collections.abc import Callable
from pathlib import Path
from random import Random

from jinja2 import Environment, StrictUndefined

from benchmarks.filings.company import Company, companies
from benchmarks.filings.layout import write_report

HERE = Path(__file__).parent


def write_reports(folder: Path) -> list[Path]:
    """Write the PDF of each company, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for company in companies():
        files.append(folder / f"{company.doc_id}.pdf")
        write_report(company, markup_of(company), files[-1])
    return files


def markup_of(company: Company) -> str:
    """Return the text of a company's report."""
    random = Random(company.seed * 10_000 + company.year)  # noqa: S311 - no secret.
    risks = (HERE / "risks.txt").read_text(encoding="utf-8").splitlines()
    template = Environment(undefined=StrictUndefined, autoescape=False, trim_blocks=True).from_string(  # noqa: S701 - no HTML.
        (HERE / "report.j2").read_text(encoding="utf-8")
    )
    return template.render(
        c=company,
        w=company.words,
        f=company.figures,
        pick=_picker(company, random),
        risks=random.sample(risks, len(risks)),
    )


def _picker(company: Company, random: Random) -> Callable[[int], str]:
    """Return a function that gives paragraphs of general sentences, like those that fill real reports."""
    lines = (HERE / "sentences.txt").read_text(encoding="utf-8").splitlines()
    sentences = [line.format_map(company.words) for line in lines]

    def pick(count: int) -> str:
        return "\n".join(" ".join(random.sample(sentences, count + 1)) for _ in range(3))

    return pick
