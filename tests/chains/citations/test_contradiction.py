import pytest

from chains.citations.claims import ClaimReader
from chains.citations.contradiction import contradict

COMMON = {"guid", "import", "requir", "servic", "term", "air", "sea", "freight", "quot", "memo", "price", "list", "tax"}


def contradicts(first: str, second: str, titles=("Guide", "Memo"), asked=frozenset(), **about) -> bool:
    reader = ClaimReader(COMMON)
    mine, theirs = (
        list(reader.claims(text, reader.about(f"{place}", title, **about)))
        for place, (text, title) in enumerate(zip((first, second), titles, strict=True))
    )
    return any(contradict(one, other, asked) for one in mine for other in theirs)


TABLE = "| Service | Minimum before ETD |\n|---|---|\n| {} | {} |"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The VAT rate in Indonesia is 12 %.", "VAT in Indonesia is 10 %."),
        ("- An air freight quote is valid for 7 days.", "An air freight quote is valid for 9 days."),
        (TABLE.format("FCL reefer", "10 working days"), TABLE.format("FCL reefer", "8 working days")),
        (
            "GST in Singapore has stood at 9 % since 1 January 2024.",
            "GST in Singapore has stood at 9 % since 1 July 2024.",
        ),
        ("Form D for Laos is issued by Customs.", "Form D for Laos is issued by MOIT."),
        ("**Standard VAT in Laos**: 10%", "| Tax | Rate |\n|---|---|\n| VAT in Laos | 7% |"),
    ],
)
def test_another_value_for_one_thing_contradicts(first, second):
    assert contradicts(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("VAT in Indonesia is 12 %.", "VAT in Thailand is 7 %."),
        ("VAT in Indonesia is 12 %.", "In 2021 VAT in Indonesia was 10 %."),
        ("VAT in Indonesia is 12 %.", "For example, VAT in Indonesia is 10 %."),
        ("VAT in Indonesia is 12 %.", "VAT in Indonesia is not 10 %."),
        ("VAT in Indonesia is 12 %.", "Is VAT in Indonesia 10 %?"),
        ("VAT in Indonesia is 12 %.", "```\nVAT in Indonesia is 10 %.\n```"),
        ("VAT in Indonesia is 12 %.", "VAT in Indonesia is 12 %, in effect 11 %."),
        ("A sea freight quote is valid for 14 days.", "A sea freight quote is valid for two weeks."),
        ("A sea freight quote is valid for 14 days.", "An air freight quote is valid for 7 days."),
        ("## Sea freight\n\nA quote is valid for 14 days.", "## Air freight\n\nA quote is valid for 7 days."),
        (TABLE.format("FCL reefer", "10 working days"), TABLE.format("FCL dry", "7 working days")),
        ("A 20 ft container holds 21 t of cargo.", "A 40 ft container holds 26 t of cargo."),
        ("Form D is accepted in Laos.", "Form D is accepted in Brunei."),
        ("An ordinary certificate costs S$40.", "A preferential certificate costs S$60."),
        ("An export permit is valid for 14 days.", "An import permit is valid for 30 days."),
        ("Storage is free for 3 days.", "Demurrage is free for 5 days."),
        ("The rate of GST on imports is 9 %.", "The rate of GST on imports was set in 2007."),
        ("The rate of GST on imports is 9 %.", "The rate of GST on imports is about 10 %."),
        ("The rate of GST on imports is 9 %.", "The rate of GST on imports is in step 7."),
        ("It is 9 %.", "It is 7 %."),
    ],
)
def test_what_can_both_be_true_does_not_contradict(first, second):
    assert not contradicts(first, second)


@pytest.mark.parametrize(
    ("title", "first", "second", "is_conflict"),
    [
        ("Pool in winter and summer", "Winter opening hours", "Summer opening hours", False),
        ("Members and guests of the court", "Members", "Guests", False),
        ("Pool", "Indoor hall", "Outdoor hall", False),
        ("Pool", "Weekdays", "Weekends and holidays", False),
        ("Pool", "Overview", "Frequently asked questions", True),
        ("Pool", "Before you swim", "Lockers", True),  # Both statements speak of those who swim.
    ],
)
def test_headings_of_one_document_that_say_other_words_set_statements_apart(title, first, second, is_conflict):
    reader = ClaimReader(COMMON)
    rule = "On Tuesdays all who swim leave the hall at"
    text = f"## {first}\n\n{rule} 20:00.\n\n## {second}\n\n{rule} 18:00."
    one, other = reader.claims(text, reader.about("pool", title))
    assert contradict(one, other) == is_conflict


def test_documents_about_two_companies_do_not_contradict_each_other():
    texts = ("The free time of a dry container is 5 days.", "The free time of a dry container is 7 days.")

    assert contradicts(*texts)
    assert not contradicts(*texts, titles=("Maersk Service Guide", "Evergreen Service Guide"))


FARES = "| Expense | Limit |\n|---|---|\n| Meals, per day | S$40 |"


@pytest.mark.parametrize(
    ("first", "second", "titles"),
    [
        (FARES, FARES.replace("40", "55"), ("Travel expenses 2023", "Travel expenses 2026")),
        ("Staff have 21 days of leave.", "Staff have 25 days of leave.", ("Leave policy v1", "Leave policy v2")),
        (
            "The yard opens at 08:00.",
            "The yard opens at 07:00.",
            ("Handbook (edition 2022)", "Handbook (edition 2025)"),
        ),
        ("- Rye loaf: £4.80", "- Rye loaf: £5.10", ("Prices, version 3", "Prices, version 4")),
    ],
)
def test_two_versions_of_one_document_contradict_each_other_in_few_words(first, second, titles):
    assert contradicts(first, second, titles)


@pytest.mark.parametrize(
    "titles",
    [("Annual report 2023", "Annual report 2024"), ("Yard 2023", "Desk 2024"), ("Form 5", "Form 7"), ("Desk", "Desk")],
)
def test_accounts_of_two_years_and_other_titles_are_no_versions(titles):
    assert not contradicts("The company has 40 employees.", "The company has 52 employees.", titles)


def test_a_lead_time_is_known_by_its_unit():
    titles = ("Booking procedure", "Dangerous goods guide")
    tables = (f"| Cargo | {name} |\n|---|---|\n| Dangerous goods | {{}} |" for name in ("Lead time", "Notice"))
    first, second = (
        table.format(days) for table, days in zip(tables, ("7 working days", "5 working days"), strict=True)
    )
    assert contradicts(first, second, titles)


def test_what_is_longer_than_a_sentence_states_nothing():
    reader = ClaimReader(COMMON)
    assert not list(reader.claims("The fee is 5 days and " * 1000, reader.about("a", "Guide")))


def test_an_example_contradicts_nothing_though_it_says_almost_the_same():
    rule = "Import GST in Singapore on goods by sea is 9 % of the CIF value."
    assert contradicts(rule, rule.replace("9", "8"))
    assert not contradicts(rule, rule.replace("9", "8").replace("Import", "In the example import"))


def test_rows_of_one_table_contradict_rows_of_another_document_alone():
    table = f"{TABLE.format('FCL reefer', '10 working days')}\n| FCL reefer | 8 working days |"
    reader = ClaimReader(COMMON)
    one, other = reader.claims(table, reader.about("a", "Guide"))
    assert not contradict(one, other)
