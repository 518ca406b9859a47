"""The structured perceptron as a scikit-learn estimator of sentences."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags

from ..estimators.base import OnlineClassifier, make_seed, unchanged_by_errors
from ..estimators.constructors import estimator
from ..training.bars import show_epochs
from ..training.fit import start
from ..training.plan import Request
from ..training.training import Training
from .learner import SequenceLearner
from .parameters import PARAMETERS
from .schemes import check_classes, encode_tags, find_tag_set
from .sentences import (
    check_lengths,
    check_sentences,
    find_columns,
    read_sentences,
)
from .training import SentenceSource, make_sequence_plan


@estimator
class SequencePerceptron(OnlineClassifier[SequenceLearner]):
    """Structured perceptron that tags the tokens of sequences, such as the words of sentences.

    The algorithm of Collins (2002). The tags of a sentence are found together, by features of its
    tokens and by the transition from each tag to the next, with Viterbi's algorithm.

    Parameters
    ----------
    features : None or list of str, default=None
        The features of a token. None means a template for words in any language and for further
        columns, or the features that tokens come with. A list contains templates such as
        ``"word[-1]"``, ``"suffix3[0]"`` and ``"pos[0]|pos[1]"``.
    constraints : {"auto", "none"}, default="auto"
        Whether tags of chunks (IOB1, IOB2, IOBES, BILOU) must follow their scheme. Then impossible
        tags are never predicted, and the model distinguishes the ends of chunks.
    margin : float, default=1.0
        Lead ≥ 0 of the right tags below which a sentence causes an update, in units of one update:
        the squared length of the token's features, which is their number if all are 1.
    solution : {"average", "last"}, default="average"
        The weights to predict with: the average over all updates, or the last ones.
    order : {"each", "once", "fixed"}, default="each"
        The order of the sentences: a new permutation each epoch; one for all epochs; as given.
    max_iter : int, default=10
        Largest number of epochs.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations.
    verbose : int, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The tags, sorted.
    columns_ : tuple of str
        Names of the columns of tokens; ``("feature",)`` if they came with features.
    templates_ : list of str
        Templates of the features.
    scheme_ : str or None
        The scheme of chunks: "IOB1", "IOB2", "IOBES", "BILOU", or None.
    n_features_ : int
        Number of features with weights.
    n_mistakes_ : int
        Number of updates.
    n_iter_ : int
        Number of epochs.
    stop_reason_ : {"separated", "max_iter"}
        Why training ended.
    history_ : list of Epoch
        A record of each epoch; rows are sentences.

    See Also
    --------
    Perceptron : For independent rows.
    train : Trains a tagger on a file.

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

    _parameters = PARAMETERS
    _learner_class = SequenceLearner

    features: Any = None
    constraints: str = "auto"
    margin: float = 1.0
    solution: str = "average"
    order: str = "each"
    max_iter: int = 10
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the tagger to sentences and their tags.

        Parameters
        ----------
        X : list of list
            Sentences. A token is a string, a tuple or dict of columns with the word as its first
            value (or called "word"), or a dict or list of features as in sklearn-crfsuite.
        y : list of list
            The tag of each token.

        Returns
        -------
        self
            The fitted tagger.
        """
        self._check_parameters()
        sentences, tags, columns = self._read(X, y)
        given = self._values()
        plan = make_sequence_plan(
            Request(parameters=given | {"random_state": make_seed(self.random_state)})
        )
        with unchanged_by_errors(self):
            source: Any = SentenceSource(sentences, tags, columns)
            learner = source.begin(given)
            self._train(learner, start(plan, source, learner))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from more sentences once, in their order.

        New words and features are added as they come. Taggers from ``fit``, ``load`` and ``train``
        can continue to learn.

        Parameters
        ----------
        X, y : list of list
            Sentences and tags, as for ``fit``.
        classes : list, default=None
            All tags that may come. Needed in the first call.

        Returns
        -------
        self
            The fitted tagger.
        """
        self._check_parameters()
        first = not self.__sklearn_is_fitted__()
        sentences, tags, columns = self._read(X, y, None if first else self.columns_)
        with unchanged_by_errors(self):
            known = check_classes(self._resolve_classes(classes, first))
            if first:
                codes, values = encode_tags(tags, known), self._values()
                own = find_tag_set(values, known, codes, sentences.starts)
                self._learner = SequenceLearner.begin(values, own, columns)
            self._learner.set_parameters(self._values())
            epoch = self._learner.learn_sentences((sentences, tags))
            self.take_over(self._learner, [epoch], "max_iter", {})
        return self

    def predict(self, X: Any) -> list[list[Any]]:
        """Predict the tags of sentences.

        Parameters
        ----------
        X : list of list
            Sentences, with tokens like those of training.

        Returns
        -------
        list of list
            The tag of each token.
        """
        sentences = read_sentences(X, self.columns_)
        names = self.classes_.tolist()
        found = [names[code] for code in self._learner.predict(sentences).tolist()]
        ends = sentences.starts.tolist()
        return [found[first:last] for first, last in pairwise(ends)]

    def score(self, X: Any, y: Any, sample_weight: None = None) -> float:
        """Return the share of tokens whose predicted tag is right.

        Parameters
        ----------
        X, y : list of list
            Sentences and their tags.
        sample_weight : None
            Ignored.

        Returns
        -------
        float
            The accuracy, from 0 to 1.
        """
        tags = check_sentences(y, "y")
        check_lengths(check_sentences(X, "X"), tags)
        found = chain.from_iterable(self.predict(X))
        pairs = zip(found, chain.from_iterable(tags), strict=True)
        right = [one == other for one, other in pairs]
        return float(np.mean(right)) if right else float("nan")

    def explain(self, sentence: Any, top: int = 5) -> list[tuple[str, str, dict[str, float]]]:
        """Explain the predicted tags of a sentence by features and transitions.

        Parameters
        ----------
        sentence : list
            The tokens of the sentence.
        top : int, default=5
            Number of features per token.

        Returns
        -------
        list of (str, str, dict)
            For each token its tag, the tag that would be next best there, and the features with
            the largest shares in the difference of their scores; shares below 0 speak for the
            other tag. ``tag[-1]`` is the transition, a million where only the tag can follow.
        """
        learner: SequenceLearner = self._current()
        return learner.explain(read_sentences([sentence], self.columns_), top)

    @property
    def columns_(self) -> tuple[str, ...]:
        """The names of the columns of tokens."""
        return tuple(self._current().columns)

    @property
    def templates_(self) -> list[str]:
        """The templates of the features of tokens."""
        return list(self._current().templates)

    @property
    def scheme_(self) -> str | None:
        """The scheme by which tags mark chunks; None if they do not."""
        scheme: str | None = self._current().tags.scheme
        return scheme

    @property
    def n_features_(self) -> int:
        """The number of features with weights."""
        learner = self._current()
        emissions = learner.coefficients().emissions.reshape(-1, learner.state.width)
        return int(np.count_nonzero(emissions.any(axis=1)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = None  # scikit-learn would stratify by lists of tags
        tags.input_tags.sparse = tags.input_tags.two_d_array = False
        return tags

    def _read(self, X: Any, y: Any, columns: tuple[str, ...] | None = None) -> Any:
        """Check sentences and tags; return the sentences, all tags in a row, and the columns."""
        sentences, tags = check_sentences(X, "X"), check_sentences(y, "y")
        check_lengths(sentences, tags)
        columns = columns or find_columns(sentences, self.features is not None)
        return read_sentences(sentences, columns), list(chain.from_iterable(tags)), columns

    def _train(self, learner: SequenceLearner, run: Training) -> None:
        """Train to the end, and become the estimator of the learner."""
        with show_epochs(self.verbose) as show:
            for _, learnt in run.updates():
                if show is not None:
                    done = learnt.position / max(len(run.part.row_order), 1)
                    show(run.epoch, done, f"{run.problems[0].state.mistakes:,} updates")
        learner.finish(run.states)
        self.take_over(learner, run.epochs, run.stop_reason, {})
