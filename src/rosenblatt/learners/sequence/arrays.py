"""Pack a tagger into the arrays of a model file, and unpack it.

A file has the last weights and the sums that their average needs; a compact one has only the
weights that predict, so its tagger cannot learn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NotRequired, TypedDict

import numpy as np

from ...data.rows import Array
from ...kernels.sequences import PathSums
from ...kernels.tokens import ABSENT
from ...training.state import Sizes, array, counter, optional_array, require
from .encoding import Dictionary
from .formats import Layout
from .lexicon import Lexicon
from .state import PathState, Shape
from .strings import pack_strings
from .templates import parse_template


class TaggerFeatures(TypedDict):
    """What a model file says of the features of tokens, and of tags."""

    columns: Annotated[list[str], len]
    templates: Annotated[list[str], len]
    tags: Annotated[list[str], len]
    scheme: tuple[str, str, list[tuple[str, str]]] | None
    sets: list[str]
    layout: NotRequired[Layout | None]


@dataclass(kw_only=True)
class TaggerArrays:
    """The weights of a tagger, the dictionary of its features, and its lexicon.

    ``texts`` has all strings, which end at ``text_ends``: those of values, with their attributes in
    ``attributes``, then the words of the lexicon, with their sets in ``word_sets``. A tagger that
    can learn has sums for its average; pairs of words and tags, as word × number of tags + tag, in
    ``word_tags``; and their counts in ``word_tag_counts``.
    """

    emissions: Array = array("features", "tags", dtype=np.float32)
    transitions: Array = array("before", "tags", dtype=np.float32)
    pairs: Array = array("pairs before", "tags", dtype=np.float32)
    templates: Array = array("features", dtype=np.uint16)
    values: Array = array("features", "arity", dtype=np.uint32)
    texts: Array = array("bytes", dtype=np.uint8)
    text_ends: Array = array("strings", dtype=np.int64)
    attributes: Array = array("values", dtype=np.uint16)
    word_sets: Array = array("words", dtype=np.int64)
    emission_sums: Array | None = optional_array("features", "tags", dtype=np.float64)
    transition_sums: Array | None = optional_array("before", "tags", dtype=np.float64)
    pair_sums: Array | None = optional_array("pairs before", "tags", dtype=np.float64)
    word_tags: Array | None = optional_array("word tags", dtype=np.int64)
    word_tag_counts: Array | None = optional_array("word tags", dtype=np.int64)
    seen: int = counter(0)
    mistakes: int = counter(0)

    features: ClassVar = (TaggerFeatures,)

    def after_loading(self) -> None:
        """Do nothing: all fields are saved."""

    @staticmethod
    def sizes(model: Any) -> tuple[Sizes, Any]:
        """Return the sizes that the arrays of a model must have."""
        tags = model.features.get("tags")
        require(isinstance(tags, list) and 0 < len(tags) < 2**15, "it has no tags")
        before = len(tags) + 1
        return {"tags": (len(tags),), "before": (before,)}, np.float32

    def check(self) -> None:
        """Refuse parts that do not fit together."""
        before, ends = len(self.transitions), self.text_ends
        require(len(self.pairs) in (0, before * before), "pairs does not fit")
        n_values, n_words = len(self.attributes), len(self.word_sets)
        fitting = len(ends) == n_values + n_words and np.all(np.diff(ends) >= 0)
        require(fitting, "its texts do not fit")
        require(not len(ends) or ends[-1] <= len(self.texts), "its texts do not fit")
        known = (self.values < n_values) | (self.values == ABSENT)
        require(known.all(), "its features are made of values that there are not")
        sums = self.emission_sums, self.transition_sums, self.pair_sums
        require(len({one is None for one in sums}) == 1, "its sums do not fit")
        require((self.word_tags is None) == (self.word_tag_counts is None), "its counts do not fit")
        require(self.can_learn or sums[0] is None, "it has sums and no counts")
        if self.word_tags is not None:
            cells = np.diff(self.word_tags, prepend=-1, append=n_words * (before - 1))
            require(np.all(cells > 0), "its counts do not fit")

    @property
    def can_learn(self) -> bool:
        """Whether there is more than what prediction needs."""
        return self.word_tags is not None

    def strings(self) -> list[str]:
        """Decode all strings."""
        data, ends = self.texts.tobytes(), self.text_ends.tolist()
        return [data[first:last].decode() for first, last in zip([0, *ends], ends, strict=False)]


def pack_arrays(
    state: PathState, dictionary: Dictionary, lexicon: Lexicon, compact: bool
) -> TaggerArrays:
    """Pack a tagger into arrays; a compact one has only what prediction needs."""
    weights = state.coefficients() if compact else state.weights
    tags, width = state.shape.tags, state.shape.width
    emissions = weights.emissions.reshape(-1, width)[1 : state.used, :tags]
    features, sums = state.features(), dict[str, Array]()
    if compact:
        moved = emissions.any(axis=1)
        emissions, features = emissions[moved], features[moved]
    else:
        sums = {"word_tags": lexicon.cells, "word_tag_counts": lexicon.counts}
    if state.averaged and not compact:
        sums["emission_sums"] = state.sums.emissions.reshape(-1, tags)[1 : state.used].copy()
        sums["transition_sums"] = remove_padding(state.sums.transitions, tags, width)
        sums["pair_sums"] = remove_padding(state.sums.pairs, tags, width)
    numbers, values, names = dictionary.described(features)
    return TaggerArrays(
        emissions=emissions.copy(),
        transitions=remove_padding(weights.transitions, tags, width),
        pairs=remove_padding(weights.pairs, tags, width),
        templates=numbers,
        values=values,
        attributes=np.array([number for number, _ in names], np.uint16),
        word_sets=lexicon.set_of_word,
        **pack_strings([*(text for _, text in names), *lexicon.words]),
        **sums,
        seen=state.seen,
        mistakes=state.mistakes,
    )


def remove_padding(table: Array, tags: int, width: int) -> Array:
    """Return a table without the padding of its vectors."""
    return table.reshape(-1, width)[:, :tags].copy()


def unpack_state(arrays: TaggerArrays, shape: Shape, last: Array | None) -> PathState:
    """Unpack weights and sums; ``last`` flags the tags that may not be the last."""
    pairs = (shape.tags + 1) ** 2 if shape.markov > 1 else 0
    require(len(arrays.pairs) == pairs, "markov is not that of its weights")
    moves = np.zeros(arrays.transitions.shape, bool)
    forbidden = None if last is None else (moves, last)
    state = PathState.zeros(shape, arrays.emission_sums is not None, forbidden)
    state.seen, state.mistakes = arrays.seen, arrays.mistakes
    used = len(arrays.emissions) + 1
    emissions = np.zeros((used, shape.width), np.float32)
    emissions[1:, : shape.tags] = arrays.emissions
    state.weights = state.weights._replace(
        emissions=emissions.ravel(),
        rows=np.arange(1, used, dtype=np.uint32),
        used=np.array([used], np.int64),
    )
    write_rows(state.weights.transitions, arrays.transitions, shape.width)
    write_rows(state.weights.pairs, arrays.pairs, shape.width)
    if arrays.emission_sums is not None:
        sums = np.zeros((used, shape.tags))
        sums[1:] = arrays.emission_sums
        state.sums = PathSums(sums.ravel(), state.sums.transitions, state.sums.pairs)
        write_rows(state.sums.transitions, arrays.transition_sums, shape.width)
        write_rows(state.sums.pairs, arrays.pair_sums, shape.width)
    return state


def write_rows(table: Array, rows: Any, width: int) -> None:
    """Write rows into a flat table of padded vectors."""
    table.reshape(-1, width)[:, : rows.shape[1]] = rows


def unpack_dictionary(arrays: TaggerArrays, columns: Any, templates: Any) -> Dictionary:
    """Unpack the dictionary."""
    known = isinstance(columns, Sequence) and all(isinstance(name, str) for name in columns)
    require(known and columns, "it has no columns")
    require(isinstance(templates, list) and templates, "it has no templates")
    dictionary = Dictionary(tuple(columns), [parse_template(text, columns) for text in templates])
    require(dictionary.arity == arrays.values.shape[1], "its features do not fit its templates")
    require(np.all(arrays.templates < len(templates)), "its features do not fit its templates")
    require(np.all(arrays.attributes < max(len(dictionary.attributes), 1)), "its values do not fit")
    names = list(zip(arrays.attributes.tolist(), arrays.strings(), strict=False))
    dictionary.restore(names, arrays.templates, arrays.values)
    return dictionary


def unpack_lexicon(arrays: TaggerArrays, sets: Any) -> Lexicon:
    """Unpack the lexicon."""
    known = isinstance(sets, list) and all(isinstance(one, str) for one in sets)
    require(known and np.all(arrays.word_sets < len(sets)), "its lexicon does not fit")
    words = arrays.strings()[len(arrays.attributes) :]
    lexicon = Lexicon.from_words(words, arrays.word_sets, list(sets))
    if arrays.word_tags is not None and arrays.word_tag_counts is not None:
        lexicon.cells, lexicon.counts = arrays.word_tags, arrays.word_tag_counts
    return lexicon
