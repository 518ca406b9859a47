"""Held-out rows, chosen by a hash of the row number and a seed."""

from typing import NamedTuple

import numpy as np

from ..kernels.algebra import mix
from ..parameters import InputError
from .rows import Array

HELD_OUT = 0.1  # share of the rows, where early stopping or calibration needs some
BLOCKS, BLOCK_ROWS = 4, 50  # blocks of a class in a fold, or rows of a block if these are more


class Split(NamedTuple):
    """Which rows are held out: a share of them, chosen by a seed.

    A stream compares a hash of each row number with the share, so that the same rows are held out
    however a file is read. Where all rows and labels are known, ``stratify`` takes the same share
    of each class.
    """

    share: float = 0.0
    seed: int = 0

    def __bool__(self) -> bool:
        return self.share > 0

    def coins(self, first_row: int, n_rows: int) -> Array:
        """A 64-bit hash of each row number and the seed."""
        numbers = np.arange(first_row + 1, first_row + n_rows + 1, dtype=np.uint64)
        numbers = numbers * np.uint64(0x9E3779B97F4A7C15) + np.uint64(self.seed << 32)
        return np.asarray(mix(numbers))  # it takes arrays, too

    def held_out(self, first_row: int, n_rows: int) -> Array:
        """Flag the held-out rows of a stream, from row ``first_row`` on."""
        if self.share >= 1:
            return np.ones(n_rows, bool)
        return np.asarray(self.coins(first_row, n_rows) < np.uint64(self.share * 2.0**64))

    def stratify(self, codes: Array, rows: Array) -> tuple[Array, Array]:
        """Divide rows into those to learn from and those held out, with the share of each class.

        Of each class, the rows with the smallest hashes are held out; at least one row stays to
        learn from. Rows of label sets (two-dimensional ``codes``) or of numbers count as one class.
        """
        groups, counts, order, place = group_rows(codes, rows, self.coins(0, len(codes)))
        held = np.empty(len(rows), bool)
        held[order] = place < quotas(counts, self.share)[groups]
        if not held.any():
            raise InputError(
                f"{len(rows)} rows are too few to hold out {self.share:g} of them; give more rows, "
                "or hold out a larger share.",
                code="too-few-rows",
            )
        return rows[~held], rows[held]

    def folds(self, codes: Array, rows: Array, count: int) -> Array:
        """The fold of each of some rows; every class is spread over all folds.

        Label sets count as one class.
        """
        groups = codes[rows] if codes.ndim == 1 else np.zeros(len(rows), np.intp)
        order = np.lexsort((self.coins(0, len(codes))[rows], groups))
        numbers = np.empty(len(rows), np.intp)
        numbers[order] = np.arange(len(rows)) % count
        return numbers

    def block_folds(self, codes: Array, rows: Array, count: int) -> Array:
        """The fold of each of some rows: blocks of neighbouring rows of a class, in turn.

        Rows that lie together in a file are often alike. A fold therefore has whole blocks of each
        class, ``BLOCKS`` if it has as many rows, or more of ``BLOCK_ROWS`` rows, so that few rows
        have a neighbour in another fold.
        Label sets and numbers count as one class. ``rows`` are in the order of the file.
        """
        groups, counts, order, place = group_rows(codes, rows, np.zeros(len(codes), np.intp))
        sizes = np.minimum(counts, np.maximum(BLOCKS * count, counts // BLOCK_ROWS))
        numbers = np.empty(len(rows), np.intp)
        numbers[order] = (place * sizes[groups] // counts[groups] + groups + self.seed) % count
        return numbers


def group_rows(codes: Array, rows: Array, keys: Array) -> tuple[Array, Array, Array, Array]:
    """Sort some rows by class, and within it by a key of each row or else by their order.

    Return the class of each sorted row, the rows of each class, the order, and each sorted row's
    place in its class. Rows of label sets (two-dimensional ``codes``) or of numbers are one class.
    """
    one_class = codes.ndim == 2 or codes.dtype.kind == "f"
    groups = np.zeros(len(rows), np.intp) if one_class else codes[rows]
    counts, order = np.bincount(groups), np.lexsort((keys[rows], groups))
    groups = groups[order]
    return groups, counts, order, np.arange(len(rows)) - (np.cumsum(counts) - counts)[groups]


EVERY_ROW = Split(1.0)
"""Flags all rows."""


class Fold(NamedTuple):
    """One of several equal parts of the rows: the rows in it, or all others.

    Of each run of ``folds`` consecutive rows every fold has one, chosen by a hash, so that folds
    have the same size and are the same however a file is read. They are not stratified.

    Attributes
    ----------
    number, folds
        The number of the fold, from 0, and the number of folds.
    held_out
        Whether only the rows of the fold are kept, instead of the others.
    seed
        Decides the folds.
    """

    number: int
    folds: int
    held_out: bool = False
    seed: int = 0

    def keeps(self, first_row: int, n_rows: int) -> Array:
        """Flag the rows to keep of a stream, from row ``first_row`` on."""
        rows = np.arange(first_row, first_row + n_rows)
        runs = rows // self.folds
        first_run = first_row // self.folds
        coins = Split(seed=self.seed).coins(first_run, n_rows // self.folds + 2)
        shifts = (coins % np.uint64(self.folds)).astype(np.intp)[runs - first_run]
        own = (rows + shifts) % self.folds == self.number
        return np.asarray(own if self.held_out else ~own)


def quotas(counts: Array, share: float) -> Array:
    """The number of rows of each class to hold out: in total the share of all rows.

    >>> quotas(np.array([90, 7, 3]), 0.1).tolist()
    [9, 1, 0]
    """
    wanted = share * counts
    whole = np.floor(wanted)
    missing = round(wanted.sum()) - int(whole.sum())
    whole[np.argsort(whole - wanted, kind="stable")[: max(missing, 0)]] += 1
    return np.asarray(np.minimum(whole, np.maximum(counts - 1, 0)), np.intp)
