"""Taggers without scikit-learn: tags, a dictionary and a lexicon that grow, and weights."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..data.rows import Array
from ..learners.base import Learner
from ..parameters import ParameterError, defaults
from ..storage.model import Model
from ..training.state import require
from ..training.training import Checkpoint, Epoch, ProblemRun
from .arrays import TaggerArrays, pack_arrays, unpack_dictionary, unpack_lexicon, unpack_state
from .encoding import Dictionary
from .formats import Layout
from .kernels.paths import IMPOSSIBLE, PathSettings, PathWeights, Tokens
from .lexicon import Lexicon
from .parameters import PARAMETERS
from .schemes import Tagged, TagSet, encode_tags
from .sentences import FEATURES, Sentences
from .state import PathState, SequenceTask, decode, refuse_too_many_tags
from .templates import LEXICON, format_template, resolve_templates

LASTING = ("constraints", "solution")  # parameters that cannot change later
EXCLUDED = -1e6  # the weight of an impossible transition, in explanations
SPARE = 1 << 17  # features without weights that a dictionary may have above those with some


@dataclass
class SequenceLearner(Learner):
    """A tagger.

    Attributes
    ----------
    parameters : mapping
        Those of ``SequencePerceptron``.
    tags : TagSet
        The tags of sentences, and the inner tags that are learnt.
    dictionary : Dictionary
        The features of tokens by number.
    lexicon : Lexicon
        The tags that each word has had.
    states : list of PathState
        One state: the weights, and the sums that their average needs.
    features : dict
        How the sentences of a file are laid out (``layout``), if they came from one.
    """

    kind: ClassVar[str] = "sequence"
    state_types = dict.fromkeys(("last", "average"), TaggerArrays)
    estimator: ClassVar[str] = "SequencePerceptron"
    refusals: ClassVar[Mapping[str, str]] = {
        "step": "A tagger has no single updates to step through.",
        "add_class": "A tagger knows its tags from the start; train a new one.",
    }
    parameters: Mapping[str, Any]
    tags: TagSet
    dictionary: Dictionary
    lexicon: Lexicon
    states: list[PathState]
    features: dict[str, Any] = field(default_factory=dict)
    kept: PathWeights | None = field(default=None, init=False, repr=False)
    """The weights that predict; None after learning."""

    @classmethod
    def begin(cls, parameters: Mapping[str, Any], tags: TagSet, columns: tuple[str, ...]) -> Self:
        """Make an untrained tagger for tags, and for tokens of some columns."""
        templates = resolve_templates(parameters["features"], columns)
        refuse_too_many_tags(len(tags.names))
        average = parameters["solution"] == "average"
        state = PathState.zeros(average, *tags.forbidden())
        return cls(parameters, tags, Dictionary(columns, templates), Lexicon(), [state])

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the tagger of a model file."""
        arrays: TaggerArrays = model.states[0]
        about, parameters = model.features, defaults(PARAMETERS) | model.parameters
        tags = TagSet.of(model.classes, about["scheme"])
        fitting = (tags.names, tags.scheme) == (about["tags"], about["scheme"])
        require(fitting, "its tags do not fit")
        averages = parameters["solution"] == "average"
        require(averages == (arrays.emission_sums is not None), "its sums are not of its solution")
        return cls(
            parameters,
            tags,
            unpack_dictionary(arrays, about["columns"], about["templates"]),
            unpack_lexicon(arrays, about["sets"]),
            [unpack_state(arrays, tags.forbidden())],
            {"layout": about.get("layout")},
        )

    def to_model(
        self,
        facts: Mapping[str, Any],
        history: Sequence[Epoch] = (),
        checkpoint: Checkpoint | None = None,
    ) -> Model:
        """Build the model to save."""
        self.update_sets()
        dictionary = self.dictionary
        features = {
            "columns": list(dictionary.columns),
            "templates": self.templates,
            "tags": self.tags.names,
            "scheme": self.tags.scheme,
            "sets": self.lexicon.sets,
            "layout": self.features.get("layout"),
        }
        return Model(
            self.estimator,
            dict(self.parameters),
            self.classes,
            [pack_arrays(self.state, self.dictionary, self.lexicon)],
            features,
            {"stop_reason": "unfinished", "sentences": self.state.seen, **facts},
            history,
            checkpoint,
        )

    # Properties

    @property
    def classes(self) -> Array:
        """The tags, sorted."""
        return self.tags.classes

    @property
    def state(self) -> PathState:
        """The one state."""
        return self.states[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of tokens."""
        return self.dictionary.columns

    @property
    def layout(self) -> Layout | None:
        """The layout of the training file, if there was one."""
        kept = self.features.get("layout")
        if kept is None:
            return None
        kind, fields, label, *encoding = kept
        return Layout(str(kind), tuple(map(int, fields)), int(label), *encoding)

    @property
    def templates(self) -> list[str]:
        """The templates of features, as text."""
        return [format_template(template) for template in self.dictionary.templates]

    @property
    def settings(self) -> PathSettings:
        """The settings that kernels take."""
        return PathSettings(self.state.tags, self.state.width, float(self.parameters["margin"]))

    # Learning

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Change the parameters for further learning; refuse other values of some."""
        for name in LASTING:
            before = self.parameters[name]
            if parameters[name] != before:
                raise ParameterError(
                    f"The tagger was begun with {name} {before}; continue with the same.",
                    code="initial-changed",
                )
        self.parameters = parameters

    def inner_codes(self, sentences: Sentences, tags: Any) -> Array:
        """Return the inner tags for the tags of sentences, as numbers."""
        return self.tags.inside(encode_tags(tags, self.classes), sentences.starts)

    def count(self, sentences: Sentences, codes: Array) -> None:
        """Count the tags of words for the lexicon."""
        if self.columns != (FEATURES,):  # without templates of it, too: it knows the known words
            column = sentences.columns[self.columns[0]]
            self.lexicon.count(column, codes, len(self.tags.names))

    def task(self, sentences: Sentences, codes: Array) -> SequenceTask:
        """Return the task of learning from sentences."""
        starts = sentences.starts
        if self.dictionary.with_lexicon:
            column = sentences.columns[self.columns[0]]
            known = self.lexicon.look_up_without_own(column, starts, codes, self.tags.names)
            sentences = sentences._replace(columns={**sentences.columns, LEXICON: known})
        tokens = self.dictionary.encode(sentences, learning=True)
        every = np.arange(len(starts) - 1, dtype=np.uint32)
        n_features = self.dictionary.n_features
        return SequenceTask(tokens, starts, codes, every, self.settings, n_features)

    def learn_sentences(self, examples: Tagged) -> Epoch:
        """Learn from sentences once, in their order; after an error nothing has changed."""
        sentences, tags = examples
        self.forget_many()
        counts, other = ProblemRun(), self.copy()
        codes = other.inner_codes(sentences, tags)
        other.count(sentences, codes)
        task = other.task(sentences, codes)
        other.state.widen(task.width)
        for learnt in other.state.sweep(task, task.row_order, None):
            counts.add(learnt)
        vars(self).update(vars(other), kept=None)
        return counts.count

    def forget_unmoved(self) -> None:
        """Forget features without weights; the others are numbered as their weights are."""
        self.dictionary.keep(self.state.features())
        self.state.renumber()

    def forget_many(self) -> None:
        """Forget features without weights if there are many."""
        if self.dictionary.n_features > 2 * self.state.used + SPARE:
            self.forget_unmoved()

    def finish(self, states: list[PathState]) -> None:
        """Take the state that a run ended with, and forget features without weights."""
        self.states, self.kept = states, None
        self.state.widen(self.dictionary.n_features)
        self.state.resize(self.state.used)
        self.forget_unmoved()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"kept": None}

    def copy(self) -> Self:
        """Return a copy that does not change when this learner learns."""
        dictionary, lexicon = self.dictionary.copy(), self.lexicon.copy()
        return replace(self, states=[deepcopy(self.state)], dictionary=dictionary, lexicon=lexicon)

    # Predicting

    def update_sets(self) -> None:
        """Bring the sets of the lexicon up to date."""
        if self.columns != (FEATURES,):
            self.lexicon.update_sets(self.tags.names)

    def coefficients(self) -> PathWeights:
        """Return the weights that predict: a row of zeros, then one for each feature in use."""
        if self.kept is None:
            self.update_sets()
            self.kept = self.state.coefficients()
        return self.kept

    def tokens(self, sentences: Sentences) -> Tokens:
        """Return the known features of tokens, as rows of weights; 0 for those without weights."""
        self.coefficients()
        if self.dictionary.with_lexicon:
            known = self.lexicon.look_up(sentences.columns[self.columns[0]])
            sentences = sentences._replace(columns={**sentences.columns, LEXICON: known})
        found = self.dictionary.encode(sentences)
        return found._replace(features=self.state.rows[found.features])

    def predict(self, sentences: Sentences) -> Array:
        """Return the number of the tag of every token."""
        codes = decode(self.tokens(sentences), sentences.starts, self.coefficients(), self.settings)
        return self.tags.outside(codes, sentences.starts)

    def explain(self, sentence: Sentences, top: int) -> list[tuple[str, str, dict[str, float]]]:
        """Return the tag of each token, the next best one there, and what decides between them."""
        tokens, weights, names = self.tokens(sentence), self.coefficients(), self.tags.names
        emissions = weights.emissions.reshape(-1, self.state.width)
        moves = np.maximum(weights.transitions, EXCLUDED).reshape(-1, self.state.width)
        path, name = decode(tokens, sentence.starts, weights, self.settings), self.feature_name()
        found = []
        for place, tag in enumerate(path.tolist()):
            some = slice(tokens.starts[place], tokens.starts[place + 1])
            rows, before = tokens.features[some], path[place - 1] if place else len(names)
            after = moves[: len(names), path[place + 1]] if place + 1 < len(path) else 0.0
            values = np.ones(len(rows)) if tokens.values is None else tokens.values[some]
            scores = values @ emissions[rows] + moves[before]
            scores = scores[: len(names)] + after
            scores[tag] = -np.inf
            other = int(np.argmax(scores))
            known = rows > 0  # others have no weights
            shares = (emissions[rows, tag] - emissions[rows, other])[known] * values[known]
            each = dict(zip(map(name, rows[known].tolist()), shares.tolist(), strict=True))
            each["tag[-1]"] = float(moves[before, tag] - moves[before, other])
            largest = sorted(each.items(), key=lambda share: -abs(share[1]))
            loudest = {feature: round(share, 4) for feature, share in largest[:top]}
            found.append((names[tag], names[other], loudest))
        return found

    def loudest_features(self, tag: int, top: int) -> list[tuple[str, float]]:
        """Return the features with the largest weights for an inner tag."""
        column = self.coefficients().emissions.reshape(-1, self.state.width)[:, tag]
        rows, name = np.argsort(-column, kind="stable")[:top], self.feature_name()
        return [(name(int(row)), float(column[row])) for row in rows if column[row] > 0]

    def best_predecessors(self, tag: int, top: int) -> list[tuple[int, float]]:
        """Return the predecessors of an inner tag with the largest transition weights.

        The last number stands for the start of a sentence.
        """
        column = self.coefficients().transitions.reshape(-1, self.state.width)[:, tag]
        before = np.argsort(-column, kind="stable")[:top]
        return [(int(p), float(column[p])) for p in before if column[p] > IMPOSSIBLE / 2]

    def feature_name(self) -> Callable[[int], str]:
        """Return a function that names the feature of a row of weights."""
        features = self.state.features()
        return lambda row: self.dictionary.name(int(features[row - 1]))
