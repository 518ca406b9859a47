"""Pack a tagger into the arrays of a model file, and unpack it.

A file has the last weights and the sums that their average needs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NotRequired, TypedDict

import numpy as np

from ..data.rows import Array
from ..storage.facts import Count
from ..training.state import Sizes, array, counter, optional_array, require
from .encoding import Dictionary, Values
from .formats import Layout
from .kernels.paths import PathSums
from .kernels.tokens import ABSENT
from .lexicon import Lexicon
from .state import PathState
from .strings import Strings
from .templates import parse_template


class TaggerFeatures(TypedDict):
    """What a model file says of the features of tokens, and of tags."""

    columns: Annotated[list[str], len]
    templates: Annotated[list[str], len]
    tags: Annotated[list[str], len]
    scheme: str | None
    sets: list[str]
    layout: NotRequired[Layout | None]


class TaggerFacts(TypedDict, total=False):
    """How much a tagger was trained on."""

    sentences: Count
    tokens: Count


@dataclass(kw_only=True)
class TaggerArrays:
    """The weights of a tagger, the dictionary of its features, and its lexicon.

    ``texts`` has all strings, which end at ``text_ends``: those of values, with their attributes in
    ``attributes``, then the words of the lexicon, with their sets in ``word_sets``. Pairs of words
    and tags are in ``word_tags``, as word × number of tags + tag, with their counts.
    """

    emissions: Array = array("features", "tags", dtype=np.float32)
    transitions: Array = array("before", "tags", dtype=np.float32)
    templates: Array = array("features", dtype=np.uint16)
    values: Array = array("features", "arity", dtype=np.uint32)
    texts: Array = array("bytes", dtype=np.uint8)
    text_ends: Array = array("strings", dtype=np.int64)
    attributes: Array = array("values", dtype=np.uint16)
    word_sets: Array = array("words", dtype=np.int64)
    word_tags: Array = array("word tags", dtype=np.int64)
    word_tag_counts: Array = array("word tags", dtype=np.int64)
    emission_sums: Array | None = optional_array("features", "tags", dtype=np.float64)
    transition_sums: Array | None = optional_array("before", "tags", dtype=np.float64)
    seen: int = counter(0)
    mistakes: int = counter(0)

    features: ClassVar = (TaggerFeatures,)
    facts: ClassVar = (TaggerFacts,)

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
        n_values, n_words = len(self.attributes), len(self.word_sets)
        fitting = len(ends) == n_values + n_words and np.all(np.diff(ends) >= 0)
        require(fitting, "its texts do not fit")
        require(not len(ends) or ends[-1] <= len(self.texts), "its texts do not fit")
        known = (self.values < n_values) | (self.values == ABSENT)
        require(known.all(), "its features are made of values that there are not")
        sums = self.emission_sums, self.transition_sums
        require((sums[0] is None) == (sums[1] is None), "its sums do not fit")
        cells = np.diff(self.word_tags, prepend=-1, append=n_words * (before - 1))
        require(np.all(cells > 0), "its counts do not fit")

    def strings(self) -> Strings:
        """Return all strings."""
        return Strings(self.texts, np.concatenate([[0], self.text_ends])[:-1], self.text_ends)


def pack_arrays(state: PathState, dictionary: Dictionary, lexicon: Lexicon) -> TaggerArrays:
    """Pack a tagger into arrays."""
    weights, sums, tags, width = state.weights, state.sums, state.tags, state.width
    kept = {}
    if state.averaged:
        kept["emission_sums"] = sums.emissions.reshape(-1, tags)[1 : state.used].copy()
        kept["transition_sums"] = remove_padding(sums.transitions, tags, width)
    numbers, values, known = dictionary.described(state.features())
    texts = Strings.concatenate([known.strings, *lexicon.words]).compact()
    return TaggerArrays(
        emissions=weights.emissions.reshape(-1, width)[1 : state.used, :tags].copy(),
        transitions=remove_padding(weights.transitions, tags, width),
        templates=numbers,
        values=values,
        attributes=known.attributes,
        word_sets=lexicon.set_of_word,
        word_tags=lexicon.cells,
        word_tag_counts=lexicon.counts,
        texts=texts.data if len(texts.data) else np.zeros(1, np.uint8),
        text_ends=texts.ends,
        **kept,
        seen=state.seen,
        mistakes=state.mistakes,
    )


def remove_padding(table: Array, tags: int, width: int) -> Array:
    """Return a table without the padding of its vectors."""
    return table.reshape(-1, width)[:, :tags].copy()


def unpack_state(arrays: TaggerArrays, forbidden: tuple[Array, Array]) -> PathState:
    """Unpack weights and sums."""
    state = PathState.zeros(arrays.emission_sums is not None, *forbidden)
    tags = state.tags
    state.seen, state.mistakes = arrays.seen, arrays.mistakes
    used = len(arrays.emissions) + 1
    emissions = np.zeros((used, state.width), np.float32)
    emissions[1:, :tags] = arrays.emissions
    state.weights = state.weights._replace(
        emissions=emissions.ravel(),
        rows=np.arange(1, used, dtype=np.uint32),
        used=np.array([used], np.int64),
    )
    state.weights.transitions.reshape(tags + 1, -1)[:, :tags] = arrays.transitions
    if arrays.emission_sums is not None:
        sums = np.zeros((used, tags))
        sums[1:] = arrays.emission_sums
        state.sums = PathSums(sums.ravel(), state.sums.transitions)
        state.sums.transitions.reshape(tags + 1, -1)[:, :tags] = arrays.transition_sums
    return state


def unpack_dictionary(arrays: TaggerArrays, columns: Any, templates: Any) -> Dictionary:
    """Unpack the dictionary."""
    known = isinstance(columns, Sequence) and all(isinstance(name, str) for name in columns)
    require(known and columns, "it has no columns")
    require(isinstance(templates, list) and templates, "it has no templates")
    dictionary = Dictionary(tuple(columns), [parse_template(text, columns) for text in templates])
    require(dictionary.arity == arrays.values.shape[1], "its features do not fit its templates")
    require(np.all(arrays.templates < len(templates)), "its features do not fit its templates")
    require(np.all(arrays.attributes < max(len(dictionary.attributes), 1)), "its values do not fit")
    values = Values(arrays.attributes, arrays.strings().take(np.arange(len(arrays.attributes))))
    dictionary.restore(values, arrays.templates, arrays.values)
    return dictionary


def unpack_lexicon(arrays: TaggerArrays, sets: Any) -> Lexicon:
    """Unpack the lexicon."""
    known = isinstance(sets, list) and all(isinstance(one, str) for one in sets)
    require(known and np.all(arrays.word_sets < len(sets)), "its lexicon does not fit")
    words = arrays.strings().take(np.arange(len(arrays.attributes), len(arrays.text_ends)))
    lexicon = Lexicon.from_words(words, arrays.word_sets, list(sets))
    lexicon.cells, lexicon.counts = arrays.word_tags, arrays.word_tag_counts
    return lexicon
