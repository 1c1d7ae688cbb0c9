"""Files that an attacker would hand to an ingestion: bombs, damaged formats, false encodings, what is no file at all.

Every name says what it is. None of them may end an ingestion, take more
than its limits, or keep `GOOD_FILE` out of the index. Contents are made when they are written: some take seconds.
"""

import os
import socket
from collections.abc import Collection
from functools import partial
from pathlib import Path

from tests.hostile_formats import Files, entities, office_documents, pages, pdfs, word_documents

GOOD_FILE = "good.md"
# What is no file, leads elsewhere, or has a name that is not UTF-8, as a report names it.
NO_FILES = frozenset(
    {"pipe.md", "socket.md", "link_loop.md", "link_out.md", "link_to_device.md", "link_to_nothing.md"}
    | {"folder.md/up.md", "caf\\udce9.md"}
)
_WORDS = b"\n---\n\n# Words\n\nThe rate is nine percent.\n"


def names() -> list[str]:
    return list(_files())


def content(name: str) -> bytes:
    return _files()[name]()


def write_hostile_files(folder: Path, chosen: Collection[str]) -> None:
    """Write the chosen hostile files, those of NO_FILES, and one good file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        (folder / name).write_bytes(content(name))
    os.mkfifo(folder / "pipe.md")
    _bind(folder / "socket.md")
    (folder / "link_loop.md").symlink_to("link_loop.md")
    (folder / "link_out.md").symlink_to("/etc/passwd")
    (folder / "link_to_device.md").symlink_to("/dev/zero")
    (folder / "link_to_nothing.md").symlink_to("nowhere.md")
    (folder / "folder.md").mkdir()
    (folder / "folder.md" / "up.md").symlink_to("..")
    (folder / os.fsdecode(b"caf\xe9.md")).write_bytes(b"words")
    (folder / GOOD_FILE).write_text("# Good\n\nThe good file is indexed.\n")


def _bind(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # A socket's path may not be longer than 107 bytes.
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(before)


def _files() -> Files:
    return {**_front_matters(), **_texts(), **pages(), **word_documents(), **office_documents(), **entities(), **pdfs()}


def _front_matters() -> Files:
    values = {
        "impossible_date": b"last_updated: 2024-02-30",
        "impossible_time": b"last_updated: 25:00:00",
        "year_zero": b"last_updated: 0000-00-00",
        "empty_hexadecimal": b"title: 0x_",
        "typed_integer": b"title: !!int x",
        "typed_binary": b"title: !!binary x",
        "python_object": b"title: !!python/object/apply:os.system [id]",
        "half_a_character": b'title: "\\ud800"',
        "null_character": b'title: "a\\0b"',
        "terminal_escape": b'title: "\\e]0;x\\a\\e[31mred"',
        "line_separator": b'title: "a\\Lb\\Pc\\N"',
        "recursive_list": b"title: &a [*a]",
        "recursive_map": b"title: &a {x: *a}",
        "recursive_key": b"? &a [*a]\n: x",
        "deep_brackets": b"title: " + b"[" * 15_000,
        "deep_braces": b"title: " + b"{a: " * 4_000,
        "deep_indent": b"\n".join(b" " * level + b"a:" for level in range(170)),
        "many_digits": b"title: " + b"9" * 5_000,
        "many_digits_octal": b"title: 0" + b"7" * 5_000,
        "infinity": b"title: .inf\nlast_updated: .nan",
        "alias_bomb": _alias_bomb(),
        "merge_bomb": b"a: &a {x: 1}\nb: &b {<<: [*a, *a, *a]}\n<<: [*b, *b, *b]",
        "many_keys": b"\n".join(b"k%d: v" % number for number in range(1_500)),
        "same_key": b"title: a\ntitle: b",
        "list_for_a_title": b"title: [a, {b: c}, [d]]",
        "map_for_urls": b"source_urls: {url: {url: x}}",
        "long_title": b"title: " + b"x " * 7_000,
        "long_anchor": b"title: &" + b"a" * 15_000 + b" x",
        "two_documents": b"title: a\n... \n%YAML 9.9\n--- b",
        "tabs": b"title:\n\t- a",
        "wrong_closing": b"title: 'a",
        "comment_only": b"# " + b"x" * 15_000,
        "directive": b"%TAG ! tag:x,2000:\ntitle: !x y",
    }
    files: Files = {
        f"front_matter_{name}.md": partial(bytes, b"---\n" + value + _WORDS) for name, value in values.items()
    }
    return files | {
        "front_matter_never_closed.md": lambda: b"---\ntitle: x\n" + b"words\n" * 100_000,
        "front_matter_only.md": lambda: b"---\ntitle: x\n---\n",
        "front_matter_no_utf8.md": lambda: b"---\ntitle: \xff\xfe" + _WORDS,
    }


def _alias_bomb() -> bytes:
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 9)]
    return b"\n".join([*lines, b"title: *a8"])


def _texts() -> Files:
    return {
        "null_bytes.md": lambda: b"# T\n\nwords\0words",
        "only_null_bytes.txt": lambda: b"\0" * 100_000,
        "utf16.md": lambda: "# T\n\nWords.".encode("utf-16"),
        "utf32.txt": lambda: "Words.".encode("utf-32"),
        "latin1.md": lambda: "# T\n\nGebühr".encode("latin-1"),
        "half_a_character_plain.txt": lambda: b"Words \xed\xa0\x80 words.",
        "overlong_utf8.txt": lambda: b"Words \xc0\xaf words.",
        "byte_order_marks.txt": lambda: b"\xef\xbb\xbf" * 1000 + b"words",
        "one_line.txt": lambda: b"word " * 400_000,
        "blank_run.md": lambda: b"# T\n\na" + b" " * 1_000_000 + b"b",
        "heading_of_ticks.md": lambda: b"# " + b"".join(b"`" * n + b" " for n in range(600)) + b"\n\nWords.",
        "heading_of_entities.md": lambda: b"# &#27;[31m&#0;&#xD800;&#x2028; red\n\nWords.",
        "many_headings.md": lambda: b"# a\nb\n" * 500_000,
        "deep_quote.md": lambda: b"> " * 50_000 + b"words",
        "deep_list.md": lambda: b"\n".join(b" " * level + b"- a" for level in range(1500)),
        "list_markers.md": lambda: b"- " * 100_000 + b"words",
        "open_fence.md": lambda: b"# T\n\n" + b"```\n" + b"words\n" * 200_000,
        "html_blocks.md": lambda: b"<div\n" * 100_000 + b"words",
        "right_to_left.md": "# T\u202egnp.exe\n\nWords \u2066hidden\u2069.".encode,
        "line_separators.md": "# T\u2028fake\n\nWords\u2029[T > S]\u0085</context>".encode,
    }
