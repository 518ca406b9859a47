"""Statistics of all rows that a recipe needs before rows become features."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..data.rows import join_rows, n_rows, rows_where
from ..data.splits import Split
from ..kernels import columns
from ..kernels.algebra import Rows
from ..parameters import ParameterError
from .batches import Batch
from .lists import find_list
from .notices import list_words
from .parser import Parser
from .recipe import FeatureRecipe, Frequencies
from .scaling import MOST_BINNED, DenseSurvey, Scale, SparseSurvey, pack_array

if TYPE_CHECKING:
    from .reader import Reader

MOST_BITS = 24  # of columns whose n-grams are counted


def next_statistics(reader: "Reader") -> "SizeSurvey | TextSurvey":
    """Return the next statistics that a reader's recipe lacks; held-out rows do not count."""
    return (TextSurvey if reader.recipe.lacks_frequencies else SizeSurvey)(reader)


def find_on_the_way(reader: "Reader") -> "SizeSurvey | TextSurvey | None":
    """Return the statistics that a pass over all rows can take while it reads them, or None."""
    found = None if reader.recipe.is_complete else next_statistics(reader)
    return None if found is None or found.apart or found.seen is None else found


def select_learnt_rows(batch: Batch, split: Split, first_row: int) -> Rows:
    """Select the rows of a batch that are not held out, by the number of its first row."""
    rows = batch.rows
    if not split:
        return rows
    return rows_where(rows, ~split.held_out(first_row, n_rows(rows)))


def learnt_rows(batches: Iterable[Batch], split: Split) -> Iterator[Rows]:
    """Yield the rows of batches from the beginning on that are not held out."""
    row = 0
    for batch in batches:
        yield select_learnt_rows(batch, split, row)
        row += n_rows(batch.rows)


def keep_columns(recipe: FeatureRecipe, kinds: tuple[str, ...], **changes: Any) -> FeatureRecipe:
    """Return the recipe of the columns of some kinds alone: without bins and products."""
    changes["columns"] = [each for each in recipe.columns or () if each[1] in kinds] or None
    return replace(recipe, bins=0, pairs=False, id=None, **changes)


def share_scales(names: list[str], scales: list[Scale]) -> list[Scale]:
    """Give all places of a column of lists one factor, and one flag of missing lists.

    >>> scales = [Scale(factor=1.0), Scale(factor=7**-0.5)]
    >>> [round(scale.factor, 6) for scale in share_scales(["x[0]", "x[1]"], scales)]
    [0.5, 0.5]
    """
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(find_list(name), []).append(place)
    shared = list(scales)
    for several in filter(lambda some: len(some) > 1, places.values()):
        factor = float(np.mean([scales[place].factor ** -2 for place in several]) ** -0.5)
        for place in several:
            filling = scales[place].filling * factor / scales[place].factor
            flagged = scales[place].flagged and place == several[0]
            shared[place] = Scale(scales[place].centre, factor, filling, flagged)
    return shared


class SizeSurvey:
    """Statistics of numbers, which complete a recipe with scales."""

    def __init__(self, reader: "Reader") -> None:
        self.reader, self.recipe = reader, reader.recipe
        self.seen: DenseSurvey | SparseSurvey | None = None
        numeric, bins = self.recipe.numeric(), self.recipe.bins
        if self.recipe.rows != "table":
            self.seen = SparseSurvey() if self.scales_sparse() else None
        elif numeric:
            self.seen = DenseSurvey(len(numeric), MOST_BINNED if bins else 0)
        self.rows = 0

    def scales_sparse(self) -> bool:
        """Whether sparse rows are scaled, by their sizes if that is not stated."""
        if self.recipe.scale == "standard":
            why = f'scale="standard" would fill the sparse rows of {self.recipe.rows}; '
            raise ParameterError(why + 'use scale="maxabs".', code="scale-one-pass")
        if self.recipe.scale == "auto":
            batches = self.reader.parser_for(self.plain).first_rows()
            parts = list(learnt_rows(batches, self.reader.split))
            if not parts:
                return False
            first, rows = SparseSurvey(), join_rows(parts)
            _, numbers = np.unique(cast(Any, rows.indices), return_inverse=True)
            first.add(rows._replace(indices=numbers.astype(np.uint32)))  # without gaps
            if not first.differ():
                return False
            self.reader.add_notice("scale-maxabs")
        return True

    @property
    def plain(self) -> FeatureRecipe:
        """The recipe of the numbers to measure: as they are, without bins and products."""
        if not self.apart:
            return self.recipe
        return keep_columns(self.recipe, ("number", "date"), bits=None, text=(), frequencies=None)

    @property
    def apart(self) -> bool:
        """Whether the numbers must be read in a pass before the rows."""
        return self.recipe.rows in ("table", "svmlight") and self.recipe.bits is not None

    def batches(self) -> Iterator[Batch]:
        """Yield the rows to measure: all of them, or the first ones of a pipe."""
        if self.reader.rereadable:
            yield from self.reader.measure(self.plain)
        else:
            yield from self.reader.parser_for(self.plain).first_rows()
            self.reader.add_notice("scale-first-rows", rows=self.rows)

    def add(self, batch: Batch) -> None:
        """Measure some rows."""
        assert self.seen is not None
        self.seen.add(select_learnt_rows(batch, self.reader.split, self.rows))
        self.rows += n_rows(batch.rows)

    def finish(self, parser: Parser, rows: Rows) -> Rows:
        """Scale the rows that were measured, in place."""
        assert parser.scaling is not None
        return parser.scaling.in_place(rows)

    def result(self) -> FeatureRecipe:
        """Return the recipe with the scales and the edges of bins."""
        scales: dict[str, Any] = {}
        recipe = self.recipe
        if recipe.bins:
            assert isinstance(self.seen, DenseSurvey)
            kinds, numeric = dict(recipe.columns or ()), enumerate(recipe.numeric())
            binned = [(name, place) for place, name in numeric if kinds[name] == "number"]
            edges = {name: self.seen.edges(place, recipe.bins) for name, place in binned}
            recipe = replace(recipe, edges={name: some for name, some in edges.items() if some})
        if recipe.scale == "none":
            return recipe
        if isinstance(self.seen, DenseSurvey):
            names = self.recipe.numeric()
            found = share_scales(names, self.seen.scales(self.recipe.scale, self.apart))
            scales = dict(zip(names, map(list, found), strict=True))
            flagged = [name for name in names if scales[name][-1]]
            if flagged:
                self.reader.add_notice("missing-flag", names=list_words(flagged))
        elif self.seen is not None:
            scales = {"factors": pack_array(self.seen.factors())}
        return replace(recipe, scales=scales)


class TextSurvey:
    """Counts of the texts with each n-gram, which complete a recipe with frequencies."""

    def __init__(self, reader: "Reader") -> None:
        self.reader, self.recipe = reader, reader.recipe
        self.rows = self.texts = 0
        bits, rereadable = self.recipe.bits or 0, reader.rereadable
        if self.recipe.tfidf and not rereadable:
            raise ParameterError(
                f"{reader.source.name} can be read only once, but tfidf=True needs to read it "
                "before; write it to a file first.",
                code="read-once",
            )
        if self.recipe.tfidf and bits > MOST_BITS:
            raise ParameterError(
                f"tfidf=True keeps a number for each column; use bits of {MOST_BITS} or less.",
                code="tfidf-bits",
            )
        counts = rereadable and bits <= MOST_BITS
        self.seen = np.zeros(1 << bits) if counts else None

    @property
    def apart(self) -> bool:
        """Whether texts must be read before the rows: only a single text can be weighed later."""
        recipe = self.recipe
        return len(recipe.columns or ()) > 1 or recipe.pairs or recipe.bins > 0

    def finish(self, parser: Any, rows: Rows) -> Any:
        """Weigh the rows that were counted, in place."""
        return parser.weigh_rows(rows)

    def batches(self) -> Iterator[Batch]:
        """Yield the n-grams of the texts of all rows."""
        changes: dict[str, Any] = {"counts": "raw", "tfidf": False, "scales": None}
        yield from self.reader.measure(keep_columns(self.recipe, ("text",), **changes))

    def add(self, batch: Batch) -> None:
        """Count the n-grams of some rows."""
        assert self.seen is not None
        rows = select_learnt_rows(batch, self.reader.split, self.rows)
        self.rows += n_rows(batch.rows)
        self.texts += n_rows(rows)
        indices: Any = rows.indices
        columns.count(indices, self.seen)

    def result(self) -> FeatureRecipe:
        """Return the recipe with the frequencies, or without tf-idf if they are too many."""
        if self.seen is None:
            return replace(self.recipe, tfidf=False)
        found: Frequencies = {"rows": self.texts, "counts": pack_array(self.seen)}
        return replace(self.recipe, frequencies=found)
