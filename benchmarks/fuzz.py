"""Ingest and check thousands of damaged files of every format: no command may end with a traceback.

usage: python -m benchmarks.fuzz [FILES] [SEED]

Each file is a small sound one with bytes changed, cut, doubled or moved; of an archive also within its parts.
"""

import io
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from email.message import EmailMessage
from pathlib import Path

from benchmarks.documents import docx, heading, laid_out_pdf, paragraph, table
from benchmarks.spans import as_pptx, as_xlsx
from chains.ingestion.tables import Cell

WAYPOINT = Path(sys.executable).with_name("waypoint")
BATCH = 500
LIMIT_S = 1800
# What breaks readers more often than noise does.
PIECES = [
    b"|", b"| a | b |", b"\n|---|---|\n", b"---\n", b"```\n", b"~~", b"<!--", b"-->", b"%%", b"<table>", b"</table>",
    b"<tr><td rowspan=9>", b"\0", b"\xff\xfe", b"\x93", b"{", b"\"", b". ", b"# ", b"\n\n", b"&x;", b"]]>",
    b"9" * 40,
]  # fmt: skip
TEXT = """---
title: Depot: hours
audience: public
---
# Depot

Gate A opens at 06:30. It closes at 21:15! Does it?

| Crane | Rule |
| --- | --- |
| Orca | It lifts 40 tonnes. It needs two slingers. |
|

1. Press stop.
2. Hang the tag.

<table><tr><td rowspan=2>East</td><td>9.4 m</td></tr><tr><td>7.1 m</td></tr></table>

~~The old limit is 60.~~ <!-- remark --> The limit is 54 km/h.
"""
ASCIIDOC = """= Depot
:toc:

[cols="1,1"]
|===
|Region |Rate

.2+|North |11%
|17%
|===

. Press stop.
.. Hang the tag.

----
code
----
"""
ROWS = [
    [Cell("Region", 2), Cell("Rate", 1, 2)],
    [Cell("2024"), Cell("2025")],
    [Cell("North"), Cell("11%"), Cell("17%")],
]


def sound_files() -> dict[str, bytes]:
    """Return a small sound file of every format by its ending."""
    page = f"<html><head><title>Depot</title></head><body><form>{TEXT}<ul><li>a<li>b</ul></form></body></html>"
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "Depot", "a@example.org"
    mail.set_content(TEXT)
    mail.add_alternative(page, subtype="html")
    mail.add_attachment(b"a;b\n1;2\n", maintype="text", subtype="csv", filename="rates.csv")
    return {
        "md": TEXT.encode(),
        "mdx": b"import Tabs from 'x';\n\n<Tabs a={() => 1}>\n" + TEXT.encode() + b"</Tabs>\n",
        "adoc": ASCIIDOC.encode(),
        "txt": TEXT.encode("cp1252", "replace"),
        "html": page.encode(),
        "csv": b"Region;Rate\nNorth;11%\nSouth;12%\n",
        "jsonl": b'{"title": "Gold", "text": "Free."}\n{"goods": "Silver", "rate": 3}\n',
        "json": b'{"fees": [{"name": "Weighing", "price": 14}], "desk": {"hours": {"open": "06:30"}}}',
        "rtf": rb"{\rtf1\ansi {\b Depot}\par Gate A opens at 06:30.\par}",
        "eml": mail.as_bytes(),
        "docx": docx(heading("Depot", 1) + paragraph("Gate A opens at 06:30.") + table(["a", "b"], ["c", "d"])),
        "xlsx": as_xlsx(ROWS),
        "pptx": as_pptx(ROWS),
        "pdf": laid_out_pdf(["# Depot", "Gate A opens at 06:30.", "| a | b", "| 1 | 2"]),
    }


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return the bytes with a few changes; an archive is now and then changed in one of its parts."""
    if content.startswith(b"PK") and chance.random() < 0.8:
        return _repacked(content, chance)
    changed = bytearray(content)
    for _ in range(chance.randint(1, 6)):
        place, end = sorted(chance.randrange(len(changed) + 1) for _ in range(2))
        match chance.randrange(5):
            case 0:
                changed[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                changed[place:place] = chance.choice(PIECES) * chance.choice([1, 1, 3, 50])
            case 2:
                del changed[place : min(end, place + 40)]
            case 3:
                changed[place:place] = changed[place:end][:200]
            case _:
                del changed[max(place, 20) :]
    return bytes(changed)


def _repacked(content: bytes, chance: random.Random) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        chosen = chance.choice([name for name in old.namelist() if name.endswith(".xml")])
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, damaged(part, chance) if name == chosen else part)
    return file.getvalue()


def main(count: int = 5000, seed: int = 1) -> None:
    """Print what came of the files, and exit with 1 where a command ended with a traceback."""
    chance, sound = random.Random(seed), sound_files()  # noqa: S311 - Which files are tried, no secret.
    endings, outcomes = list(sound), Counter[str]()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        for first in range(0, count, BATCH):
            folder = Path(work) / f"batch{first}"
            folder.mkdir()
            for number in range(first, min(first + BATCH, count)):
                ending = endings[number % len(endings)]
                (folder / f"file{number}.{ending}").write_bytes(damaged(sound[ending], chance))
            for command in ("ingest", "lint"):
                outcomes[_outcome(command, folder, Path(work) / "index")] += 1
    print(f"{count} files, {time.monotonic() - started:.0f} s: {dict(outcomes)}")
    sys.exit(any("traceback" in outcome for outcome in outcomes))


def _outcome(command: str, folder: Path, index: Path) -> str:
    environment = {**os.environ, "CHROMA_PATH": str(index), "LOG_LEVEL": "error"}  # noqa: TID251 - Of another process.
    done = subprocess.run(
        [WAYPOINT, command, folder],
        env=environment, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False,
    )  # fmt: skip
    if "Traceback" not in done.stdout + done.stderr:
        return f"{command}: exit {done.returncode}"
    print(done.stderr[-3000:])
    return f"{command}: traceback"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
