"""Turn sentences into the features of tokens, with the dictionary that a model keeps."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..data.rows import Array
from ..kernels.words import salt
from .kernels import tokens as kernel
from .kernels.paths import Tokens
from .kernels.tokens import ABSENT, Columns, FeatureList, HashTable, Looks, Templates, Views
from .sentences import FEATURES, Sentences
from .strings import Categorical, Strings, enlarge_table, fill_table, make_table, number_distinct
from .templates import LEXICON, Attribute, Template, hash_looks, spell_attribute


class Values(NamedTuple):
    """Values of attributes, and the number of the attribute of each."""

    attributes: Array
    strings: Strings

    @classmethod
    def concatenate(cls, parts: Sequence["Values"]) -> "Values":
        """Concatenate several lists of values."""
        attributes = [np.zeros(0, np.uint16), *(part.attributes for part in parts)]
        return cls(np.concatenate(attributes), Strings.concatenate([one.strings for one in parts]))


@dataclass
class Dictionary:
    """Values of attributes and features of templates, by number.

    Attributes
    ----------
    columns : tuple of str
        What tokens have.
    templates : list of Template
        What their features are.
    """

    columns: tuple[str, ...]
    templates: list[Template]
    attributes: list[Attribute] = field(init=False)
    values: HashTable = field(init=False)
    features: FeatureList = field(init=False)
    known_values: list[Values] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        places = [place for template in self.templates for place in template]
        self.attributes = list(dict.fromkeys(place.attribute for place in places))
        self.salts = np.array([salt(str(one)) for one in self.attributes], np.uint64)
        self.reach = max((abs(place.offset) for place in places), default=0)
        self.arity = max(1, *map(len, self.templates))
        self.n_values = 0
        self.sizes = np.zeros(len(self.attributes), np.int64)  # values of each attribute
        self.values = make_table(0)
        nothing = np.zeros(0, np.uint16), np.zeros((0, self.arity), np.uint32)
        self.features = FeatureList(make_table(0), *nothing, np.zeros(1, np.int64))

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.features.count[0])

    @property
    def with_lexicon(self) -> bool:
        """Whether a template uses the lexicon."""
        return any(one.column == LEXICON for one in self.attributes)

    # Sentences to features

    def encode(self, sentences: Sentences, learning: bool = False) -> Tokens:
        """Return the features of every token; new features are added, or left out."""
        if FEATURES in sentences.columns:
            return self.encode_given(sentences, learning)
        columns, (templates, views) = self.compute_attributes(sentences, learning), self.as_arrays()
        views, rows = self.encode_types(templates, views, columns, learning)
        out = np.empty(sentences.n_tokens * len(self.templates), np.uint32)
        starts = np.zeros(sentences.n_tokens + 1, np.int64)
        here = np.empty(len(views.columns), np.int64)
        keys = np.empty(len(templates.joined), np.uint64)
        done, count = 0, len(sentences.starts) - 1
        while done < count:
            known = templates, views, columns, self.features, learning, rows, here, keys
            done = kernel.write_features(sentences.starts, done, count, *known, out, starts)
            if done < count:
                length = int(sentences.starts[done + 1] - sentences.starts[done])
                self.make_room(self.n_features // 4 + length * len(self.templates))
        return Tokens(out[: starts[-1]], starts, None)

    def encode_given(self, sentences: Sentences, learning: bool) -> Tokens:
        """Return the features of tokens that came with features; their names are the values."""
        columns, (templates, views) = self.compute_attributes(sentences, learning), self.as_arrays()
        _, rows = self.encode_types(templates, views, columns, learning)
        assert sentences.feature_starts is not None
        assert sentences.values is not None
        found, values = rows[sentences.columns[FEATURES].types], sentences.values
        starts, known = sentences.feature_starts, found != ABSENT
        if not known.all():
            starts = np.concatenate([[0], np.cumsum(known)])[starts]
            found, values = found[known], values[known]
        return Tokens(found, starts, None if np.all(values == 1) else values)

    def encode_types(
        self, templates: Templates, views: Views, columns: Columns, learning: bool
    ) -> tuple[Views, Array]:
        """Compute the features of all templates with one place, for each type of each view."""
        types = columns.counts[views.columns] + 2 * self.reach
        starts = np.concatenate([[0], np.cumsum(types * views.sizes)])
        views = views._replace(starts=starts[:-1])
        rows = np.empty(int(starts[-1]), np.uint32)
        if learning:
            self.make_room(self.count_most_features(templates, views, types))
        kernel.fill_views(templates, views, columns, self.features, learning, rows)
        return views, rows

    def count_most_features(self, templates: Templates, views: Views, types: Array) -> int:
        """Return the largest number of features of one place: one per value, or per type."""
        places = templates.starts[:-1][templates.slots >= 0]
        of_types = types[templates.views[places]]
        return int(np.minimum(of_types, self.sizes[templates.attributes[places]]).sum())

    def compute_attributes(self, sentences: Sentences, learning: bool) -> Columns:
        """Return the values of all attributes for all types of all columns."""
        names = list(dict.fromkeys(one.column for one in self.attributes))
        columns = [sentences.columns[name] for name in names]
        signs = [(sign, place) for sign in "-+" for place in range(1, self.reach + 1)]
        around = Strings.of([f"_B{sign}{place}" for sign, place in signs])  # as CRF++ has them
        values, starts = [np.zeros(0, np.uint32)], np.zeros(len(self.attributes) + 1, np.int64)
        hashes = {name: self.hashes(name, sentences.columns[name], around) for name in names}
        for number, one in enumerate(self.attributes):
            keys = hashes[one.column][number]
            values.append(self.number_values(number, keys, sentences, around, learning))
            starts[number + 1] = starts[number] + len(keys)
        given = FEATURES in sentences.columns
        types = np.zeros((0, 0), np.uint32) if given else np.vstack([one.types for one in columns])
        counts = np.array([one.strings.size for one in columns], np.int64)
        return Columns(types, counts, np.concatenate(values), starts, self.reach)

    def hashes(self, column: str, typed: Categorical, around: Strings) -> dict[int, Array]:
        """Return the hash of every type for each attribute of a column."""
        own = [number for number, one in enumerate(self.attributes) if one.column == column]
        attributes = [self.attributes[number] for number in own]
        looks = Looks(
            np.array([one.look for one in attributes], np.uint8),
            np.array([one.size for one in attributes], np.int64),
            self.salts[own],
        )
        found = {}
        for number, hashes in zip(own, hash_looks(typed.strings, looks), strict=True):
            outside = around.hashes(np.full(around.size, self.salts[number]))
            found[number] = np.concatenate([hashes, outside])
        return found

    def number_values(
        self, number: int, keys: Array, sentences: Sentences, around: Strings, learning: bool
    ) -> Array:
        """Return the numbers of values by their hashes; new values are added."""
        numbers = np.empty(len(keys), np.uint32)
        if not learning:
            kernel.find(self.values, keys, numbers)
            return numbers
        self.values = enlarge_table(self.values, self.n_values, len(keys))
        firsts = np.empty(len(keys), np.int64)
        count = kernel.number_keys(self.values, keys, self.n_values, numbers, firsts)
        new = firsts[: count - self.n_values]
        strings = sentences.columns[self.attributes[number].column].strings
        inside = new < strings.size
        outside = around.take(new[~inside] - strings.size)
        spelt = spell_attribute(strings.take(new[inside]), self.attributes[number])
        for values in (spelt, outside.compact()):
            self.known_values.append(Values(np.full(values.size, number, np.uint16), values))
        self.sizes[number] += len(new)
        self.n_values = count
        return numbers

    def as_arrays(self) -> tuple[Templates, Views]:
        """Return the templates and their views as kernels take them."""
        numbers = {one: number for number, one in enumerate(self.attributes)}
        columns = list(dict.fromkeys(one.column for one in self.attributes))
        places = [place for template in self.templates for place in template]
        seen = list(dict.fromkeys((place.attribute.column, place.offset) for place in places))
        views = {view: number for number, view in enumerate(seen)}
        sizes, slots = np.zeros(len(seen), np.int64), []
        for template in self.templates:
            slots.append(-1)
            if len(template) == 1:
                view = views[template[0].attribute.column, template[0].offset]
                slots[-1] = int(sizes[view])
                sizes[view] += 1
        joined = [k for k, template in enumerate(self.templates) if len(template) != 1]
        of_places = [views[place.attribute.column, place.offset] for place in places]
        templates = Templates(
            np.cumsum([0, *map(len, self.templates)], dtype=np.int64),
            np.array([numbers[place.attribute] for place in places], np.int64),
            np.array(of_places, np.int64),
            np.array(slots, np.int64),
            np.array(joined, np.int64),
        )
        own = np.array([columns.index(column) for column, _ in seen], np.int64)
        offsets = np.array([offset for _, offset in seen], np.int64)
        return templates, Views(own, offsets, sizes, np.zeros(len(seen), np.int64))

    def make_room(self, more: int) -> None:
        """Make room for more features."""
        count, wanted = self.n_features, self.n_features + more
        table, numbers, values, counted = self.features
        if wanted > len(numbers):
            room = wanted - len(numbers)
            numbers = np.concatenate([numbers, np.zeros(room, np.uint16)])
            nothing = np.full((room, self.arity), ABSENT, np.uint32)
            values = np.concatenate([values, nothing])
        self.features = FeatureList(enlarge_table(table, count, more), numbers, values, counted)

    # Keeping and naming features

    def keep(self, rows: Array) -> None:
        """Keep only some features, in another order, and the values that they consist of."""
        numbers, values, known = self.described(rows)
        self.restore(known._replace(strings=known.strings.compact()), numbers, values)

    def values_known(self) -> Values:
        """Return all values."""
        if len(self.known_values) != 1:
            self.known_values = [Values.concatenate(self.known_values)]  # in one step, for threads
        return self.known_values[0]

    def described(self, rows: Array) -> tuple[Array, Array, Values]:
        """Return the templates of some features, their values by number, and these values.

        Values are numbered in the order in which they occur first.
        """
        numbers, values = self.features.numbers[rows], self.features.values[rows]
        present, (attributes, strings) = values != ABSENT, self.values_known()
        used = values[present]
        values[present], firsts = number_distinct(used + np.uint64(1))
        used = used[firsts]
        return numbers, values, Values(attributes[used], strings.take(used))

    def copy(self) -> "Dictionary":
        """Return a copy that does not change when this dictionary learns."""
        other = copy(self)
        other.values = HashTable(*(array.copy() for array in self.values))
        table = HashTable(*(array.copy() for array in self.features.table))
        other.features = self.features._replace(table=table, count=self.features.count.copy())
        other.known_values = list(self.known_values)
        other.sizes = self.sizes.copy()
        return other

    def forget_keys(self) -> None:
        """Release the table that finds features, until ``keep`` makes another."""
        self.features = self.features._replace(table=make_table(0))

    def name(self, row: int) -> str:
        """Return the name of a feature: its template with its values."""
        template = self.templates[int(self.features.numbers[row])]
        strings = self.values_known().strings
        texts = [strings.text(value) for value in self.features.values[row] if value != ABSENT]
        if template and template[0].attribute.column == FEATURES:
            return texts[0]
        parts = [f"{place}={text}" for place, text in zip(template, texts, strict=True)]
        return "|".join(parts) or "bias"

    def restore(self, known: Values, numbers: Array, values: Array) -> None:
        """Replace all values and features."""
        self.known_values, self.n_values = [known], len(known.attributes)
        self.sizes = np.bincount(known.attributes, minlength=len(self.attributes))
        keys = known.strings.hashes(self.salts[known.attributes])
        self.values = fill_table(keys, np.arange(len(keys)))
        keys, count = np.empty(len(numbers), np.uint64), np.array([len(numbers)], np.int64)
        kernel.compute_keys(numbers, values, keys)
        table = fill_table(keys, np.arange(len(numbers), dtype=np.uint32))
        self.features = FeatureList(table, numbers, values, count)
