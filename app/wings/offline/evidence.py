"""Measure how each statement of the context answers a question: the numbers that the ranker weighs."""

import re
from collections.abc import Sequence
from itertools import product
from typing import Final

import numpy as np

from app.wings.offline.matching import NAME_FLOOR, WORD_FLOOR, Flags, Matcher, Matrix, words_of
from app.wings.offline.passages import Candidate, Entry, ended_rows, is_worked
from app.wings.offline.question import COUNTED, COUNTRIES, DAY, FEAST_WORDS, WORDS, Question
from app.wings.offline.ranker import AHEAD
from chains.documents.versions import STATE, holds_on, left_titles
from chains.ports import WordSimilarity
from chains.text.asking import LISTED, MEASURED, PLACES, PRICES, Kind, fits, is_measured, kinds
from chains.text.negation import negates, opposes
from chains.text.quantities import MEASURES, Quantity, quantities
from chains.text.ranges import counted, crossed, denying, extreme, is_within, limits_of, ranged, turned
from chains.text.statements import Statement
from chains.text.tokens import CALENDAR, tokens

# What is measured; what is not known, or not yet, is not a number.
FEATURES: Final = ("near", "kind", "place", "range", "row", "score", "meaning", AHEAD)
EMBEDDED_CHARACTERS: Final = 160
# What a term is worth in the words that announce a statement, in the entry's header, one and two statements away.
LEAD, HEADER, NEIGHBOURS = 0.9, 0.8, ((1, 0.8), (2, 0.6))
# What a word is worth to a row that only the heading of its table holds, where other rows hold it themselves.
OVER_ALL: Final = 0.5
FIXED, CLOSE = 0.6, 0.75  # How strongly to hold a name, and by a near word one that the documents use.
MOST_OF_NAME: Final = 0.5
NAMED: Final = 0.6  # The share of a cell's words by which a question names it.
MIDDLING, NEAR_PASSAGE = 0.45, 0.5  # Similarities of a passage: where none is known, and from which one is near.
_LEAST_RARITY, FEWEST_ENTRIES = 0.3, 3
VERDICT: Final = re.compile(r"^(?:yes|no)(?:[,.:;!]|\s+[-\u2013\u2014](?=\s)|$)\s*", re.IGNORECASE)
_POINTS: Final = frozenset({"%", "date", "time of day", "hours of a day", "day of the year"})
_NAMED: Final = MEASURES | _POINTS
MOST_LACKING: Final = 0.34  # Of what the question names, the most that a statement may lack whose limit tells.
_OPENING: Final = frozenset({"close", "open", "shut"})  # What hours of a day say without a word.
_HALVES: Final = frozenset({"am", "pm"})
_JOINED: Final = re.compile(r"\b(?:and|or|vs|versus|compared|than)\b|[,/&]", re.I)
_RANKS: Final = re.compile(  # Words that compare the rows of a table.
    r"\b(?:most|least|(?!(?:inter|requ|harv|inv|cont|prot|sugg|gu|t|w|for)est)[a-z]{3,}est|preced\w+|succeed\w+|next|previous"
    r"|(?:before|after|follow\w*) [A-Z]\w+|other than|besides)\b"
)
_MOST: Final = WORDS["most"]
_COMPARED: Final = re.compile(rf"\b(?:{_MOST})\b", re.I)
_COMPARING: Final = re.compile(rf"\b(?:{_MOST}|than|while|whereas|both|unlike)\b", re.I)
TOLD: Final[frozenset[Kind]] = MEASURED | {"exception"}
# How much each feature tells of a statement before it is embedded.
_FIRST_LOOK: Final = {"near": 1.0, "kind": 0.15, "place": 0.35, "range": 1.0, "score": 0.75}
CANDIDATES: Final = 8  # The most statements that are embedded for one question.


class Evidence:
    """The statements of a context, a row of features for each; `scores` are the similarities of the known entries."""

    def __init__(
        self,
        question: Question,
        entries: Sequence[Entry],
        similarity: WordSimilarity | None = None,
        scores: Sequence[float | None] = (),
    ) -> None:
        self.question, self.entries = question, entries
        left = left_titles([entry.title for entry in entries], question.text)
        is_dated = any(one.measure == "date" for one in question.quantities)
        ended = ended_rows([] if is_dated else entries)
        found = [
            (statement, n)
            for n, entry in enumerate(entries)
            if all(code in entry.header + entry.text for code in question.codes)
            for statement in entry.statements
        ]
        texts = [statement.said for statement, _ in found]
        leads = [statement.announced for statement, _ in found]
        headers = [STATE.sub("", entry.header) for entry in entries]  # "Older" says nothing of somebody's age.
        self.matcher = Matcher(question, [*texts, *leads, *headers], similarity)
        self._headers = self.matcher.rows(headers)
        numbers = np.array([n for _, n in found], dtype=int)
        self._alone = self.matcher.rows(texts)
        placed = np.maximum(self._alone, LEAD * self.matcher.rows(leads))
        self.placed = np.maximum(placed, HEADER * self._headers[numbers])
        self.statements = [
            Candidate(one, n, row, left[n] or id(one) in ended or not (is_dated or holds_on(one.said)))
            for (one, n), row in zip(found, self.placed, strict=True)
        ]
        self.weights = self._weigh(placed)
        measures = {figure.measure for figure in question.quantities}
        self._is_counted = not measures.isdisjoint(COUNTED)
        dates = (
            FEAST_WORDS | CALENDAR if measures & {DAY, "date"} else set[str]()
        )  # A season that holds the day says them.
        self._figures = np.array([term.key[0].isdigit() or term.key in dates for term in question.terms], dtype=bool)
        self.together: dict[tuple[int, int], list[str]] = {}  # The rows that the question names, of each table.
        known = [*scores, *[None] * len(entries)]
        other_rows, ranges = self._compare_rows(known)
        self._compare_limits(ranges, known)
        self.placed[np.ix_(ranges > 0, self._figures)] = 1.0
        fresh = question.fresh  # What a follow-up names anew, where a list or text on what was asked before holds it:
        carried = [row for row, term in enumerate(question.terms) if term.carries and row not in fresh]
        blocks = {one.block for one in self.statements if not carried or (one.strengths[carried] >= HEADER).any()}
        joined = self.placed[[place for place, one in enumerate(self.statements) if one.block in blocks]]
        new = [row for row in fresh if joined[:, row].max(initial=0.0) >= 1.0]
        keys = {term.key for term in question.terms}
        self.contradicted = [
            is_other
            or bool(fit < 0)
            or is_worked(one.statement, entries[one.entry].section)
            or self._is_of_another(one)
            or (
                one.statement.kind == "item"
                and one.statement.is_label
                and not negates(one.text)  # "No trainers".
                and keys.isdisjoint(words_of(one.statement.lead).keys)
            )
            or bool(new and one.strengths[new].max() < HEADER)  # It speaks of what was asked before: the other shift.
            for one, is_other, fit in zip(self.statements, other_rows, ranges, strict=True)
        ]
        self.values = self._measure(known, ranges)

    def _is_of_another(self, one: Candidate) -> bool:
        """Return whether a statement is of another country than the question."""
        asked = self.question
        lacked = [name for name in asked.names if name not in asked.sides and not self.holds(one, name)]
        said = f"{self.entries[one.entry].header} {one.statement.announced} {one.text}"
        is_named = any(asked.terms[row].named for name in lacked for row in name)
        return is_named and any(token.key in COUNTRIES for token in tokens(said))

    def lacking(self, one: Candidate) -> float:
        """Return the share of the things that the question names which a statement lacks."""
        sides = {row for side in self.question.sides for row in side}
        is_price = "money" in self.question.wants and fits(one.text, {"money"}, "") > 0
        named = (row for row, term in enumerate(self.question.terms) if term.carries and row not in sides)
        keys = [term.key if is_price else "" for term in self.question.terms]
        nouns = [row for row in named if self.weights[row] > 0 and keys[row] not in PRICES]
        known = self.placed[:, nouns].max(axis=0, initial=0.0) >= 1.0  # Then "toes" are no "shoes".
        return float((one.strengths[nouns] < np.where(known, CLOSE, WORD_FLOOR)).mean()) if nouns else 0.0

    def is_unnamed(self, one: Candidate) -> bool:
        """Return whether a statement lacks a name or figure; of sides and of new words it needs one."""
        asked = self.question
        needed = [name for name in asked.names if name not in asked.sides and self.weights[name].any()]
        lacks_sides = bool(asked.sides) and not any(self.holds(one, side) for side in asked.sides)
        return lacks_sides or self.lacks_new(one) or not all(self.holds(one, name) for name in needed)

    def lacks_new(self, one: Candidate) -> bool:
        """Return whether a statement holds nothing of what a follow-up names anew."""
        return bool(self.question.fresh) and bool(one.strengths[self.question.fresh].max() < WORD_FLOOR)

    def adds_nothing(self, one: Candidate) -> bool:
        """Return whether an item or row holds no word of the question beyond those that stand over all of its block."""
        above = f"{self.entries[one.entry].section} {one.statement.announced}"
        own, over = self.matcher.rows([one.cells or one.text, above])
        return bool(((own < WORD_FLOOR) | (over >= own) | (self.weights <= 0)).all())

    def is_listed(self, one: Candidate) -> bool:
        """Return whether an item says what is asked with all of its list, which is asked for or named above it.

        Where a figure is asked for that few items give, the item stands alone: the fee among the steps.
        """
        if one.statement.kind != "item" or not ("list" in self.question.wants or self.adds_nothing(one)):
            return False
        wants, asked = self.question.wants, self.question.text
        items = [other.said for other in self.entries[one.entry].statements if other.block == one.statement.block]
        given = sum(fits(item, wants, asked) > 0 for item in items)
        return not is_measured(wants) or fits(one.text, wants, asked) <= 0 or 2 * given > len(items)

    def holds(self, one: Candidate, name: Sequence[int]) -> bool:
        """Return whether a statement holds a name, or most of one with several words; its heading and title count."""
        held = one.strengths[name] >= FIXED
        weights = self.weights[name]
        return bool(held @ weights >= MOST_OF_NAME * weights.sum())

    def _weigh(self, placed: Matrix) -> Matrix:
        """Return what each term carries, times how rare it is among the entries; a term of none is the rarest."""
        held = self._headers.copy()
        for one, row in zip(self.statements, placed, strict=True):
            held[one.entry] = np.maximum(held[one.entry], row)
        count = max(FEWEST_ENTRIES, len(self.entries))  # Among fewer that a word is in none says little.
        rarity = _LEAST_RARITY + np.log((count + 1) / ((held >= LEAD).sum(axis=0) + 0.5))
        return np.asarray(rarity * [term.weight for term in self.question.terms])

    def covered(self, strengths: Matrix) -> Matrix:
        """Return the share of the question's weight that each row of strengths holds."""
        total = float(self.weights.sum())
        return np.asarray(strengths @ self.weights / total if total else np.zeros(len(strengths)))

    def _measure(self, known: Sequence[float | None], ranges: Matrix) -> Matrix:
        asked, count = self.question, len(self.statements)
        numbers = np.array([one.entry for one in self.statements], dtype=int)
        near = self._spread()
        if asked.sides and count:  # Each side may stand in an entry of its own.
            sides = [row for side in asked.sides for row in side]
            near[:, sides] = self.placed[:, sides].max(axis=0)
        kind = np.array([self._fits(one) for one in self.statements], dtype=float)
        implied = np.array([term.asks or term.key in PRICES for term in asked.terms], dtype=bool)
        near[np.ix_(kind > 0, implied & ~implied.all())] = 1.0  # "21:15" is a closing time, "£3" a price.
        hours = [any(each.measure == "hours of a day" for each in one.statement.quantities) for one in self.statements]
        near[np.ix_(hours, [term.key in _OPENING for term in asked.terms])] = 1.0
        unknown = np.full(count, np.nan)
        columns: dict[str, Matrix | list[float]] = {
            "near": self.covered(near),
            "kind": kind,
            "place": 1 / (1 + numbers),
            "range": ranges,
            "row": [float(one.statement.kind == "row") for one in self.statements],
            "score": np.array([known[n] for n in numbers], dtype=np.float64),
            "meaning": unknown,
            AHEAD: unknown,
        }
        return np.column_stack([columns[name] for name in FEATURES]).astype(np.float64)

    def _spread(self) -> Matrix:
        """Return the strengths of each statement and, less, of its neighbours in the same entry; rows have none."""
        near = self.placed.copy()
        for step, worth in NEIGHBOURS:
            for left, right in zip(range(len(near)), range(step, len(near)), strict=False):
                one, other = self.statements[left], self.statements[right]
                if one.entry == other.entry and not one.statement.kind == other.statement.kind == "row":
                    near[left] = np.maximum(near[left], worth * self.placed[right])
                    near[right] = np.maximum(near[right], worth * self.placed[left])
        return np.asarray(near)

    def _fits(self, one: Candidate) -> float:
        """Return 1 where a statement is of the kind that is asked for, -1 where it is of another, else 0."""
        wants = self.question.wants
        is_verdict = "verdict" in wants and VERDICT.match(one.text)
        is_listed = one.statement.kind != "sentence" and not LISTED.isdisjoint(wants)
        text = ("who" in wants and one.cells) or one.text  # The names of columns name nobody.
        if is_verdict or is_listed or self._is_headed(one):
            return 1.0
        return fits(text, wants, self.question.text)

    def _is_headed(self, one: Candidate) -> bool:
        """Return whether a column asks what the question asks: "Risk passes when" or "Fee", whatever the cell says."""
        asked = self.question.wants & TOLD
        return one.statement.kind == "row" and any(not asked.isdisjoint(kinds(name)) for name in one.statement.columns)

    def _compare_rows(self, known: Sequence[float | None]) -> tuple[list[bool], Matrix]:
        """Return which rows are others than the question names, and how their ranges fit its figures."""
        others, ranges = np.zeros(len(self.statements), dtype=bool), np.zeros(len(self.statements))
        named = [row for row, term in enumerate(self.question.terms) if term.carries and not self._figures[row]]
        tables: dict[tuple[object, ...], list[int]] = {}
        for place, one in enumerate(self.statements):
            if one.statement.kind == "row":
                entry, columns = self.entries[one.entry], one.statement.columns
                table = (entry.title, entry.section, columns) if columns else one.block
                tables.setdefault(table, []).append(place)  # Of a long table that several passages hold as well.
        for places in tables.values():
            rows = [self.statements[at].statement for at in places]
            further, reached = np.array(counted(rows, self.question.text)), crossed(rows, self.question.text)
            within = ranged(rows, self._figures_for(rows))
            ranges[places] = [fit or other for fit, other in zip(within, further, strict=True)]
            near = known[self.statements[places[0]].entry] or 0.0
            heads = self.matcher.rows([" ".join(rows[0].columns)])
            held = np.vstack([self._alone[places], heads])[:, named].max(initial=0.0)
            is_far = near < NEAR_PASSAGE and self.placed[np.ix_(places, named)].max(initial=0.0) < WORD_FLOOR
            if is_foreign := bool(named) and (is_far or (self._is_counted and held < HEADER)):
                ranges[places] = np.minimum(ranges[places], 0.0)  # Hours of another thing hold a time as well.
            # A range that holds a figure says it, unless it names a row: "100 m²" beside "up to 12 weeks".
            labels = [row.cells[0].text for row in rows]
            names = self.matcher.rows([name for name in labels if not any(one.is_range for one in quantities(name))])
            figures = self._figures & (names.max(axis=0, initial=0.0) < 1.0)
            said = np.ix_(np.array(places)[ranges[places] > 0], figures)
            self._alone[said] = self.placed[said] = 1.0
            if reached is None:
                number, alone, numbers = self.statements[places[0]].entry, self._alone[places], np.array(places)
                others[places] = self._other_rows(rows, alone, number) | turned(rows, self.question.text)
                denied = np.array(denying(rows, self.question.text))  # "Which boat" names no row of "Rowing boat".
                others[places] |= denied
                others[places] = denied if denied.any() and others[places].all() else others[places]
                if (more := np.flatnonzero(further > 0)).size:  # "Second dog": only these compete.
                    others[numbers[more]] = self._other_rows([rows[at] for at in more.tolist()], alone[more], number)
                reached = None if is_foreign else self._extreme(rows, others[places])
            if reached is not None:
                ranges[places] = [float(row is reached) for row in rows]
                others[places] = [row is not reached for row in rows]
            fitting = ~others[places] & (ranges[places] >= max(0.0, ranges[places].max()))
            if not fitting.all():
                for one, is_fit in zip((self.statements[at] for at in places), fitting, strict=True):
                    self.together.setdefault(one.block, []).extend([one.text] if is_fit else [])
        return others.tolist(), ranges

    def _extreme(self, rows: Sequence[Statement], others: Flags) -> Statement | None:
        """Return the row that a superlative in the user's own words names; a new one ("the biggest?") of all rows."""
        mine = [row for row, is_other in zip(rows, others, strict=True) if self.question.fresh or not is_other]
        return None if "verdict" in self.question.wants else extreme(mine, self.question.text)

    def _figures_for(self, rows: Sequence[Statement]) -> list[Quantity]:
        """Return the figures to look up: a follow-up that names a row ("and a no show?") gives those before it up."""
        asked = self.question
        held = self.matcher.rows([row.cells[0].text for row in rows])[:, asked.fresh] >= 1.0
        if not (held.any(axis=0) & ~held.all(axis=0)).any():
            return asked.quantities
        for row, term in enumerate(asked.terms):
            if term.key[0].isdigit() and row not in asked.fresh:
                self.weights[row] = 0.0
        return asked.fresh_quantities

    def _compare_limits(self, ranges: Matrix, known: Sequence[float | None]) -> None:
        """Note how the limits of sentences and items fit the figures of the question: the nearest that holds one does.

        One that does not hold it is of another case where a limit of the same document does: "> 50,000" for 20,000.
        """
        said = [(place, one) for place, one in enumerate(self.statements) if one.statement.kind != "row"]
        others = self._figures | np.array([term.key in _HALVES for term in self.question.terms], dtype=bool)
        words = [row for row, term in enumerate(self.question.terms) if term.carries and not others[row]]
        limits = [  # Of "before 15:00" and "after 15:00" one holds for 4 p.m.
            (place, limit, (self.entries[one.entry].title, limit.measure, ""))
            for place, one in said
            for limit in limits_of(one.statement)
            if (one.strengths[words] < FIXED).sum() <= MOST_LACKING * len(words)  # "Until 22:00" holds of anything.
        ]
        limits += [
            (place, limit, (self.entries[one.entry].title, limit.measure, limit.bound))
            for place, one in said
            for limit in one.statement.quantities
            if limit.is_range and limit.measure and limit.measure not in _POINTS
            if (limit.bound != "exact" and self.lacking(one) <= MOST_LACKING)  # "28 to 8 days before: half" is a row.
            or ((known[one.entry] or 0.0) >= NEAR_PASSAGE and limit.end <= one.statement.words.find(": "))
        ]
        for figure in self.question.quantities:
            fitting = [
                (place, abs(limit.low - figure.low), key) for place, limit, key in limits if is_within(limit, figure)
            ]
            nearest = {key: distance for _, distance, key in sorted(fitting, key=lambda one: -one[1])}
            ranges[[place for place, _, key in limits if key in nearest]] = -1.0
            for place, distance, key in fitting:
                ranges[place] = float(distance <= nearest[key])

    def _other_rows(self, rows: Sequence[Statement], alone: Matrix, entry: int) -> Flags:
        """Return for each row of a table whether the question names another one.

        It does by the words of the first cell that tell rows apart, where some row holds more of them; where first
        cells repeat, also by a whole other cell: "frozen goods in Northland" is no row of Northland that is not frozen.
        Words that a follow-up replaces ("and the early one?") count no more, here and in all that is measured.
        """
        weights, named = self.weights, np.array([term.carries or term.fixed for term in self.question.terms])
        keys = [f"{row.group} {row.cells[0].text}" for row in rows]
        held, columns = self.matcher.rows(keys), self.matcher.rows([" ".join(rows[0].columns)])[0]
        is_exact = held.max(axis=0, initial=0.0) >= 1.0
        holds = np.where(is_exact, held >= 1.0, held >= FIXED)  # "west" is no "east".
        asks = np.array([term.asks for term in self.question.terms])
        tells = holds.any(axis=0) & ~holds.all(axis=0) & (columns < np.where(is_exact, 1.0, FIXED))
        tells &= named | (is_exact & ~asks)
        replacing = [row for row in self.question.fresh if self.question.terms[row].key not in CALENDAR]
        new = [row for row in replacing if tells[row]]  # A day only replaces a day.
        if new and is_exact[new].any():
            said = (held[:, new] >= 1.0).sum(axis=1)
            kept = (held[said == said.max()] >= 1.0).all(axis=0)  # The rows that are asked for now say it as well.
            replaced = [row for row in np.flatnonzero(tells & ~kept) if row not in new]
            tells[replaced], weights[replaced] = False, 0.0
        telling = np.where(holds, held, 0.0).max(axis=0) * tells
        over = self.matcher.rows([f"{self.entries[entry].section} {rows[0].announced}"])  # It says so of each row.
        lacked = np.maximum(0.0, telling - np.maximum(alone, OVER_ALL * over)) @ weights
        others = lacked > lacked.min(initial=np.inf) + 1e-6
        if _JOINED.search(self.question.text):  # "Sea and air" names two rows, each by words of its own.
            named = holds & tells
            have_own = (named & ~named[~others].any(axis=0)).any(axis=1)
            others &= ~(have_own & (named[~others] & ~named[others].any(axis=0)).any())
        is_key = len(set(keys)) == len(keys)  # Else it takes another column to tell the rows apart.
        days = {term.key for term, weight in zip(self.question.terms, weights, strict=True) if weight} & CALENDAR
        for place in () if is_key else range(1, min(len(row.cells) for row in rows)):
            if any(held_days := [not days.isdisjoint(words_of(row.cells[place].text).keys) for row in rows]):
                others |= ~np.array(held_days)  # "Tuesday" is of "Monday to Friday".
            cells = [{word.key: word.weight for word in tokens(row.cells[place].text) if word.weight} for row in rows]
            # "Chilled" is near to "frozen", and no answer where another row says "frozen".
            is_said = any(self.matcher.is_asked(key, 1.0) for cell in cells for key in cell)
            least = 1.0 if is_said else NAME_FLOOR
            asked = [{key for key in cell if self.matcher.is_asked(key, least)} for cell in cells]
            asked = [some if any(map(str.isalpha, some)) else set() for some in asked]  # A figure alone names no row.
            shares = [
                sum(cell[key] for key in some) / max(1e-6, sum(cell.values()))
                for cell, some in zip(cells, asked, strict=True)
            ]
            if max(shares) >= NAMED:
                others |= np.array([share < NAMED for share in shares])
        return np.asarray(others)

    def is_doubtful(self, one: Candidate) -> bool:
        """Return whether something speaks against a statement that holds words of the question."""
        asked = self.question
        # One row does not show how others compare, nor does a sentence that names no best or difference.
        is_compared = bool(_COMPARED.search(asked.text)) and not _COMPARING.search(one.text)
        if one.statement.kind == "row":
            is_compared = bool(_RANKS.search(asked.text))
        most = 0.0 if is_measured(asked.wants) else MOST_LACKING if "who" in asked.wants else 1.0
        return is_compared or self.lacking(one) > most

    def is_of_other_case(self, one: Candidate) -> bool:
        """Return whether a statement is of the opposite case, or gives another kind of answer: a place for a person."""
        asked, text, is_row = self.question, f"{one.statement.announced} {one.text}", one.statement.kind == "row"
        told = asked.wants & (TOLD if is_row else {*TOLD, "who"})
        named = PLACES.sub("", text) if "who" in told else text
        counts = [figure for figure in asked.quantities if figure.measure.islower() and figure.measure not in _NAMED]
        said = () if is_row else one.statement.quantities  # A box for two is none for six.
        is_other = any(any(map(n.contradicts, said)) and not any(map(n.equals, said)) for n in counts)
        is_other_kind = fits(named, told, asked.text) < 0 and not self._is_headed(one)
        return is_other or is_other_kind or opposes(text, asked.text)

    def first_look(self) -> list[int]:
        """Return the rows of the statements that deserve a closer look, by their words alone."""
        weights = np.array([_FIRST_LOOK.get(name, 0.0) for name in FEATURES])
        best = [int(row) for row in np.argsort(-np.nan_to_num(self.values) @ weights, kind="stable")]
        chosen = sorted(best, key=self.left_out.__getitem__)[:CANDIDATES]
        beside = [row for row in best[:1] if not self.contradicted[row]]  # It may stand in a replaced version alone.
        for side in self.question.sides:  # What is compared may be far apart.
            beside += [row for row in best if self.holds(self.statements[row], side) and not self.contradicted[row]][:1]
        return list(dict.fromkeys([*chosen, *beside]))

    @property
    def left_out(self) -> list[bool]:
        """Return which statements speak of something else, or are of another version or day."""
        return [out or one.is_left for out, one in zip(self.contradicted, self.statements, strict=True)]

    @property
    def agreement(self) -> Matrix:
        """Return 1 for items that are quoted as one list, and where two texts give one figure that is asked for."""
        wants, known = self.question.wants, self.question.quantities
        measured = self.statements if not wants or is_measured(wants) else []
        figures = [
            (one.block, [each for each in one.statement.quantities if not (each.label or any(map(each.equals, known)))])
            for one in measured
        ]
        pairs = np.eye(len(self.statements))
        for (row, (block, mine)), (column, (other, its)) in product(enumerate(figures), repeat=2):
            pairs[row, column] += block != other and any(one.equals(each) for one in mine for each in its)
        listed = [one.block if self.is_listed(one) else row for row, one in enumerate(self.statements)]
        return np.maximum(pairs, [[mine == its for its in listed] for mine in listed])  # They are quoted together.

    def in_place(self, one: Candidate) -> str:
        """Return a statement below its section and its label, short enough to embed quickly."""
        parts = (self.entries[one.entry].section, one.statement.lead, one.text)
        return ": ".join(dict.fromkeys(part for part in parts if part))[:EMBEDDED_CHARACTERS]

    def keep(self, rows: Sequence[int], meanings: Sequence[float] = ()) -> None:
        """Keep these statements only; `meanings` are their cosines to the question, where they are known."""
        self.statements = [self.statements[row] for row in rows]
        self.contradicted = [self.contradicted[row] for row in rows]
        self.values = self.values[list(rows)]
        score, meaning = (self.values[:, FEATURES.index(name)] for name in ("score", "meaning"))  # Views, not copies.
        if meanings:
            meaning[:] = meanings
        score[:] = np.fmax(score, meaning)  # A passage on many things is far from what one statement in it answers.
        self.nearest = float(np.nan_to_num(score, nan=MIDDLING).max(initial=0.0))
