"""A tagger as the arrays and facts of a model file, and back."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.rows import Array
from ...storage.model import Model
from ...training.state import require
from .encoding import Dictionary
from .formats import Layout
from .lexicon import Lexicon
from .schemes import Scheme, forbidden_in, impossible
from .state import PathState, Shape, TaggerState
from .strings import joined
from .templates import parsed, written

if TYPE_CHECKING:
    from ...estimators.sequence import SequencePerceptron


def model_of(tagger: "SequencePerceptron") -> Model:
    """All that a model file holds."""
    dictionary, lexicon, scheme = tagger._dictionary, tagger._lexicon, tagger._scheme
    facts = {"stop_reason": tagger.stop_reason_, "sentences": tagger._seen}
    features = {
        "columns": list(dictionary.columns),
        "templates": [written(template) for template in dictionary.templates],
        "tags": tagger._tags,
        "scheme": None if scheme is None else [scheme.name, scheme.separator, scheme.inner],
        "sets": lexicon.sets,
        "layout": None if tagger._layout is None else list(tagger._layout),
    }
    parameters = tagger._values()
    if parameters["features"] is not None and not isinstance(parameters["features"], list | tuple):
        parameters["features"] = str(parameters["features"])
    kept = parameters, tagger.classes_, [state_of(tagger)], features, facts
    return Model(type(tagger).__name__, *kept, tagger.history_)


def state_of(tagger: "SequencePerceptron") -> TaggerState:
    """The arrays of a tagger."""
    dictionary, lexicon, weights = tagger._dictionary, tagger._lexicon, tagger._weights
    tags, width = len(tagger._tags), tagger._settings().width
    names = dictionary.names_of_values()
    return TaggerState(
        emissions=weights.emissions.reshape(-1, width)[:, :tags],
        transitions=weights.transitions.reshape(-1, width)[:, :tags],
        pairs=weights.pairs.reshape(-1, width)[:, :tags],
        templates=dictionary.features.numbers,
        values=dictionary.features.values,
        attributes=np.array([number for number, _ in names], np.uint16),
        word_sets=lexicon.set_of_word,
        **joined([*(text for _, text in names), *lexicon.words]),
        seen=tagger._seen,
        mistakes=tagger.n_mistakes_,
    )


def restore(tagger: "SequencePerceptron", model: Model) -> None:
    """Make a tagger what a model file says."""
    state: TaggerState = model.states[0]
    about = model.features
    columns, templates = tuple(about["columns"]), about["templates"]
    require(columns and all(isinstance(name, str) for name in columns), "it has no columns")
    tagger.classes_, tagger._tags = model.classes, [str(tag) for tag in about["tags"]]
    tagger._dictionary = dictionary_of(columns, templates, state)
    tagger._lexicon = lexicon_of(about["sets"], state)
    tagger._scheme = scheme_of(about["scheme"], tagger)
    require(tagger._scheme or len(tagger._tags) == len(model.classes), "its tags do not fit")
    shape = Shape(len(tagger._tags), int(tagger.markov))
    pairs = (shape.tags + 1) ** 2 if shape.markov > 1 else 0
    require(len(state.pairs) == pairs, "markov is not that of its weights")
    forbidden = None
    if tagger._scheme is not None:
        forbidden = forbidden_in(tagger._scheme.inner, with_ends=True)
    start = PathState.zeros(shape, False, forbidden).weights._replace(rows=None, used=None)
    tagger._weights = start._replace(
        emissions=padded(state.emissions, shape.width, 0.0),
        transitions=padded(state.transitions, shape.width, None),
        pairs=padded(state.pairs, shape.width, 0.0),
    )
    tagger.n_mistakes_, tagger._seen = state.mistakes, state.seen
    if about.get("layout") is not None:
        kind, fields, label, *encoding = about["layout"]
        tagger._layout = Layout(str(kind), tuple(map(int, fields)), int(label), *encoding)
    tagger._set_history(list(model.history), str(model.facts.get("stop_reason", "max_iter")))


def padded(rows: Array, width: int, fill: float | None) -> Array:
    """Rows of whole vectors."""
    wide = np.zeros((len(rows), width), np.float32)
    if fill is None:
        wide = impossible(np.zeros(rows.shape, bool), width)
    wide[:, : rows.shape[1]] = rows
    return wide.ravel()


def texts_of(state: TaggerState) -> list[str]:
    """All strings of a model file."""
    data, ends = state.texts.tobytes(), state.text_ends.tolist()
    return [data[first:last].decode() for first, last in zip([0, *ends], ends, strict=False)]


def dictionary_of(columns: Any, templates: Any, state: TaggerState) -> Dictionary:
    """The dictionary of a model file."""
    require(isinstance(templates, list) and templates, "it has no templates")
    dictionary = Dictionary(columns, [parsed(text, columns) for text in templates])
    require(dictionary.arity == state.values.shape[1], "its features do not fit its templates")
    require(np.all(state.templates < len(templates)), "its features do not fit its templates")
    require(np.all(state.attributes < max(len(dictionary.attributes), 1)), "its values do not fit")
    names = list(zip(state.attributes.tolist(), texts_of(state), strict=False))
    dictionary.restore(names, state.templates, state.values)
    return dictionary


def lexicon_of(sets: Any, state: TaggerState) -> Lexicon:
    """The lexicon of a model file."""
    known = isinstance(sets, list) and all(isinstance(one, str) for one in sets)
    require(known and np.all(state.word_sets < len(sets)), "its lexicon does not fit")
    words = texts_of(state)[len(state.attributes) :]
    return Lexicon.restored(words, state.word_sets, sets)


def scheme_of(about: Any, tagger: "SequencePerceptron") -> Scheme | None:
    """The scheme of a model file."""
    if about is None:
        return None
    name, separator, inner = about
    parts = [(str(letter), str(kind)) for letter, kind in inner]
    require(len(parts) == len(tagger._tags), "its tags do not fit")
    return Scheme(str(name), tagger.classes_.tolist(), parts, str(separator))
