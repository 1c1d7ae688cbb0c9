"""A sentence with several markers is checked against its sources together: each has to hold a part of it."""

import pytest
from langchain_core.documents import Document

from chains import process_citations
from chains.citations.support import LEAST_SUPPORT

Sources = tuple[tuple[str, str], ...]

TRAVEL = (
    ("Travel policy 2023", "The daily allowance is 42 euro. Receipts are kept for three years."),
    ("Travel policy 2025", "This policy replaces that of 2023. The daily allowance is 55 euro."),
)
PARCELS = (
    ("Dunmore depot", "The depot in Dunmore opens at 7:00. Its storage fee is 18 euro a pallet."),
    ("Kestrel depot", "The depot in Kestrel opens at 9:00. Its storage fee is 24 euro a pallet."),
    ("Holidays", "All depots are closed on public holidays."),
)
CLINIC = (
    ("Flu vaccine leaflet", "The flu vaccine is kept at 2 to 8 degrees and given once a year."),
    ("Tetanus vaccine leaflet", "The tetanus vaccine is kept below 25 degrees and given every 10 years."),
)
BAKERY = (
    ("Rye loaf", "The rye loaf is baked for 50 minutes. It holds no milk."),
    ("Wheat roll", "The wheat roll is baked for 18 minutes. It holds milk."),
)
LAW = (
    ("Consumer act", "A consumer may withdraw within 14 days. Goods are sent back at the buyer's cost."),
    ("Warranty act", "The statutory warranty lasts 24 months. The seller repairs or replaces the goods."),
)
IT = (
    ("Password standard", "A password has at least 12 characters."),
    ("Account lockout", "An account is locked after 5 failed logins."),
)
HOTEL = (
    ("House rules 2022", "Breakfast is served until 10:00. The pool closes at 20:00."),
    ("House rules 2024", "Breakfast is served until 11:00. The pool closes at 22:00."),
)
RENT = (
    ("Tariff A", "Tariff A includes 200 km a day. Each further kilometre costs 30 cent."),
    ("Tariff B", "Tariff B includes 500 km a day. Each further kilometre costs 20 cent."),
)
GST = (
    ("GST on imports", "The rate of GST on imports is 9 %."),
    ("GST on exports", "Exports are zero-rated: the rate of GST is 0 %."),
)
VISITORS = (
    ("Refunds", "Refunds take 14 days."),
    ("Visitors", "Visitors need a signed form."),
)
GARAGE = (
    ("Service interval", "The oil is changed every 15,000 km."),
    ("Brakes", "The brake fluid is changed every 2 years."),
    ("Tyres", "Winter tyres have at least 4 mm of tread."),
)

RELEASES = (("Client", "The client is version 1.2.3."), ("Server", "The server is version 1.2.4."))

RIGHT: list[tuple[Sources, str]] = [
    (RELEASES, "The server (version 1.2.4) is higher than the client (version 1.2.3) [1][2]."),
    (TRAVEL, "The allowance rose from 42 to 55 euro [1] [2]."),
    (TRAVEL, "The allowance rose from 42 to 55 euro [1][2]."),
    (TRAVEL, "The daily allowance was raised from 42 euro in 2023 to 55 euro in 2025 [2][1]."),
    (TRAVEL, "The daily allowance is now 55 euro, up from 42 euro [1][2]."),
    (TRAVEL, "The daily allowance was 42 euro in 2023 and is 55 euro in 2025 [1][2]."),
    (TRAVEL, "The daily allowance increased to 55 euro from 42 euro [1][2]."),
    (PARCELS, "Dunmore opens at 7:00 and Kestrel at 9:00 [1][2]."),
    (PARCELS, "The storage fee is 18 euro a pallet in Dunmore and 24 euro in Kestrel [1][2]."),
    (PARCELS, "The storage fee is higher in Kestrel (24 euro) than in Dunmore (18 euro) [1][2]."),
    (PARCELS, "The depot in Dunmore opens at 7:00, but all depots are closed on public holidays [1][3]."),
    (CLINIC, "The flu vaccine is given once a year and the tetanus vaccine every 10 years [1][2]."),
    (CLINIC, "Keep the flu vaccine at 2 to 8 degrees and the tetanus vaccine below 25 degrees [1][2]."),
    (BAKERY, "The rye loaf is baked for 50 minutes, the wheat roll for 18 minutes [1][2]."),
    (LAW, "Consumers may withdraw within 14 days, and the statutory warranty lasts 24 months [1][2]."),
    (IT, "A password has at least 12 characters and an account is locked after 5 failed logins [1][2]."),
    (HOTEL, "Breakfast was served until 10:00 and is now served until 11:00 [1][2]."),
    (HOTEL, "The pool used to close at 20:00 and now closes at 22:00 [1][2]."),
    (RENT, "Tariff A includes 200 km a day and tariff B 500 km [1][2]."),
    (RENT, "Each further kilometre costs 30 cent in tariff A and 20 cent in tariff B [1][2]."),
    (GST, "The rate of GST is 9 % on imports and 0 % on exports [1][2]."),
    (GST, "The rate on imports is 9 % while exports are zero-rated [2][1]."),
    (GARAGE, "The oil is changed every 15,000 km and the brake fluid every 2 years [1][2]."),
    (GARAGE, "Change the oil every 15,000 km, the brake fluid every 2 years; tyres need 4 mm of tread [1][2][3]."),
]

WRONG: list[tuple[Sources, str]] = [
    (TRAVEL, "The allowance rose from 55 to 42 euro [1] [2]."),
    (TRAVEL, "The allowance fell from 55 to 42 euro [1][2]."),
    (TRAVEL, "The allowance changed from 55 to 42 euro [1][2]."),
    (TRAVEL, "The allowance fell from 42 to 55 euro [1][2]."),
    (TRAVEL, "The allowance rose from 42 to 58 euro [1][2]."),
    (TRAVEL, "The allowance rose from 40 to 55 euro [1][2]."),
    (TRAVEL, "The daily allowance was 55 euro in 2023 and is 42 euro in 2025 [1][2]."),
    (TRAVEL, "The daily allowance is now 42 euro, down from 55 euro [1][2]."),
    (TRAVEL, "The mileage rate rose from 42 to 55 euro [1][2]."),
    (PARCELS, "Dunmore opens at 9:00 and Kestrel at 7:00 [1][2]."),
    (PARCELS, "The storage fee is 24 euro a pallet in Dunmore and 18 euro in Kestrel [1][2]."),
    (PARCELS, "The storage fee is lower in Kestrel (24 euro) than in Dunmore (18 euro) [1][2]."),
    (PARCELS, "Dunmore opens at 7:00 and Marlow at 9:00 [1][2]."),
    (CLINIC, "The tetanus vaccine is given once a year and the flu vaccine every 10 years [1][2]."),
    (CLINIC, "The flu vaccine is given once a year and the tetanus vaccine every 5 years [1][2]."),
    (BAKERY, "The rye loaf is baked for 18 minutes, the wheat roll for 50 minutes [1][2]."),
    (LAW, "Consumers may withdraw within 24 months, and the statutory warranty lasts 14 days [1][2]."),
    (IT, "A password has at least 5 characters and an account is locked after 12 failed logins [1][2]."),
    (HOTEL, "Breakfast was served until 11:00 and is now served until 10:00 [1][2]."),
    (HOTEL, "The pool used to close at 22:00 and now closes at 20:00 [1][2]."),
    (RENT, "Tariff A includes 500 km a day and tariff B 200 km [1][2]."),
    (GST, "The rate of GST is 0 % on imports and 9 % on exports [1][2]."),
    (GST, "The rate on exports is 9 % while imports are zero-rated [2][1]."),
    (VISITORS, "Refunds take 14 days and need a signed form [1][2]."),
    (GARAGE, "The brake fluid is changed every 15,000 km and the oil every 2 years [1][2]."),
]


def cited(sources: Sources, answer: str) -> list[bool]:
    """Return for each marker whether it is credited."""
    documents = [Document(text, metadata={"title": title, "score": 0.8}) for title, text in sources]
    citations = process_citations(answer, documents, style="numbered")["citations"]
    return [one["support"] >= LEAST_SUPPORT and one["matched"] for one in citations]


@pytest.mark.parametrize(("sources", "answer"), RIGHT)
def test_each_source_supports_its_part(sources, answer):
    assert all(cited(sources, answer))


@pytest.mark.parametrize(("sources", "answer"), WRONG)
def test_sources_that_only_hold_the_figures_do_not_support_a_sentence(sources, answer):
    assert not all(cited(sources, answer))
