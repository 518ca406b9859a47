"""Numbers as people write them: decimal commas, thousands, currencies, percent signs, units."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from ..kernels.lines import MISSING
from .values import to_scalar

UNITS = "$€£¥₹%"
BLANK = "\u00a0\u202f "  # between thousands; two of them do not break lines
MARKS = {  # what divides thousands and decimals, by an example; the first that fits is taken
    "1,234.5": (",", r"\."),
    "1.234,5": (r"\.", ","),
    "1 234,5": (f"[{BLANK}]", ","),
    "1 234.5": (f"[{BLANK}]", r"\."),
    "1'234.5": ("['’]", r"\."),
}
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
PLAIN = re.compile(NUMBER)
AROUND = ' "\t\v\f\r'  # what may stand around a number
ANY = re.compile(
    rf"([A-Z]{{3}} )?[-+\d.,'’{BLANK}{UNITS}]*\d[-+\d.,'’{BLANK}{UNITS}]*( [A-Za-z]{{1,12}})?"
)
WORD = re.compile("[A-Za-z]+")  # a unit, after a blank, or the three letters of a currency
LEADING_ZEROS = r"^\s*0\d+\s*$"


def is_number(cell: str) -> bool:
    """Whether a cell is a number, written plainly, or missing."""
    cell = cell.strip(AROUND)
    return cell in MISSING or PLAIN.fullmatch(cell) is not None


class Spelling(NamedTuple):
    """How the numbers of a column are written: an example of the marks, and their unit."""

    marks: Annotated[str, lambda marks: marks in MARKS]
    unit: Annotated[str, lambda unit: unit in ["", *UNITS] or WORD.fullmatch(unit)]

    @property
    def pattern(self) -> str:
        """A regular expression for the numbers.

        Its groups are the sign before the unit, the sign after it, and the number.
        """
        thousands, decimal = MARKS[self.marks]
        number = rf"(?:[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+|\d+)(?:{decimal}\d+)?"
        unit = re.escape(self.unit) + "s?" * self.unit.isalpha()  # 1 month, 2 months
        unit = f"(?:{unit})?" if self.unit not in ("", "%") else ""
        after = "[ \u00a0]?" + ("%" if self.unit == "%" else unit)
        return rf"^\s*(?:([-+]?) ?{unit} ?|{unit} ?([-+]))({number}){after}\s*$"

    def fits(self, cell: str) -> bool:
        """Whether a cell is written in this way."""
        return re.match(self.pattern, cell) is not None

    def number(self, cell: str) -> float:
        """Return the number in a cell."""
        plain = re.sub(self.pattern, r"\1\2\3", cell)
        thousands, decimal = MARKS[self.marks]
        return float(re.sub(decimal, ".", re.sub(thousands, "", plain)))


def find_spelling(cells: Sequence[str]) -> Spelling | None:
    """Find how the numbers of all cells are written; None if plainly or in several ways."""
    units = find_units(cells)
    if len(units) > 1 or all(map(PLAIN.fullmatch, cells)):
        return None
    for marks in MARKS:
        spelling = Spelling(marks, "".join(units))
        if all(map(spelling.fits, cells)):
            return spelling
    return None


def find_units(cells: Sequence[str]) -> set[str]:
    """Find the units in all cells; words without the s of their plural."""
    marks = {mark for cell in cells for mark in cell if mark in UNITS}
    return marks | {word.removesuffix("s") or word for cell in cells for word in WORD.findall(cell)}


def write_plainly(column: Any, spelling: Spelling) -> Any:
    """Rewrite the numbers in strings plainly; other strings become invalid numbers."""
    from pyarrow import compute

    thousands, decimal = MARKS[spelling.marks]
    fits = compute.match_substring_regex(column, spelling.pattern)
    found = compute.replace_substring_regex(column, spelling.pattern, r"\1\2\3")
    found = compute.replace_substring_regex(found, thousands, "")
    found = compute.replace_substring_regex(found, decimal, ".")
    blank = compute.match_substring_regex(column, r"^\s*$")
    odd = compute.binary_join_element_wise(to_scalar("not a number:"), column, to_scalar(" "))
    return compute.if_else(compute.or_(fits, blank), found, odd)
