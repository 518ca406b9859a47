"""The perceptron as a scikit-learn estimator."""

from typing import Literal

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
        Learning rate η > 0. From zero weights and without a margin it only scales the weights,
        except that rounding can decide otherwise about rows on the boundary (``train_form``).
    margin : float or (float, float), default=0.0
        Margin ≥ 0. A row causes an update if y·activation <= margin; with several classes, if the
        lead of the right class is at most ``margin``. A pair holds the margins of positive and of
        negative rows (PAUM, Li et al. 2002): the larger margin of a rare class moves the boundary
        away from it. A pair needs two classes or one-vs-rest.
    solution : {"last", "average", "pocket"}, default="last"
        The weights to predict with: the last ones; the average over all rows; or the best weights
        on the training data so far (pocket algorithm with ratchet, Gallant 1990). A majority vote
        of all weights (Freund & Schapire 1999) needs every mistaken row, as the dual form keeps
        them: ``KernelPerceptron("linear", solution="vote")``.
    order : {"each", "once", "fixed", "batch", "active", "first", "worst"}, default="each"
        The order of the rows. "each": a new permutation each epoch; "once": one permutation for all
        epochs; "fixed": as given; "batch": all rows at once, one update per
        epoch by the sum over its mistakes (the batch perceptron, gradient descent on the loss J);
        "active": all rows, then only rows that were ever mistaken until they cause no update or
        twice as many rows have been read, and so on; "first": the first mistake from the start, one
        per epoch; "worst": the most misclassified row, one per epoch.
    fit_intercept : bool, default=True
        Whether to learn a bias; otherwise the boundary goes through the origin.
    max_iter : int, default=100
        Largest number of epochs. With the orders "first" and "worst" an epoch is one update.
    tol : float or None, default=None
        Whether to stop, as scikit-learn does, when for 5 epochs the loss J per row was not ``tol``
        below the least so far; 0.001 suits noisy rows. None stops only after an epoch without
        mistakes.
    early_stopping : bool or int, default=False
        Whether to hold out a tenth of the rows, stop when their metric has not improved for this
        number of epochs (True: 5), and use the best weights.
        ``fit(X, y, X_val=…, y_val=…)`` uses other rows instead.
    calibrate : bool or "conformal", default=False
        Whether to fit probabilities for ``predict_proba``: a sigmoid of the score (Platt 1999), or
        a softmax for several classes; of label sets, a sigmoid for each label. Weights and
        predictions do not change. ``fit`` scores each third of the rows by a model of the others,
        which takes three times as long, or with ``early_stopping`` uses the rows held out.
        ``partial_fit`` uses the scores that the last rows had before they were learnt. "conformal"
        always holds out a tenth of the rows, or uses ``X_val``, and keeps their scores for
        ``predict_set``.
    warm_start : bool, default=False
        Whether ``fit`` continues from the weights of the last fit.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations and of the rows held out. The same integer gives the same model.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which scale the updates. "balanced" weights classes by their rarity:
        in ``fit`` among all rows, in ``partial_fit`` among the rows so far.
    ties : {"mistake", "positive", "negative", "correct"}, default="mistake"
        What an activation of exactly 0 counts as. "positive" and "negative" need two classes or
        one-vs-rest, and also decide the prediction.
    intercept_step : float or "radius", default=1.0
        An update moves the bias by its step times this number. "radius" means R², the largest
        squared norm of a row; 0 keeps the bias constant at ``intercept_init``.
    measure : bool, default=False
        Whether to evaluate all rows after each epoch, to record both losses of the present weights
        and to stop as soon as no row is misclassified.
    verbose : int, default=0
        Whether to print a line for each epoch.
    multi_class : {"argmax", "ovr"}, default="argmax"
        How to learn over two classes: "argmax" adds a row to the right class and subtracts it from
        the best wrong class; "ovr" trains one two-class problem per class, in as many threads as
        ``joblib.parallel_config(n_jobs=…)`` says.
    metric : str, default="error"
        Metric of early stopping: "error", "log-loss" (of calibrated scores), "auc",
        "average-precision", "f1" (mean of the classes) or "balanced" (accuracy).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. With two classes, the second is the positive one.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The biases.
    class_count_ : ndarray of shape (n_classes,)
        Number of rows of each class in ``fit``, or in all calls of ``partial_fit``.
    n_iter_ : int
        Number of epochs.
    n_mistakes_ : int
        Number of updates, over all calls of ``partial_fit`` or warm starts; with ``order="batch"``
        the number of mistaken rows.
    stop_reason_ : {"separated", "max_iter", "no_improvement", "zero_weights"}
        Why training ended. "separated": an epoch without mistakes; "no_improvement": by
        ``early_stopping`` or ``tol``; "zero_weights": an epoch without mistakes, with
        ``ties="correct"`` and weights of 0, which separate nothing.
    history_ : list of Epoch
        A record of each epoch: rows, mistakes, errors (J₁), loss (J), validation_score.

    See Also
    --------
    PassiveAggressive : Steps as large as a row needs for a margin.
    AROW : A rule for one pass, with a variance of each weight.
    KernelPerceptron : Curved boundaries.
    steps : A record of every update.
    separability : Decides whether a hyperplane separates the classes.

    References
    ----------
    Rosenblatt (1958), "The perceptron: a probabilistic model for information storage and
    organization in the brain", Psychological Review 65(6), 386-408.

    Freund & Schapire (1999), "Large margin classification using the perceptron algorithm", Machine
    Learning 37(3), 277-296.

    Li, Zaragoza, Herbrich, Shawe-Taylor & Kandola (2002), "The perceptron algorithm with uneven
    margins", International Conference on Machine Learning, 379-386.

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
    margin: float | tuple[float, float] = 0.0
    ties: Literal["mistake", "positive", "negative", "correct"] = "mistake"
    max_iter: int = 100
