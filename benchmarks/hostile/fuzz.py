"""Run the commands over folders of damaged files of every format: each ends with an exit code, never in a traceback.

usage: python -m benchmarks.hostile.fuzz COUNT [SEED]

Every damage follows from the seed, so that a case can be made again.
"""

import io
import random
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.documents import docx, heading, laid_out_pdf, paragraph, table
from benchmarks.hostile.commands import CODES, Case, run
from benchmarks.hostile.trying import QUESTION, Tried
from benchmarks.spans import FORMATS
from chains.ingestion.tables import Cell

COUNT, BATCH, LIMIT_S = 200, 500, 600

_ROWS = [["Region", "Goods", "Fee"], ["North", "Frozen", "17 %"], ["", "Dry", "11 %"], ["South", "Live", "26 %"]]
_CELLS = [[Cell(text) for text in row] for row in _ROWS]
_MARKDOWN = (
    "---\ntitle: Guide 2025\nvalid_from: 2025-01-01\naudience: public\nreplaces: [Guide 2024]\n---\n\n# Guide\n\n"
    "## Rate\n\nThe surcharge on weekends is 5 %. ~~It was 4 %.~~ <!-- ask Ann -->\n\n1. Book.\n2. Pay 70 euro.\n\n"
    + "\n".join(f"| {' | '.join(row)} |" for row in [_ROWS[0], ["---"] * 3, *_ROWS[1:]])
    + "\n\n```\ncode\n```\n\n> [!note] See [the desk](mailto:desk@example.org).\n"
)
_HTML = (
    "<!doctype html><title>Guide</title><h1>Guide</h1><p>The surcharge on weekends is 5 %.<table><tr><th rowspan=2>Area"
    "<th colspan=2>Fee<tr><td>A<td>B<tr><td>North<td>1<td>2</table><details><summary>Who pays?</summary>Ann.</details>"
)
_MAIL = (
    "Subject: Fees\nFrom: ann@example.org\nDate: Mon, 6 Jan 2025 10:00:00 +0000\nMIME-Version: 1.0\nContent-Type: "
    'multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/html\n\n<p>The surcharge on weekends is 5 %.</p>\n--x\n'
    "Content-Disposition: attachment; filename=a.csv\n\nArea,Fee\nNorth,5\n--x--\n"
)
_RST = (
    "Guide\n=====\n\nThe surcharge is 5 %.\n\n+---+---+\n| a | b |\n+===+===+\n| 1     |\n+---+---+\n\n.. note:: Pay.\n"
)
_ADOC = (
    "= Guide\n:a: b\n\nThe surcharge is 5 %.\n\n. Book\n.. Pay\n\n|===\n|Area |Fee\n\n2+|North\n.2+|South |1\n|===\n"
)
_ODT = (
    '<d xmlns:text="t" xmlns:table="b"><text:text><text:h text:outline-level="1">Guide</text:h><text:p>The fee is 5 %.'
    '</text:p><table:table><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>North</text:p>'
    "</table:table-cell></table:table-row></table:table></text:text></d>"
)
_BOOK = {
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
    "b.opf": '<package><metadata><title>Guide</title></metadata><manifest><item id="c" href="c.xhtml" media-type='
    '"application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>',
    "c.xhtml": _HTML,
}
_JUNK = (
    *(b"\0", b"\xff\xfe", b"|", b"\n| |\n", b"---\n", b"9" * 400, b"[" * 900, b"<table><td rowspan=99999>"),
    *(b"<b>" * 900, b"\xed\xa0\x80", "\u202e\ufeff\u2028".encode(), b"&e9;", b"%%", b"```\n", b"\r", b"1e999"),
    *(b"2025-99-99", b": - "),
)
_JSON = '{"title": "Guide", "rates": [{"area": "North", "fee": 5, "text": "The surcharge is 5 %."}], "on": [1, null]}'


def documents() -> dict[str, bytes]:
    texts = {
        **dict.fromkeys(("md", "markdown", "txt", "text", "mdx"), _MARKDOWN),
        **dict.fromkeys(("html", "htm", "xhtml"), _HTML),
        "eml": _MAIL,
        "rst": _RST,
        "adoc": _ADOC,
        "json": _JSON,
        "jsonl": f"{_JSON}\n{_JSON}\n",
        "ndjson": _JSON,
        **{name: "\n".join(sign.join(row) for row in _ROWS) for name, sign in (("csv", ","), ("tsv", "\t"))},
        "rtf": r"{\rtf1\ansi The surcharge is 5 %.\par\trowd\cellx1\cellx2 a\cell b\cell\row}",
    }
    lines = ["# Guide", "The surcharge on weekends is 5 %.", *(f"| {' | '.join(row)}" for row in _ROWS)]
    return {
        **{name: text.encode() for name, text in texts.items()},
        **{name: write(_CELLS) for name, write in FORMATS.items()},
        "docx": docx(heading("Guide", 1) + paragraph("The surcharge is 5 %.") + table(*_ROWS), title="Guide"),
        "xlsm": FORMATS["xlsx"](_CELLS),
        "pdf": laid_out_pdf(lines, lines),
        "odt": _archive({"content.xml": _ODT.encode(), "meta.xml": b"<m><title>Guide</title></m>"}),
        "epub": _archive({name: text.encode() for name, text in _BOOK.items()}),
        "msg": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + _MAIL.encode("utf-16-le"),
    }


def _archive(parts: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return a document with one to eight damages; in an archive, most often within one of its parts."""
    if zipfile.is_zipfile(io.BytesIO(content)) and chance.random() < 0.8:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        name = chance.choice(list(parts))
        return _archive(parts | {name: damaged(parts[name], chance)})
    for _ in range(chance.randint(1, 8)):
        content = _damage(content, chance)
    return content


def _damage(content: bytes, chance: random.Random) -> bytes:
    start, end = sorted(chance.randint(0, len(content)) for _ in range(2))
    part = content[start : min(end, start + 400)]
    return chance.choice(
        (
            lambda: content[:start] + chance.choice(_JUNK) + content[start:],
            lambda: content[:start] + bytes([chance.randrange(256)]) + content[start + 1 :],
            lambda: content[:start] + content[start + len(part) :],
            lambda: content[:start] + part * chance.randint(2, 30) + content[start:],
            lambda: content[:end],
            lambda: content.decode("utf-8", "replace").encode(
                chance.choice(("utf-16", "cp1252", "shift-jis", "gb18030")), "replace"
            ),
            lambda: content.replace(chance.choice((b" ", b"\n", b"|", b"<", b'"', b">")), chance.choice(_JUNK)[:9]),
        )
    )()[: 2**20]


def attack(folder: Path, count: int = COUNT, seed: int = 7) -> list[Tried]:
    """Damage `count` files, and run each command over every folder of at most `BATCH` of them."""
    sound, chance = documents(), random.Random(seed)  # noqa: S311 - reproducible, not secret.
    kind = f"commands over {count:,} damaged files of {len(sound)} endings"
    return [Tried(kind, "exit code 0, 1 or 2; no traceback", _damages(folder, count, sound, chance))]


def _damages(folder: Path, count: int, sound: dict[str, bytes], chance: random.Random) -> Iterator[tuple[str, bool]]:
    endings = sorted(sound)
    for batch in range(0, count, BATCH):
        corpus = folder / f"{batch}" / "corpus"
        corpus.mkdir(parents=True)
        for number in range(batch, min(count, batch + BATCH)):
            ending = endings[number % len(endings)]
            (corpus / f"{number:05}.{ending}").write_bytes(damaged(sound[ending], chance))
        (corpus / "rates.tests.yaml").write_text(f"- question: {QUESTION}\n- question: '| ~~5 %~~ \\x00'\n", "utf-8")
        for words in _commands(f"{corpus}"):
            code, told = run(Case(words), corpus.parent, limit_s=LIMIT_S)
            lines = told.decode("utf-8", "replace").strip().splitlines()
            held = code in CODES and "Traceback" not in str(lines)
            yield f"{words}, from file {batch}: {code}, {lines[-1:]}"[:300], held


def _commands(corpus: str) -> tuple[tuple[str, ...], ...]:
    return (
        *(("ingest", corpus, "--json"), ("lint", corpus, "--fail-on", "never"), ("test", corpus), ("doctor",)),
        *(("ask", QUESTION, "--proof", "proof.json"), ("verify", "proof.json", "--documents", corpus)),
        *(("why", QUESTION, "--expect", "Guide"), ("recall", "--ask"), ("insights", corpus)),
        ("ingest", corpus, "--reset"),
    )


def main(count: str = f"{COUNT}", seed: str = "7") -> None:
    """Print what held, and what did not; exit with 1 where something did not."""
    with tempfile.TemporaryDirectory() as folder:
        tried = attack(Path(folder), int(count), int(seed))[0]
    print(f"{tried.kind}: {tried.count - len(tried.failed)} of {tried.count} held", *tried.failed, sep="\n")
    sys.exit(bool(tried.failed))


if __name__ == "__main__":
    main(*sys.argv[1:])
