"""Linear classifiers with other update rules than the perceptron's."""

from typing import Literal

from .constructors import estimator, positional
from .docstrings import described_as
from .linear import LinearClassifier
from .perceptron import Perceptron


@described_as(Perceptron)
@estimator
class PassiveAggressive(LinearClassifier):
    """Passive-aggressive classifier: no update with margin 1, else the smallest that reaches it.

    The rule of Crammer et al. (2006). With several classes the step is shared by the right class
    and the best wrong class. The weight of a row multiplies its step; with another loss than
    hinge, where C does not bound steps, it is the margin that the row must have.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness C > 0: the largest step with ``loss="hinge"``; larger means larger steps with
        ``loss="squared_hinge"``.
    loss : {"hinge", "squared_hinge", "hard"}, default="hinge"
        PA-I, PA-II, or PA without a limit to the step, for data without noise.
    order : {"each", "once", "fixed", "active", "first", "worst"}, default="each"
        The order of the rows. "each": a new permutation each epoch; "once": one permutation for all
        epochs; "fixed": as given; "active": all rows, then only rows that ever caused an update
        until they cause none or twice as many rows have been read, and so on; "first": the first
        row that causes an update, one per epoch; "worst": the row with the smallest margin, one per
        epoch.

    Attributes
    ----------
    n_mistakes_ : int
        Number of updates, including those of correct rows with a small margin, over all calls of
        ``partial_fit`` or warm starts.
    stop_reason_ : {"separated", "max_iter", "no_improvement"}
        Why training ended; "separated" means an epoch without updates.

    See Also
    --------
    Perceptron : The textbook rule, with steps of equal size.
    AROW : Steps that differ by weight.
    ROMMA : Also satisfies the constraints of earlier rows.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer (2006), "Online passive-aggressive algorithms",
    Journal of Machine Learning Research 7, 551-585.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PassiveAggressive(C=0.1, solution="average", max_iter=10, random_state=0)
    >>> round(model.fit(scale(X), y).score(scale(X), y), 3)
    0.989
    """

    C: float = positional(1.0)
    loss: Literal["hinge", "squared_hinge", "hard"] = "hinge"


@described_as(PassiveAggressive)
@estimator
class ALMA(LinearClassifier):
    """Approximate large margin algorithm, with steps that shrink as 1/√k.

    The algorithm of Gentile (2001) for p = 2. Rows are normalized to length 1. On separable rows,
    with the default B and C, the margin found is at least 1 - alpha times the largest. k is the
    number of updates, as in the paper (LIBOL's manual has another rule). The weight of a row
    multiplies its step, and is added to k.

    Parameters
    ----------
    alpha : float, default=0.9
        Approximation in (0, 1]; the margin found is at least 1 - alpha times the largest.
    B, C : float or None, default=None
        Constants > 0 of the paper; None means √8/alpha and √2.
    solution : {"last", "average", "pocket"}, default="last"
        The weights to predict with: the last ones; the average over all rows; or the best on the
        training data so far.

    See Also
    --------
    Perceptron : The textbook rule, with steps of equal size.
    ROMMA : Large margins by constraints instead of shrinking steps.
    max_margin : The largest margin, with a proof.

    References
    ----------
    Gentile (2001), "A new approximate maximal margin classification algorithm", Journal of Machine
    Learning Research 2, 213-242.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ALMA(random_state=0).fit(X, y == 0)
    >>> model.score(X, y == 0)
    1.0
    """

    alpha: float = positional(0.9)
    B: float | None = None
    C: float | None = None


@described_as(ALMA)
@estimator
class ROMMA(LinearClassifier):
    """Relaxed online maximum margin algorithm: shortest weights under a relaxed constraint.

    The algorithm of Li & Long (2002). From zero it makes at most (R/γ)² mistakes, as the
    perceptron, and usually fewer. On noisy data, which no weights satisfy, the weights keep
    growing. The weight h of a row multiplies its step by 2h/(1 + h), which is below 2: a small
    weight of other classes changes more than a large one.

    Parameters
    ----------
    aggressive : bool, default=True
        Whether to also update on correct rows with a margin below 1.

    See Also
    --------
    Perceptron : The textbook rule, with steps of equal size.
    ALMA : Large margins by shrinking steps.
    PassiveAggressive : Satisfies the constraint of the last row only.

    References
    ----------
    Li & Long (2002), "The relaxed online maximum margin algorithm", Machine Learning 46, 361-387.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ROMMA(random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    aggressive: bool = positional(True)


@described_as(ALMA)
@estimator
class ShiftingPerceptron(LinearClassifier):
    """Shifting perceptron: weights in which older mistakes count less, for data that drift.

    The algorithm of Cavallanti, Cesa-Bianchi & Gentile (2007). After k mistakes, the next one makes
    (1 - λₖ)w + λₖyx of the weights w, with λₖ = λ/(λ + k). So mistake i of k counts about
    (i/k)^(λ - 1) times as much as the last one; with λ = 1 all count the same, as in the
    perceptron. The weight of a row multiplies its step.

    On any sequence of rows of length up to R, it makes at most D + c² + c√D mistakes for all
    weights u₁, u₂, … that change over time, with c = R(U(1 + 2(λ - 1)/√λ) + S/√λ). D is their hinge
    loss, U their largest length, and S the sum of the lengths of their changes.

    Parameters
    ----------
    lam : float, default=2.0
        Shift λ ≥ 1; larger means that older mistakes count less.

    See Also
    --------
    Perceptron : The textbook rule, in which all mistakes count the same.
    AdaGrad : Steps that do not vanish, on every row.
    progressive : Measures the error on a stream.

    References
    ----------
    Cavallanti, Cesa-Bianchi & Gentile (2007), "Tracking the best hyperplane with a simple budget
    perceptron", Machine Learning 69, 143-167.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ShiftingPerceptron(random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    lam: float = positional(2.0)


@described_as(ALMA)
@estimator
class SecondOrderPerceptron(LinearClassifier):
    """Second-order perceptron, which updates columns with small variances most.

    The algorithm of Cesa-Bianchi, Conconi & Gentile (2005) with the diagonal of A: the weights are
    A⁻¹v, with v the sum of y·x and A the sum of x·xᵀ over all mistakes. A row of weight 2 is added
    twice to both.

    Parameters
    ----------
    a : float, default=1.0
        Regularization a > 0, the initial diagonal of A; larger means smaller updates.

    See Also
    --------
    Perceptron : The textbook rule, with steps of equal size.
    AROW : Also learns from small margins, and is more robust to noise.

    References
    ----------
    Cesa-Bianchi, Conconi & Gentile (2005), "A second-order perceptron algorithm", SIAM Journal on
    Computing 34(3), 640-668.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SecondOrderPerceptron(max_iter=5, random_state=0).fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3)
    0.979
    """

    a: float = positional(1.0)


@described_as(ALMA)
@estimator
class AROW(LinearClassifier):
    """Adaptive regularization of weights: rare columns get large updates, frequent ones small.

    The rule of Crammer, Kulesza & Dredze (2009), with the diagonal of Σ. The weight of a row
    divides r.

    Parameters
    ----------
    r : float, default=1.0
        Regularization r > 0; larger means smaller updates.

    Attributes
    ----------
    coef_variance_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The variances of the weights, from 1 down: the smaller, the more certain a weight is.
    intercept_variance_ : ndarray of shape (1,) or (n_classes,)
        The variances of the biases.

    See Also
    --------
    Perceptron : The textbook rule, with steps of equal size.
    SCW : A confidence instead of a margin of 1.
    SecondOrderPerceptron : Variances that shrink with mistakes only.

    References
    ----------
    Crammer, Kulesza & Dredze (2009), "Adaptive regularization of weight vectors", Advances in
    Neural Information Processing Systems 22.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(AROW(max_iter=1, random_state=0).fit(scale(X), y).score(scale(X), y), 3)
    0.989
    """

    r: float = positional(1.0)


@described_as(AROW)
@estimator
class SCW(LinearClassifier):
    """Soft confidence-weighted learning: each row should be right with a given probability.

    The rule of Wang, Zhao & Hoi (2012), with the diagonal of Σ. The weight of a row multiplies C.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness C > 0, the largest step.
    confidence : float, default=0.75
        Probability η with which a row should be right, in (0.5, 1).
    variant : {"I", "II"}, default="I"
        SCW-I or SCW-II, whose loss is squared.

    See Also
    --------
    Perceptron : The textbook rule, with steps of equal size.
    AROW : A margin of 1 instead of a confidence.

    References
    ----------
    Wang, Zhao & Hoi (2012), "Exact soft confidence-weighted learning", Proceedings of the 29th
    International Conference on Machine Learning.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(SCW(max_iter=1, random_state=0).fit(scale(X), y).score(scale(X), y), 3)
    0.979
    """

    C: float = positional(1.0)
    confidence: float = 0.75
    variant: Literal["I", "II"] = "I"


@described_as(AROW)
@estimator
class NHERD(LinearClassifier):
    """Gaussian herding: like AROW, with variances that shrink faster.

    The rule of Crammer & Lee (2010), with the diagonal of Σ. The weight of a row multiplies C.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness C > 0; larger means larger updates and variances that shrink faster.

    See Also
    --------
    Perceptron : The textbook rule, with steps of equal size.
    AROW : Variances that shrink more slowly.

    References
    ----------
    Crammer & Lee (2010), "Learning via Gaussian herding", Advances in Neural Information Processing
    Systems 23.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(NHERD(C=0.1, max_iter=1, random_state=0).fit(scale(X), y).score(scale(X), y), 3)
    0.986
    """

    C: float = positional(1.0)


@described_as(AROW)
@estimator
class CW(LinearClassifier):
    """Confidence-weighted learning: each row must be right with a given probability.

    The rule of Dredze, Crammer & Pereira (2008), the variant that is linear in the variance, with
    the diagonal of Σ. Each row is a hard constraint, so wrong labels do much harm; ``SCW`` is the
    soft form. The weight h of a row multiplies its step by 2h/(1 + h), which is below 2: a small
    weight of other classes changes more than a large one.

    Parameters
    ----------
    confidence : float, default=0.75
        Probability with which a row must be right, in (0.5, 1).

    See Also
    --------
    Perceptron : The textbook rule, with steps of equal size.
    SCW : The soft form, for noisy data.
    AROW : A margin of 1 instead of a confidence.

    References
    ----------
    Dredze, Crammer & Pereira (2008), "Confidence-weighted linear classification", Proceedings of
    the 25th International Conference on Machine Learning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> CW(random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    confidence: float = positional(0.75)


@described_as(ALMA)
@estimator
class FTRL(LinearClassifier):
    """FTRL-proximal logistic regression, with a learning rate per weight and L1 sparsity.

    The algorithm of McMahan et al. (2013). Every row moves the weights against the gradient of its
    loss; the rate of a column falls with its squared gradients. A weight is exactly 0 until the
    evidence for it exceeds ``l1``. The bias is not regularized. The weight of a row multiplies its
    gradient.

    Parameters
    ----------
    alpha : float, default=0.1
        Learning rate alpha > 0; a column has the rate alpha / (beta + √n), with n the sum of its
        squared gradients.
    beta : float, default=1.0
        Offset beta > 0 of the rate; larger means smaller first updates.
    l1 : float, default=0.0
        L1 regularization l1 ≥ 0; larger means more weights of 0.
    l2 : float, default=0.0
        L2 regularization l2 ≥ 0; larger means smaller weights.
    multi_class : {"argmax", "ovr"}, default="argmax"
        How to learn over two classes; both mean one two-class problem per class.

    See Also
    --------
    Perceptron : The textbook rule, with steps of equal size.
    SecondOrderPerceptron : Learns from mistakes only.

    References
    ----------
    McMahan et al. (2013), "Ad click prediction: a view from the trenches", Proceedings of the 19th
    ACM SIGKDD International Conference on Knowledge Discovery and Data Mining.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = FTRL(l1=30.0, max_iter=2, random_state=0).fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3), int((model.coef_ == 0).sum())
    (0.974, 10)
    """

    alpha: float = positional(0.1)
    beta: float = 1.0
    l1: float = 0.0
    l2: float = 0.0


@described_as(ALMA)
@estimator
class AdaGrad(LinearClassifier):
    """Logistic regression with a learning rate per weight that adapts to its last gradients.

    The rate of AdaGrad (Duchi, Hazan & Singer 2011) falls with the sum of a weight's squared
    gradients. With a decay, as in RMSProp (Tieleman & Hinton 2012), old gradients leave the sum, so
    that steps stay as large as a drifting stream needs. The weight of a row multiplies its
    gradient.

    Parameters
    ----------
    alpha : float, default=0.3
        Learning rate alpha > 0; a column has the rate alpha / (beta + √n), with n the decayed sum
        of its squared gradients.
    beta : float, default=0.1
        Offset beta > 0 of the rate; larger means smaller first updates.
    decay : float, default=0.001
        Decay in [0, 1) of n, per row with a value in the column; 0 for AdaGrad.
    multi_class : {"argmax", "ovr"}, default="argmax"
        How to learn over two classes; both mean one two-class problem per class.

    See Also
    --------
    Perceptron : The textbook rule, with steps of equal size.
    FTRL : Rates that only fall, and weights of exactly 0.
    ShiftingPerceptron : Learns from mistakes only.

    References
    ----------
    Duchi, Hazan & Singer (2011), "Adaptive subgradient methods for online learning and stochastic
    optimization", Journal of Machine Learning Research 12, 2121-2159.

    Tieleman & Hinton (2012), "Lecture 6.5: RMSProp", Neural Networks for Machine Learning.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(AdaGrad(max_iter=1, random_state=0).fit(scale(X), y).score(scale(X), y), 3)
    0.984
    """

    alpha: float = positional(0.3)
    beta: float = 0.1
    decay: float = 0.001
