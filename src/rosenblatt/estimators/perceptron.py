"""The perceptron as a scikit-learn estimator."""

from .constructors import estimator
from .linear import LinearClassifier


@estimator
class Perceptron(LinearClassifier):
    """Learn a linear boundary by correcting mistakes, one row at a time.

    With the default parameters it is the textbook algorithm (Rosenblatt 1958): start at zero, add
    y·x when y·(w·x + b) <= 0, stop after a pass without a mistake.

    Parameters
    ----------
    eta0 : float, default=1.0
        The learning rate η. From zero weights and without a margin it only scales the weights.
    margin : float, default=0.0
        Update when y·activation <= margin; with several classes, when the lead is.
    ties : {"mistake", "positive", "negative", "correct"}, default="mistake"
        What an activation of exactly 0 counts as. "positive" and "negative" need two classes or
        one-vs-rest, and say what is predicted there too.
    solution : {"last", "average", "vote", "pocket"}, default="last"
        Which weights become the model: the last ones; their average over all rows seen; the
        majority vote of all of them (Freund & Schapire 1999), which keeps every mistaken row and
        goes through all mistakes to predict one; or the best on the training data so far, with
        ratchet (Gallant 1990).
    average_decay : float, default=0.0
        With ``solution="average"``, the share of what it counts that every row loses with each row
        after it: 0.001 averages over about the last thousand, so that the model follows data that
        drift. 0 counts all rows alike.
    order : {"each", "once", "fixed", "replacement", "batch", "active", "first", "worst"}, \
default="each"
        A fresh permutation each epoch; one permutation, kept; as given; as many rows as there are,
        drawn with replacement; all rows at once, one update per epoch by the sum over its mistakes
        (the batch perceptron, gradient descent on the loss J); all rows, then only those
        that were ever mistaken until they are clean (or twice as many rows have been read), and
        so on; the first mistake from the start, one per epoch; the most wrong row, one per epoch.
    fit_intercept : bool, default=True
        Whether to learn a bias, else the boundary goes through the origin.
    intercept_step : float or "radius", default=1.0
        A mistake moves the bias by η·y times this. "radius" is R², the largest squared norm of a
        row; 0 keeps the bias (a fixed threshold) at ``intercept_init``.
    multi_class : {"argmax", "ovr"}, default="argmax"
        With over two classes: all together, adding to the right class and subtracting from the
        best wrong one, or one two-class problem per class.
    max_iter : int, default=100
        The most epochs. With the orders "first" and "worst" an epoch is one update.
    measure : bool, default=False
        Whether to go over the data once more after each epoch, to record both losses of the
        weights as they are and to stop as soon as no row is misclassified.
    early_stopping : bool, default=False
        Whether to hold out rows, stop when their accuracy no longer rises, and go back to the
        best weights.
    calibrate : bool, default=False
        Whether to fit what scores say of probabilities, for ``predict_proba``: a sigmoid (Platt
        1999), or with several classes a softmax. Weights and predictions stay as they are without
        it. The scores are cross-fitted: each third of the rows is scored by a model of the others,
        so that training takes three times as long; with ``early_stopping`` they are those of the
        rows held out.
    validation_fraction : float, default=0.1
        The share of the rows to hold out.
    n_iter_no_change : int, default=5
        How many epochs to wait for a better accuracy.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; they scale the steps.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last fit.
    n_jobs : int or None, default=None
        Threads for one-vs-rest. They never change the result.
    random_state : int, RandomState instance or None, default=None
        Decides the permutations and the rows held out. The same number gives the same model.
    verbose : int, default=0
        Whether to print a line per epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. Of two, the larger is the positive one.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights; with ``solution="vote"`` the last ones, and ``predict`` uses all.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The biases.
    n_iter_ : int
        Epochs gone through.
    n_mistakes_ : int
        Updates made, over all calls of ``partial_fit`` or warm starts; with ``order="batch"`` the
        mistaken rows that they were made by.
    stop_reason_ : {"separated", "max_iter", "no_improvement", "zero_weights"}
        Why training ended. "separated": a pass without mistakes, as ``ties`` counts them;
        "zero_weights": one with ``ties="correct"`` from weights of 0, which separate nothing.
    history_ : list of Epoch
        One record per epoch: rows, mistakes, errors (J₁), loss (J), validation_score.

    See Also
    --------
    PassiveAggressive : The step that a row needs, for a margin.
    AROW : The rule for one pass, with a variance of each weight.
    KernelPerceptron : Boundaries that bend.
    SequencePerceptron : Tags of the words of a sentence.
    steps : A record of every update.
    separability : Whether the run can end.

    References
    ----------
    Rosenblatt (1958), "The perceptron: a probabilistic model for information storage and
    organization in the brain", Psychological Review 65(6), 386-408.

    Freund & Schapire (1999), "Large margin classification using the perceptron algorithm", Machine
    Learning 37(3), 277-296.

    Gallant (1990), "Perceptron-based learning algorithms", IEEE Transactions on Neural Networks
    1(2), 179-191.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron(random_state=0).fit(X, y == 0)
    >>> model.stop_reason_, model.n_mistakes_, model.score(X, y == 0)
    ('separated', 9, 1.0)
    """

    eta0: float = 1.0
    margin: float = 0.0
    ties: str = "mistake"
    max_iter: int = 100

    @property
    def _textbook(self) -> bool:
        return self.margin == 0
