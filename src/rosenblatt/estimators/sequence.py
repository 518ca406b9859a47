"""The structured perceptron as a scikit-learn estimator over lists of sentences."""

from itertools import chain, pairwise
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..learners.sequence.explaining import TokenExplanation
from ..learners.sequence.learner import FoundSentences, SequenceLearner
from ..learners.sequence.sentences import (
    check_lengths,
    check_sentences,
    find_columns,
    leave_out_markers,
    read_sentences,
)
from ..learners.sequence.tagset import check_classes, encode_tags, find_tag_set
from ..learners.sequence.templates import resolve_templates
from ..learners.sequence.training import SentenceSource, make_sequence_plan
from ..parameters import SEQUENCE
from ..storage.file import save_model
from ..storage.model import Model
from ..training.bars import show_epochs
from ..training.fit import start
from ..training.history import Epoch, History
from ..training.plan import Request
from ..training.run import Run
from .base import OnlineClassifier, make_seed
from .constructors import estimator, positional


class FittedTagger(OnlineClassifier):
    """What a tagger keeps besides its parameters."""

    _parameters = SEQUENCE
    class_weight = None
    _learner: SequenceLearner


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
        sentences, tags = leave_out_markers(sentences, tags)
        columns = find_columns(sentences, self.features is not None)
        given = self._values()
        plan = make_sequence_plan(
            Request(parameters=given | {"random_state": make_seed(self.random_state)})
        )
        with self._unchanged_by_errors():
            part = read_sentences(sentences, columns), list(chain.from_iterable(tags))
            source = SentenceSource(lambda: [part], columns, plan.split)
            learner = source.begin(given)
            self._train(learner, start(plan, source, learner))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from more sentences, once and in their order.

        New words and features are learnt as they come; the lexicon is that of the sentences so far.
        A tagger that ``fit``, ``load`` or ``train`` gave learns on; one that was saved with
        ``compact=True`` does not.

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
        sentences, tags = leave_out_markers(sentences, tags)
        first, flat = not self.__sklearn_is_fitted__(), list(chain.from_iterable(tags))
        known = check_classes(self._known_classes(classes, first))
        columns = find_columns(sentences, self.features is not None) if first else self.columns_
        read, history = read_sentences(sentences, columns), History(1)
        with self._unchanged_by_errors():
            if first:
                templates = resolve_templates(self.features, columns)
                codes, values = encode_tags(flat, known), self._values()
                own = find_tag_set(values, known, lambda: [(codes, read.starts)], all_inside=True)
                found = FoundSentences(own, columns, templates)
                self._learner = SequenceLearner.begin(values, found)
            self._learner.set_parameters(self._values())
            count = self._learner.learn((read, flat))
            history.close(count, self._learner.state, False, None)
            self._keep(self._learner, history.epochs, history.stop_reason)
        return self

    def save(self, path: str | PathLike[str], compact: bool = False) -> None:
        """Write the tagger to a file that ``load`` reads: numbers only, checked, all or nothing.

        Parameters
        ----------
        path : str or path-like
            Where to; by custom it ends in ``.safetensors``.
        compact : bool, default=False
            Whether to keep only what predicts, in about a third of the size. Such a tagger cannot
            learn on.
        """
        check_is_fitted(self)
        save_model(path, self._model(compact))

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
        found = [names[code] for code in self._learner.predict(sentences).tolist()]
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
        read = read_sentences([sentence], self.columns_)
        return self._learner.explain(list(sentence), read, top)

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
        check_is_fitted(self)
        return self._learner.best_paths(read_sentences([sentence], self.columns_), top)

    @property
    def columns_(self) -> tuple[str, ...]:
        """What tokens have."""
        return self._learner.columns

    @property
    def templates_(self) -> list[str]:
        """What features of tokens are."""
        return self._learner.templates

    @property
    def scheme_(self) -> str | None:
        """How the tags write chunks."""
        scheme = self._learner.tags.scheme
        return None if scheme is None else scheme.name

    @property
    def n_features_(self) -> int:
        """How many features have weights."""
        check_is_fitted(self)
        return self._learner.n_features

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = None  # for a classifier, scikit-learn would stratify lists of tags
        tags.input_tags.sparse = tags.input_tags.two_d_array = False
        return tags

    # Inside

    def _train(self, learner: SequenceLearner, run: Run) -> None:
        """Train to the end, and take over the result."""
        with show_epochs(self.verbose) as tell:
            for _, learnt in run.updates():
                if tell is not None:
                    done = learnt.position / max(len(run.part.row_order), 1)
                    tell(run.epoch, done, f"{run.problems[0].state.mistakes:,} updates")
        learner.finish(run.outcomes)
        self._keep(learner, run.epochs, run.stop_reason)

    def _keep(self, learner: SequenceLearner, epochs: list[Epoch], reason: str) -> None:
        """Become what a learner is."""
        self._learner, self.classes_ = learner, learner.classes
        self.n_mistakes_ = learner.state.mistakes
        self._set_history(epochs, reason)

    def _model(self, compact: bool = False) -> Model:
        facts = {"stop_reason": self.stop_reason_}
        return self._learner.to_model(facts, self.history_, compact=compact)

    @classmethod
    def _restored(cls, model: Model) -> Self:
        """The estimator that a model file holds."""
        learner = SequenceLearner.from_model(model)
        made = cls(**learner.parameters)
        made._check_parameters()
        reason = str(model.facts.get("stop_reason", "max_iter"))
        made._keep(learner, list(model.history), reason)
        return made
