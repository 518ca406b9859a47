"""The structured perceptron as a scikit-learn estimator over lists of sentences."""

from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.rows import Array
from ..kernels.sequences import PathSettings, PathWeights, Tokens
from ..learners.sequence.encoding import Dictionary
from ..learners.sequence.explaining import TokenExplanation, best_paths, explanations
from ..learners.sequence.formats import Layout
from ..learners.sequence.learning import Learning, Tagged, survey
from ..learners.sequence.lexicon import Lexicon
from ..learners.sequence.schemes import Scheme
from ..learners.sequence.sentences import (
    FEATURES,
    Sentences,
    check_sentences,
    columns_of,
    read_sentences,
    starts_of,
)
from ..learners.sequence.state import PathState, Shape
from ..learners.sequence.storing import model_of, restore
from ..learners.sequence.tagset import TagSet, check_classes, classes_of, codes_of, tag_set
from ..learners.sequence.task import SequenceTask, decode
from ..learners.sequence.templates import (
    LEXICON,
    Template,
    crf_templates,
    parsed,
    usual_templates,
    written,
)
from ..parameters import SEQUENCE, ParameterError
from ..storage.model import Model
from ..training.history import Epoch, History
from ..training.report import bar_of_epochs
from ..training.run import Run
from .base import OnlineClassifier, seed_of
from .constructors import estimator, positional


class FittedTagger(OnlineClassifier):
    """What a tagger keeps besides its parameters."""

    _parameters = SEQUENCE
    class_weight = None
    _dictionary: Dictionary
    _lexicon: Lexicon
    _weights: PathWeights
    _learning: Learning | None = None
    """What ``partial_fit`` goes on with."""
    _scheme: Scheme | None
    _tags: list[str]
    _seen: int
    _layout: Layout | None = None
    """Of the file that it was trained on, if on one."""
    _after_epoch: Callable[[Epoch], None] | None = None


@estimator
class SequencePerceptron(FittedTagger):
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
        features, which is their number if all are 1. With ``rule="pa"``, the lead itself.
    rule : {"perceptron", "pa"}, default="perceptron"
        What is done where a path is wrong: the same step always, or the smallest that gives the
        right path its lead, at most ``C``, which is 1-best MIRA (McDonald, Crammer & Pereira 2005).
    C : float, default=0.01
        The longest step of ``rule="pa"``.
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

    markov: int = positional(1)
    search: str = "viterbi"
    features: Any = None
    constraints: str = "auto"
    margin: float = 1.0
    rule: str = "perceptron"
    C: float = 0.01
    solution: str = "average"
    order: str = "each"
    max_iter: int = 10
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 3
    random_state: Any = None
    verbose: int = 0

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

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from more sentences, once and in their order.

        New words and features are learnt as they come; the lexicon is that of the sentences so far.
        What ``fit`` or ``load`` gave cannot learn on: it has the mean of the weights only.

        Parameters
        ----------
        X, y : list of list
            As for ``fit``.
        classes : list, default=None
            All tags that will ever come; needed in the first call.

        Returns
        -------
        self
            The fitted tagger.
        """
        self._check_parameters("pieces")
        sentences, tags = check_sentences(X, "X"), check_sentences(y, "y")
        check_lengths(sentences, tags)
        first = self._learning is None
        if first and self.__sklearn_is_fitted__():
            raise ValueError(
                "This model keeps only the weights that predict, and cannot learn on; begin a new "
                "one with partial_fit."
            )
        known = check_classes(self._known_classes(classes, first))
        columns = columns_of(sentences, self.features is not None) if first else self.columns_
        read, flat = read_sentences(sentences, columns), list(chain.from_iterable(tags))
        codes = codes_of(flat, known)
        with self._unchanged_by_errors():
            if first:
                chunks = self._knows_chunks, self._is_greedy
                own = tag_set(known, *chunks, lambda: [(codes, read.starts)], all_inside=True)
                templates = templates_for(self.features, columns)
                self._learning = self._begin(own, columns, templates)
            learning = self._learning
            assert learning is not None
            inside = learning.tags.inside(codes, read.starts)
            learning.count(read, inside)
            history = History(1)
            task = learning.task(read, inside)
            Run(lambda: [task], learning.state, history).train()
            learning.forget_many()
            self.__dict__.pop("_weights", None)
            self.n_mistakes_, self._seen = learning.state.mistakes, learning.state.seen
            self._set_history(history.epochs, "max_iter")  # a clean batch proves nothing
        return self

    def _fit(
        self, sentences: Sentences, tags: Any, columns: tuple[str, ...], templates: list[Template]
    ) -> None:
        """Learn from sentences that were read."""
        classes = check_classes(classes_of(tags))
        codes, starts = codes_of(tags, classes), sentences.starts
        own = tag_set(classes, self._knows_chunks, self._is_greedy, lambda: [(codes, starts)])
        learning = self._begin(own, columns, templates)
        codes, seed = own.inside(codes, starts), seed_of(self.random_state)
        learnt, held = self._split(len(starts) - 1, seed)
        counted = np.zeros(len(starts) - 1, bool)
        counted[learnt] = True
        learning.count(sentences, codes, counted)
        task = learning.task(sentences, codes, counted)
        learning.dictionary.forget_keys()
        validate = self._validator(task, held) if len(held) else None
        self._train(learning, lambda: [task], seed, validate)

    def _fit_stream(
        self,
        pieces: Callable[[], Iterable[Tagged]],
        columns: tuple[str, ...],
        templates: list[Template],
    ) -> tuple[int, int]:
        """Learn from pieces that are read again in each epoch; the sentences and tokens read."""
        own, *size = survey(pieces, self._knows_chunks, self._is_greedy)
        learning = self._begin(own, columns, templates)
        for sentences, tags in pieces():
            codes = own.inside(codes_of(tags, own.classes), sentences.starts)
            learning.count(sentences, codes)
        self._train(learning, lambda: learning.tasks(pieces), seed_of(self.random_state))
        return size[0], size[1]

    def _begin(self, tags: TagSet, columns: tuple[str, ...], templates: list[Template]) -> Learning:
        """Begin to learn some tags."""
        self.classes_, self._tags, self._scheme = tags.classes, tags.names, tags.scheme
        self._dictionary, self._lexicon = Dictionary(columns, templates), Lexicon()
        shape = Shape(len(tags.names), self._order_of_tags)
        state = PathState.zeros(shape, self.solution == "average", tags.forbidden)
        return Learning(tags, self._dictionary, self._lexicon, state, self._settings())

    def _train(
        self,
        learning: Learning,
        parts: Callable[[], Iterable[SequenceTask]],
        seed: int,
        validate: Any = None,
    ) -> None:
        """Train, and keep the weights that predict and what they are for."""
        history = History(self.max_iter, self.n_iter_no_change)
        run = Run(parts, learning.state, history, self.order, seed, validate=validate)
        run.after_epoch = self._after_epoch
        with bar_of_epochs(self.verbose) as tell:
            for _, learnt in run.updates():
                if tell is not None:
                    done = learnt.position / max(len(run.task.everything), 1)
                    tell(run.epoch, done, f"{run.state.mistakes:,} updates")
        kept: PathState = run.outcome
        self._weights = learning.finished(kept, for_good=True)
        self._learning = None
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
        self._ready()
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
        self._ready()
        sentences = read_sentences([sentence], self.columns_)
        codes = self._inner_codes(sentences)
        given = list(sentence), codes, self._tokens(sentences), top
        return explanations(*given, self._weights, self._settings(), self._tags, self._dictionary)

    def best_paths(self, sentence: Any, top: int = 5) -> list[tuple[list[str], float]]:
        """The best paths of tags through a sentence with their scores, the best first.

        Parameters
        ----------
        sentence : list
            Its tokens.
        top : int, default=5
            How many paths.

        Returns
        -------
        list of (list of str, float)
            Tags, with chunks as IOBES writes them, and the score of the path.
        """
        self._ready()
        tokens = self._tokens(read_sentences([sentence], self.columns_))
        found = best_paths(tokens, len(sentence), top, self._weights, self._settings())
        return [([self._tags[tag] for tag in path], score) for score, path in found]

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
        self._ready()
        return self._dictionary.n_features

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_dictionary")

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
        shape = Shape(len(self._tags), self._order_of_tags)
        greedy, margin = self._is_greedy, float(self.margin)
        C = float(self.C) if self.rule == "pa" else 0.0
        return PathSettings(shape.tags, shape.width, shape.markov, greedy, margin, C)

    def _ready(self) -> None:
        """See to it that there are weights to predict with."""
        check_is_fitted(self)
        if "_weights" not in self.__dict__ and self._learning is not None:
            learning = self._learning
            self._weights = learning.finished(learning.state, for_good=False)

    @property
    def _knows_chunks(self) -> bool:
        """Whether tags that write chunks are to be known for such."""
        return bool(self.constraints != "none" and self.markov)

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
            known = tokens._replace(features=state.rows_of(tokens.features))
            found = decode(known, starts, state.coefficients(), task.settings)
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
        self._ready()
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
        self._ready()
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
