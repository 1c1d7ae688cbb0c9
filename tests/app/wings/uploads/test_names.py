import pytest

from app.wings.uploads.jobs import FileNameError, safe_name


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd.md", "passwd.md"),
        ("C:\\Users\\x\\plan.PDF", "plan.pdf"),
        ("a\x00b\x1b[31m\u202egnp.md", "ab[31mgnp.md"),
        (" .. hidden.md", "hidden.md"),
        ('a<b>:"|?*.md', "a_b______.md"),
        ("con.md", "_con.md"),
        ("LPT1.tar.md", "_LPT1.tar.md"),
        ("Gebühr  e\u0301.md", "Gebühr é.md"),
        ("x" * 500 + ".md", "x" * 180 + ".md"),
        ("\ud800é.md", "é.md"),
    ],
)
def test_a_hostile_name_is_made_safe(given, kept):
    assert safe_name(given, {".md", ".pdf"}) == kept


@pytest.mark.parametrize(
    "given", ["", ".", "..", "/", "a", "a.exe", "a.md/", ".md", "readme.md", "a.md\x00.exe", "…md"]
)
def test_a_name_without_a_use_is_refused(given):
    with pytest.raises(FileNameError):
        safe_name(given, {".md"})
