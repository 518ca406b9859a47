"""A first look at all rows: what must be known of them before one becomes features."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..parameters import ParameterError
from ..rows import n_rows
from .batches import Batch
from .notices import codes_in, flagged_columns, measured_by, other_sizes
from .parser import Parser
from .recipe import FeatureRecipe
from .scaling import DenseSurvey, SparseSurvey, packed
from .sources import Location


class Survey:
    """What is measured of the rows of a parser, and what its recipe becomes by it."""

    def __init__(self, parser: Parser) -> None:
        self.parser, self.recipe = parser, parser.recipe
        self.seen: DenseSurvey | SparseSurvey | None = None
        numeric = self.recipe.numeric()
        if self.recipe.rows != "table":
            self.seen = self.sparse()
        elif numeric:
            self.seen = DenseSurvey(len(numeric), self.recipe.scale == "robust")
        self.rows = 0

    def sparse(self) -> SparseSurvey | None:
        """A survey of sparse rows, if they are to be scaled."""
        if self.recipe.scale in ("standard", "robust"):
            why = f"{{scale}} would fill the sparse rows of {self.recipe.rows}; "
            raise ParameterError(why + 'use {scale="maxabs"}.', scale=self.recipe.scale)
        if self.recipe.scale == "auto":
            first = SparseSurvey()
            for batch in self.parser.first_rows(self.recipe):
                first.add(batch.rows)
            if not first.differ():
                return None
            self.parser.notices[other_sizes()] = None
        return SparseSurvey()

    @property
    def apart(self) -> bool:
        """Whether what is measured is not among the rows that are wanted, but read beforehand."""
        return self.recipe.rows == "table" and self.recipe.bits is not None

    def batches(self, tolerated: int) -> Iterator[Batch]:
        """The rows to measure: all there are, or the first of what can be read only once."""
        parser, recipe = self.parser, self.recipe
        if self.apart:
            columns = [each for each in recipe.columns or () if each[0] in recipe.numeric()]
            recipe = replace(recipe, columns=columns, bits=None, cross=(), pairs=False, id=None)
        if parser.rereadable:
            location = Location(parser.source.name, tolerated, parser.unit)
            threads = parser.options.threads
            yield from parser.over(parser.source, recipe).batches(location, threads)
        else:
            yield from parser.first_rows(recipe)
            self.parser.notices[measured_by(self.rows)] = None

    def add(self, batch: Batch) -> None:
        """Measure some rows."""
        assert self.seen is not None
        self.rows += n_rows(batch.rows)
        self.seen.add(batch.rows)

    def result(self) -> FeatureRecipe:
        """The recipe with what was measured."""
        scales: dict[str, Any] = {}
        if isinstance(self.seen, DenseSurvey):
            names = self.recipe.numeric()
            found = self.seen.scales(self.recipe.scale, self.apart)
            scales = dict(zip(names, map(list, found), strict=True))
            flagged = [name for name, scale in zip(names, found, strict=True) if scale.flagged]
            if flagged:
                self.parser.notices[flagged_columns(flagged)] = None
            codes = [names[j] for j in self.seen.codes() if names[j] not in self.recipe.dates]
            if codes:
                self.parser.notices[codes_in(codes)] = None
        elif self.seen is not None:
            scales = {"factors": packed(self.seen.factors())}
        return replace(self.recipe, scales=scales)
