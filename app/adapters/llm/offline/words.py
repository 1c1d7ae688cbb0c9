"""Text -> comparable terms: stems, with the names of one thing folded into one term."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from chains.text.words import STOP_WORDS, word_set
from chains.text.words import stem as porter_stem

# Words that carry a question rather than its topic: half the corpus may answer without repeating them.
SOFT_WORDS = word_set(
    """
    able allow anything applicable apply ask available best between call come compare comparison compulsory far fast
    soon
    cover describe detail differ difference exact exactly explain find first found general get give go good
    got happen help hold important inform information keep kind know like list long look make mandatory many
    mean meaning much necessary need new normally offer often okay overview people possible procedure process
    provide question quick quickly really regard regarding require required right say see show standard start
    still take tell thing think time try type typical typically understand use used usual usually versus vs
    want way work
    """
)

# One line a concept: every way to write it. The first name stands for all.
SAME_THING = """
bill of lading | bills of lading | bl | b l | hbl | mbl
electronic bill of lading | ebl | e bl | e b l
full container load | fcl
less than container load | less than a container load | less than container | lcl
certificate of origin | certificates of origin | coo
verified gross mass | vgm
estimated time of arrival | eta
estimated time of departure | etd | departure
air waybill | airway bill | air waybills | awb
service level agreement | service level agreements | sla | slas
dangerous goods | hazardous goods | hazardous materials | hazardous cargo | dangerous cargo | hazmat | hazardous | dg
goods and services tax | gst | consumption tax
value added tax | vat
harmonized system | harmonised system | hs | hts
free trade agreement | free trade agreements | fta | ftas
free trade zone | free trade zones | ftz
demurrage and detention | d d | dnd
shipping instructions | shipping instruction
cash on delivery | collect on delivery | cod
proof of delivery | pod
twenty foot equivalent unit | teu
out of gauge | oog
container freight station | cfs
container yard | cy
required | require | requirement | need | must | mandatory | necessary | compulsory | obligatory
document | documentation | paperwork | papers
reefer | refrigerated | temperature controlled | temperature control
ocean | sea | maritime
amend | change | modify | alter
submit | submission | lodge
fee | fees | cost | charge | price | surcharge
complain | complaint
pay | paid | payment
refuse | refusal | reject | rejection
buy | purchase
exporter | export
importer | import
tariff | duty | duties
delay | delayed | late | overdue
license | licence
deadline | cut off | cutoff | cut offs
advance | ahead | early
cosmetic | skincare | skin care
Singapore Airlines | SIA | SQ
"""

# One line a country: its names, then after a colon the cities that a document titled by the country speaks for.
PLACES = """
Singapore | SG | Singaporean : Changi
Indonesia | Indonesian : Jakarta | Surabaya | Semarang | Belawan | Batam | Tanjung Priok
Malaysia | Malaysian : Kuala Lumpur | KL | Port Klang | Penang | Johor Bahru | Johor | Pasir Gudang | Tanjung Pelepas
Thailand | Thai : Bangkok | Laem Chabang
Vietnam | Viet Nam | Vietnamese | VN : Ho Chi Minh City | Ho Chi Minh | HCMC | Saigon | Hanoi | Hai Phong | Haiphong
Philippines | Philippine | Filipino : Manila | Cebu
China | Chinese : Shanghai | Shenzhen | Ningbo | Qingdao
Germany | German : Hamburg
Japan | Japanese : Tokyo | Yokohama
United States | USA | American : Los Angeles | New York
United Kingdom | UK | British : London | Felixstowe
"""

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_LONGEST_NAME = 6
_ROOT_LETTERS = 3


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return the stem of a lower-case word, with the ends of nouns made from verbs taken off as well."""
    root = porter_stem(word)
    ending = next((end for end in ("ment", "ic", "i") if root.endswith(end)), "")
    keeps = word.endswith("i") or len(root) - len(ending) < _ROOT_LETTERS
    return root if keeps else root.removesuffix(ending)


def tokens(text: str) -> list[str]:
    """Split into words and numbers; case is kept, letters and digits never share a token."""
    return _TOKEN.findall(text)


def _one_term(token: str) -> str | None:
    """Return a token's term; a stop word in capitals is a name (the carrier ONE) and stays as it is."""
    lower = token.lower()
    if lower not in STOP_WORDS:
        return stem(lower)
    return token if len(token) > 1 and token.isupper() else None


def _spellings(names: str) -> list[tuple[str, ...]]:
    return [tuple(stem(token.lower()) for token in tokens(name)) for name in names.split("|")]


def _concept(spelling: tuple[str, ...]) -> str:
    return "~" + "_".join(spelling)


@lru_cache(maxsize=1)
def _concepts() -> dict[str, dict[tuple[str, ...], str]]:
    """Return concept terms by the stems that spell them, grouped by the first stem."""
    table: dict[str, dict[tuple[str, ...], str]] = {}
    countries = [line.split(":")[0] for line in PLACES.strip().splitlines()]
    for line in [*SAME_THING.strip().splitlines(), *countries]:
        spelled = _spellings(line)
        for spelling in spelled:
            table.setdefault(spelling[0], {})[spelling] = _concept(spelled[0])
    for city in (city for line in PLACES.strip().splitlines() for city in _spellings(line.split(":")[1])):
        table.setdefault(city[0], {})[city] = _concept(city)
    return table


@lru_cache(maxsize=1)
def countries() -> dict[str, str]:
    """Return the country of each place that is known, a country's own among them."""
    known: dict[str, str] = {}
    for line in PLACES.strip().splitlines():
        names, cities = line.split(":")
        country = _concept(_spellings(names)[0])
        known |= {_concept(city): country for city in _spellings(cities)} | {country: country}
    return known


def _concept_at(stems: Sequence[str], start: int) -> tuple[str, int]:
    """Return the concept spelled from `start` on and its length in words; the longest wins, "" and 1 if none."""
    spellings = _concepts().get(stems[start], {})
    for length in range(_LONGEST_NAME if spellings else 0, 0, -1):
        concept = spellings.get(tuple(stems[start : start + length]))
        if concept:
            return concept, length
    return "", 1


def folded(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (term, first word) in order, concepts in place of the words that spell them, stop words left out."""
    stems = [stem(word.lower()) for word in words]
    index = 0
    while index < len(stems):
        concept, length = _concept_at(stems, index)
        term = concept or _one_term(words[index])
        if term:
            yield term, words[index]
        if concept == "~electron_bill_of_lade":
            yield "~bill_of_lade", words[index]
        index += length


@lru_cache(maxsize=1 << 13)
def terms(text: str) -> frozenset[str]:
    """Return every term of a text: concepts, the single words that spell them too, and the countries of its cities."""
    words = tokens(text)
    found = {term for word in set(words) if (term := _one_term(word))}
    found.update(term for term, _ in folded(words))
    found.update(countries()[term] for term in found & countries().keys())
    return frozenset(found)
