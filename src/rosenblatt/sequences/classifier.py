"""The structured perceptron as a scikit-learn estimator over lists of sentences."""

from collections.abc import Callable
from itertools import chain, pairwise
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..classifiers.base import OnlineClassifier, seed_of
from ..kernels.sequences import PathSettings, PathWeights, Tokens
from ..parameters import SEQUENCE, ParameterError
from ..progress import bar_of_epochs
from ..rows import Array
from ..storage.model import Model
from ..training.history import Epoch, History
from ..training.run import Run
from .encoding import Dictionary, by_frequency
from .explaining import TokenExplanation, explanations
from .formats import Layout
from .lexicon import Lexicon
from .schemes import Scheme, forbidden_in, parts_of, scheme_of
from .sentences import (
    FEATURES,
    Sentences,
    check_sentences,
    columns_of,
    read_sentences,
    starts_of,
)
from .state import PathState, Shape
from .storing import model_of, restore
from .strings import Strings, Typed
from .task import SequenceTask, decode
from .templates import (
    LEXICON,
    Template,
    crf_templates,
    parsed,
    usual_templates,
    written,
)

MOST_TAGS = 10_000
MOST_WEIGHTS = 2**28


class SequencePerceptron(OnlineClassifier):
    """Learn to tag sequences by correcting the best path where it is wrong.

    The structured perceptron of Collins (2002). The tags of a sentence are found together, by what
    is seen of its tokens and by which tags follow which.

    Parameters
    ----------
    markov : {0, 1, 2}, default=1
        How many tags before one it depends on. With 0 every token is a row of its own, as
        ``Perceptron`` has them.
    search : {"viterbi", "greedy"}, default="viterbi"
        Find the best of all paths, or choose tag after tag.
    features : None, list of str or path, default=None
        What is a feature of a token. None is a template for words in any language and for further
        columns, or the features that tokens come with. A list has templates, as ``"word[-1]"``,
        ``"suffix3[0]"`` and ``"pos[0]|pos[1]"``; a path is a template file of CRF++'s.
    constraints : {"auto", "none"}, default="auto"
        Whether tags that write chunks (IOB1, IOB2, IOBES, BILOU) are known for such: then none is
        predicted where it cannot be, and ends of chunks are told from middles inside.
    margin : float, default=1.0
        By how much the right tag must lead, in updates: times the squared length of the token's
        features, which is their number if all are 1.
    solution : {"average", "last"}, default="average"
        Which weights predict: the mean of all there were, or the last.
    order : {"each", "once", "fixed", "active"}, default="each"
        A fresh permutation of the sentences each epoch; one, kept; as given; as given, and then
        those that were ever mistaken once more.
    max_iter : int, default=10
        The most epochs.
    early_stopping : bool, default=False
        Whether to hold sentences out, to stop when they gain no more, and to take the best weights.
    validation_fraction : float, default=0.1
        The share of sentences to hold out.
    n_iter_no_change : int, default=3
        How many epochs to wait for a gain.
    random_state : int, RandomState instance or None, default=None
        Decides the permutations and which sentences are held out.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The tags, sorted.
    columns_ : tuple of str
        What tokens have; ``("feature",)`` where they came with features.
    templates_ : list of str
        What their features are.
    scheme_ : str or None
        How the tags write chunks: "IOB1", "IOB2", "IOBES", "BILOU", or None.
    n_features_ : int
        How many features have weights.
    n_mistakes_ : int
        Updates made.
    n_iter_ : int
        Epochs gone through.
    stop_reason_ : {"separated", "max_iter", "no_improvement"}
        Why training ended.
    history_ : list of Epoch
        One record per epoch; rows are sentences, or tokens if each is learnt by itself.

    See Also
    --------
    Perceptron : For rows that have nothing to do with each other.
    train : Makes a tagger of a file.

    References
    ----------
    Collins (2002), "Discriminative training methods for hidden Markov models: theory and
    experiments with perceptron algorithms", Proceedings of EMNLP, 1-8.

    Examples
    --------
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> SequencePerceptron(random_state=0).fit(X, y).predict([["the", "cat", "barks"]])
    [['DET', 'NOUN', 'VERB']]
    """

    _parameters = SEQUENCE
    class_weight = None
    _dictionary: Dictionary
    _lexicon: Lexicon
    _weights: PathWeights
    _scheme: Scheme | None
    _tags: list[str]
    _seen: int
    _layout: Layout | None = None
    """Of the file that it was trained on, if on one."""
    _after_epoch: Callable[[Epoch], None] | None = None

    def __init__(
        self,
        markov: int = 1,
        *,
        search: str = "viterbi",
        features: Any = None,
        constraints: str = "auto",
        margin: float = 1.0,
        solution: str = "average",
        order: str = "each",
        max_iter: int = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.markov = markov
        self.search = search
        self.features = features
        self.constraints = constraints
        self.margin = margin
        self.solution = solution
        self.order = order
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from sentences and their tags.

        Parameters
        ----------
        X : list of list
            Sentences. A token is a string; a tuple or dict of columns, of which the first, or the
            one called word, is the word; or a dict or list of features as sklearn-crfsuite has
            them.
        y : list of list
            The tag of each token.

        Returns
        -------
        self
            The fitted tagger.
        """
        self._check_parameters()
        sentences, tags = check_sentences(X, "X"), check_sentences(y, "y")
        check_lengths(sentences, tags)
        columns = columns_of(sentences, self.features is not None)
        templates = templates_for(self.features, columns)
        with self._unchanged_by_errors():
            flat = list(chain.from_iterable(tags))
            self._fit(read_sentences(sentences, columns), flat, columns, templates)
        return self

    def _fit(
        self, sentences: Sentences, tags: Any, columns: tuple[str, ...], templates: list[Template]
    ) -> None:
        """Learn from sentences that were read."""
        self.classes_, codes = classes_and_codes(tags)
        self._dictionary, self._lexicon = Dictionary(columns, templates), Lexicon()
        codes, forbidden = self._inner_tags(codes, sentences.starts)
        seed = seed_of(self.random_state)
        learnt, held = self._split(len(sentences.starts) - 1, seed)
        if columns != (FEATURES,):  # a lexicon also tells which words are known
            counted = np.zeros(len(sentences.starts) - 1, bool)
            counted[learnt] = True
            words = sentences.columns[columns[0]], sentences.starts
            known = self._lexicon.learn(*words, codes, self._tags, counted)
            sentences = sentences._replace(columns={**sentences.columns, LEXICON: known})
        tokens = self._dictionary.encode(sentences, learning=True)
        rows = by_frequency(tokens, self._dictionary.n_features)
        refuse_too_many(len(rows), len(self._tags))
        shape = Shape(len(rows), len(self._tags), self._order_of_tags)
        state = PathState.zeros(shape, self.solution == "average", forbidden)
        task = SequenceTask(
            tokens, sentences.starts, codes.astype(np.uint16), learnt, self._settings(), len(rows)
        )
        self._train(task, state, held, seed, rows)

    def _train(
        self, task: SequenceTask, state: PathState, held: Array, seed: int, rows: Array
    ) -> None:
        """Train, and keep the weights that predict and what they are for."""
        validate = self._validator(task, held) if len(held) else None
        history = History(self.max_iter, self.n_iter_no_change)
        run = Run(lambda: [task], state, history, self.order, seed, validate=validate)
        run.after_epoch = self._after_epoch
        with bar_of_epochs(self.verbose) as tell:
            for _, learnt in run.updates():
                if tell is not None:
                    done = learnt.position / max(len(task.everything), 1)
                    tell(run.epoch, done, f"{run.state.mistakes:,} updates")
        kept: PathState = run.outcome
        moved = kept.moved(task.settings)
        self._weights = kept.coefficients(moved)
        self._dictionary.keep(rows[moved])
        self.n_mistakes_, self._seen = kept.mistakes, kept.seen
        self._set_history(history.epochs, history.stop_reason)

    def predict(self, X: Any) -> list[list[Any]]:
        """The tags of each sentence.

        Parameters
        ----------
        X : list of list
            Sentences, whose tokens are like those that the model was fitted on.

        Returns
        -------
        list of list
            The tag of each token.
        """
        check_is_fitted(self)
        sentences = read_sentences(X, self.columns_)
        names = self.classes_.tolist()
        found = [names[code] for code in self._codes(sentences).tolist()]
        ends = sentences.starts.tolist()
        return [found[first:last] for first, last in pairwise(ends)]

    def score(self, X: Any, y: Any, sample_weight: None = None) -> float:
        """The share of tokens whose tag is right.

        Parameters
        ----------
        X, y : list of list
            Sentences and their tags.
        sample_weight : None
            Not used.

        Returns
        -------
        float
            From 0 to 1.
        """
        tags = check_sentences(y, "y")
        check_lengths(check_sentences(X, "X"), tags)
        found = chain.from_iterable(self.predict(X))
        pairs = zip(found, chain.from_iterable(tags), strict=True)
        right = [one == other for one, other in pairs]
        return float(np.mean(right)) if right else float("nan")

    def explain(self, sentence: Any, top: int = 5) -> list[TokenExplanation]:
        """Why each token of a sentence gets its tag, in numbers.

        Parameters
        ----------
        sentence : list
            Its tokens.
        top : int, default=5
            How many features to tell of each token, those that speak loudest between its tag and
            the runner-up.

        Returns
        -------
        list of TokenExplanation
            A record for each token. ``lead`` is how far the best path through the tag is ahead of
            the best path through the runner-up.
        """
        check_is_fitted(self)
        sentences = read_sentences([sentence], self.columns_)
        codes = self._inner_codes(sentences)
        given = list(sentence), codes, self._tokens(sentences), top
        return explanations(*given, self._weights, self._settings(), self._tags, self._dictionary)

    @property
    def columns_(self) -> tuple[str, ...]:
        """What tokens have."""
        return self._dictionary.columns

    @property
    def templates_(self) -> list[str]:
        """What features of tokens are."""
        return [written(template) for template in self._dictionary.templates]

    @property
    def scheme_(self) -> str | None:
        """How the tags write chunks."""
        return None if self._scheme is None else self._scheme.name

    @property
    def n_features_(self) -> int:
        """How many features have weights."""
        return self._dictionary.n_features

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_weights")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = None  # for a classifier, scikit-learn would stratify lists of tags
        tags.input_tags.sparse = tags.input_tags.two_d_array = False
        return tags

    # Inside

    @property
    def _order_of_tags(self) -> int:
        """How many tags before one it depends on."""
        return int(self.markov)

    @property
    def _is_greedy(self) -> bool:
        """Whether tags are chosen one by one."""
        return self.search == "greedy" or self.markov == 0

    def _settings(self) -> PathSettings:
        """What kernels must know."""
        shape = Shape(0, len(self._tags), self._order_of_tags)
        greedy, margin = self._is_greedy, float(self.margin)
        return PathSettings(shape.tags, shape.width, shape.markov, greedy, margin)

    def _inner_tags(self, codes: Array, starts: Array) -> tuple[Array, Any]:
        """The tags that are learnt, and which may not follow which."""
        self._scheme, self._tags = None, [str(tag) for tag in self.classes_.tolist()]
        names = self.classes_.tolist()
        if self.constraints == "none" or not self.markov or parts_of(names) is None:
            return codes, None
        found = scheme_of(names, codes, starts)
        if found is None:
            return codes, None
        if self._is_greedy:  # it cannot know that a chunk will end
            parts, _ = parts_of(names) or ([], "")
            known = found[0].name
            if known == "IOB1":
                return codes, None
            moves, _ = forbidden_in(parts, with_ends=known != "IOB2")
            return codes, (moves, np.zeros(len(parts), bool))
        self._scheme, codes = found
        self._tags = self._scheme.names
        return codes, self._scheme.forbidden()

    def _split(self, count: int, seed: int) -> tuple[Array, Array]:
        """The sentences to learn from, and those held out."""
        everything = np.arange(count, dtype=np.uint32)
        if not self.early_stopping:
            return everything, everything[:0]
        held = round(count * self.validation_fraction)
        if not 0 < held < count:
            raise ParameterError(
                f"{{early_stopping}} cannot hold {held} of {count} sentences out; change "
                "{validation_fraction?}.",
                early_stopping=True,
            )
        mixed = np.random.RandomState(seed).permutation(everything)
        return np.sort(mixed[held:]), np.sort(mixed[:held])

    def _validator(self, task: SequenceTask, held: Array) -> Any:
        """A function that tells the accuracy of a state on the sentences held out."""
        tokens, starts = part_of(task.tokens, task.starts, held)
        wanted = np.concatenate([task.codes[slice(*task.starts[s : s + 2])] for s in held])

        def accuracy(state: PathState) -> float:
            found = decode(tokens, starts, state.coefficients(), task.settings)
            return float(np.mean(found == wanted))

        return accuracy

    def _inner_codes(self, sentences: Sentences) -> Array:
        """The number of the tag inside of every token."""
        tokens = self._tokens(sentences)
        return decode(tokens, sentences.starts, self._weights, self._settings())

    def _codes(self, sentences: Sentences) -> Array:
        """The number of the tag of every token."""
        codes = self._inner_codes(sentences)
        if self._scheme is not None:
            return self._scheme.outside(codes, sentences.starts)
        return codes

    def _model(self) -> Model:
        return model_of(self)

    @classmethod
    def _restored(cls, model: Model) -> Self:
        """The estimator that a model file holds."""
        restored = cls(**model.parameters)
        restored._check_parameters()
        restore(restored, model)
        return restored

    def _tokens(self, sentences: Sentences) -> Tokens:
        """The features of tokens that the model knows."""
        if self._dictionary.with_lexicon:
            known = self._lexicon.look_up(sentences.columns[self.columns_[0]])
            sentences = sentences._replace(columns={**sentences.columns, LEXICON: known})
        return self._dictionary.encode(sentences)


def check_lengths(sentences: list[Any], tags: list[Any]) -> None:
    """Refuse tags that are not one for each token."""
    if len(sentences) != len(tags):
        raise ValueError(f"X has {len(sentences)} sentences and y has {len(tags)}.")
    lengths, others = starts_of(sentences), starts_of(tags)
    wrong = np.flatnonzero(np.diff(lengths) != np.diff(others))
    if len(wrong):
        s = int(wrong[0])
        raise ValueError(
            f"X[{s}] has {len(sentences[s])} tokens and y[{s}] {len(tags[s])} tags; each token "
            "needs one."
        )


def classes_and_codes(tags: list[Any] | Strings) -> tuple[Array, Array]:
    """The distinct tags, sorted, and the number of each token's."""
    if not len(tags):
        raise ValueError("There is no token to learn from.")
    try:
        typed = Typed.of(tags if isinstance(tags, Strings) else Strings.of(tags))
    except TypeError:
        given = np.asarray(tags)
        known, codes = given[:1], given
        if given.dtype.kind in "iub":
            known, codes = np.unique(given, return_inverse=True)
    else:
        texts = typed.strings.texts()
        order = sorted(range(len(texts)), key=texts.__getitem__)
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        known, codes = np.array([texts[k] for k in order]), places[typed.types]
    if known.dtype.kind not in "USiub":
        raise ValueError(f"Tags must be strings or whole numbers; got {odd_one(tags)!r:.60}.")
    if len(known) < 2:
        raise ValueError(f"y has only one tag, {known.tolist()[0]!r}; at least two are needed.")
    if len(known) > MOST_TAGS:
        raise ValueError(
            f"y has {len(known):,} different tags, more than {MOST_TAGS:,}; are they tags at all?"
        )
    return known, codes


def odd_one(tags: Any) -> Any:
    """The first tag that is not of the kind of the others."""
    return next((tag for tag in tags if not isinstance(tag, type(tags[0]))), tags[0])


def templates_for(features: Any, columns: tuple[str, ...]) -> list[Template]:
    """The templates that were asked for, or the usual ones."""
    if LEXICON in columns:
        raise ValueError(f"A column called {LEXICON!r} is the model's own; call it otherwise.")
    if columns == (FEATURES,):
        if features is not None:
            raise ParameterError(
                "{features?} has templates, and the tokens come with features of their own; "
                "leave one out, or give tokens as strings, tuples or dicts of columns."
            )
        return [parsed(f"{FEATURES}[0]", columns)]
    if features is None:
        return usual_templates(columns)
    if isinstance(features, str | PathLike):
        if not Path(features).is_file():
            raise ParameterError(
                f"{{features?}} must be a list of templates or a file of CRF++'s; there is no file "
                f"{features}."
            )
        return crf_templates(Path(features), columns)
    if not isinstance(features, list | tuple) or not features:
        raise ParameterError(
            f"{{features?}} must be None, a list of templates or a file; got {features!r:.60}."
        )
    if not all(isinstance(text, str) for text in features):
        raise ParameterError('{features?} must have templates as strings, such as "word[-1]".')
    return [parsed(text, columns) for text in dict.fromkeys(features)]


def refuse_too_many(n_features: int, n_tags: int) -> None:
    """Refuse more weights than there is memory for."""
    if n_features * n_tags > MOST_WEIGHTS:
        raise ParameterError(
            f"{n_features:,} features and {n_tags:,} tags need more weights than {MOST_WEIGHTS:,}; "
            "name fewer templates with {features?}."
        )


def part_of(tokens: Tokens, starts: Array, which: Array) -> tuple[Tokens, Array]:
    """Some sentences alone."""
    numbers = np.concatenate([np.arange(*starts[s : s + 2]) for s in which])
    sizes = np.diff(tokens.starts)[numbers]
    places = [np.arange(*tokens.starts[i : i + 2]) for i in numbers]
    some = np.concatenate([np.zeros(0, np.int64), *places])
    values = None if tokens.values is None else tokens.values[some]
    found = Tokens(tokens.features[some], np.concatenate([[0], np.cumsum(sizes)]), values)
    lengths = np.diff(starts)[which]
    return found, np.concatenate([[0], np.cumsum(lengths)])
