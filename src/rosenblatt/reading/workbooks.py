"""Excel workbooks, read by pandas as the CSV file that their first sheet would be."""

import io
import os
from functools import lru_cache
from typing import Any
from zipfile import BadZipFile

from ..disk import explain_errors
from .formats import WORKBOOKS, find_ending
from .sources import Source, file_error


class WorkbookSource(Source):
    """The first sheet of a workbook as the bytes of a CSV file.

    ``sheets`` are the names of all sheets.
    """

    def __init__(self, path: str) -> None:
        with explain_errors(path, "read"):
            found = os.stat(path)
        sheet, self.sheets = read_first_sheet(path, found.st_mtime_ns, found.st_size)
        super().__init__(io.BytesIO(sheet))
        self.name, self.size = path, len(sheet)


def is_workbook(path: Any, format: str | None) -> bool:  # noqa: A002
    """Whether a path is that of an Excel workbook, by the stated format or its name."""
    if not isinstance(path, str | os.PathLike) or path == "-":
        return False
    name = os.fsdecode(path)
    stated = find_ending(name) if format is None else format
    return stated in WORKBOOKS and (os.path.isfile(name) or not has_pattern(name))


def has_pattern(name: str) -> bool:
    """Whether a name is a folder, or stands for several files."""
    return os.path.isdir(name) or any(letter in name for letter in "*?[")


@lru_cache(maxsize=1)
def read_first_sheet(path: str, time: int, size: int) -> tuple[bytes, list[str]]:
    """Read the first sheet of a workbook as CSV, once per time and size of the file."""
    try:
        import pandas

        with pandas.ExcelFile(path) as book:
            frame = pandas.read_excel(book)
            names = [str(name) for name in book.sheet_names]
    except ImportError:
        remedy = "install both (pip install pandas openpyxl), or save it as CSV"
        what = f"is an Excel workbook, which needs pandas and openpyxl; {remedy}"
        raise file_error("needs-pandas", path, what) from None
    except (ValueError, KeyError, EOFError, BadZipFile) as error:
        what = "is damaged or not an Excel workbook; save it as CSV"
        raise file_error("damaged", path, what) from error
    return frame.to_csv(index=False).encode(), names
