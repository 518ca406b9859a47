"""The family after Rosenblatt: rules that choose the step, or know how sure each weight is."""

from ..parameters import RULE_TABLE
from ..training.rules import RULES
from .constructors import estimator, positional
from .docstrings import described_as
from .linear import LinearClassifier
from .perceptron import Perceptron


@described_as(Perceptron)
@estimator
class PassiveAggressive(LinearClassifier):
    """Learn by the smallest step that mends a row, or less: passive when a row has margin 1.

    The rule of Crammer et al. (2006). With several classes the step is shared by the right class
    and its best rival. The weight of a row multiplies C.

    Parameters
    ----------
    C : float, default=1.0
        The aggressiveness: the most that a step may be ("hinge"), or how soon it is shortened.
    loss : {"hinge", "squared_hinge", "hard"}, default="hinge"
        PA-I, PA-II, or PA, which always mends a row wholly and suits data without noise.

    Attributes
    ----------
    n_mistakes_ : int
        Updates made, also those for a small margin, over all calls of ``partial_fit`` or warm
        starts.
    stop_reason_ : {"separated", "max_iter", "no_improvement"}
        Why training ended; "separated" is a pass without updates.

    See Also
    --------
    Perceptron : The textbook rule, whose step is always the same.
    AROW : Steps that differ by weight.
    ROMMA : Keeps to what was learnt before, too.

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

    _parameters = RULE_TABLE["pa"].parameters
    _rule = RULES["pa"]

    C: float = positional(1.0)
    loss: str = "hinge"


@described_as(PassiveAggressive)
@estimator
class ALMA(LinearClassifier):
    """Learn towards the largest margin, by corrections that shrink with the root of their number.

    The algorithm of Gentile (2001) for p = 2. Every row counts as if it had length 1. On separable
    rows, with the default B and C, it ends with a margin of at least (1 - alpha) of the largest. k
    grows by 1 with every correction, as in the paper (LIBOL's manual prints another rule). The
    weight of a row multiplies its step.

    Parameters
    ----------
    alpha : float, default=0.9
        How much of the largest margin may be missing: from 0 (excluded) to 1.
    B, C : float or None, default=None
        The constants of the paper; √8/alpha and √2 unless given.
    solution : {"last", "average", "pocket"}, default="last"
        Which weights become the model: the last ones; their average over all rows seen; or the
        best on the training data so far.

    See Also
    --------
    Perceptron : The textbook rule, whose step is always the same.
    ROMMA : Margins by constraints instead of shrinking steps.
    max_margin : The largest margin itself, with a proof.

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

    _parameters = RULE_TABLE["alma"].parameters
    _rule = RULES["alma"]

    alpha: float = positional(0.9)
    B: float | None = None
    C: float | None = None


@described_as(ALMA)
@estimator
class ROMMA(LinearClassifier):
    """Learn the shortest weights that mend the last row and keep to all that was learnt before.

    The algorithm of Li & Long (2002). From zero it makes at most (R/γ)² mistakes, as the
    perceptron, and usually fewer; on noise, which no weights satisfy, they only grow. A constraint
    cannot weigh more than another: of weights of rows only 0 matters, with which a row is never
    seen.

    Parameters
    ----------
    aggressive : bool, default=True
        Whether rows of a margin below 1 are learnt from, and not only mistakes.

    See Also
    --------
    Perceptron : The textbook rule, whose step is always the same.
    ALMA : Margins by steps that shrink.
    PassiveAggressive : Forgets what it does not need for the last row.

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

    _parameters = RULE_TABLE["romma"].parameters
    _rule = RULES["romma"]

    aggressive: bool = positional(True)


@described_as(ALMA)
@estimator
class SecondOrderPerceptron(LinearClassifier):
    """Learn as the perceptron does, on data whose correlations were taken out as they were met.

    The algorithm of Cesa-Bianchi, Conconi & Gentile (2005): the weights are A⁻¹v, v the sum of y·x
    and A that of x·xᵀ over all mistakes. A row of weight 2 is added twice to both.

    Parameters
    ----------
    a : float, default=1.0
        What A begins with on its diagonal: the larger, the more it is a perceptron.
    matrix : {"auto", "full", "diagonal"}, default="auto"
        Whether to keep the whole of A or its diagonal; "auto" is "full" for two classes and up to
        100 columns.
    multi_class : {"argmax", "ovr"}, default="argmax"
        With over two classes: all together, or one two-class problem per class, which the whole
        matrix always takes.

    See Also
    --------
    Perceptron : The textbook rule, whose step is always the same.
    AROW : Learns from small margins, too, and is calmer on noise.

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

    _parameters = RULE_TABLE["second-order"].parameters
    _rule = RULES["second-order"]

    a: float = positional(1.0)
    matrix: str = "auto"


@described_as(ALMA)
@estimator
class AROW(LinearClassifier):
    """Learn with a confidence in every weight: rare columns move far, frequent ones little.

    The rule of Crammer, Kulesza & Dredze (2009), with the diagonal of Σ. The weight of a row
    divides r.

    Parameters
    ----------
    r : float, default=1.0
        How slowly confidence grows: larger is calmer.

    See Also
    --------
    Perceptron : The textbook rule, whose step is always the same.
    SCW : Confidence in each row instead of a margin of 1.
    SecondOrderPerceptron : Variances that only mistakes shrink.

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

    _parameters = RULE_TABLE["arow"].parameters
    _rule = RULES["arow"]

    r: float = positional(1.0)


@described_as(ALMA)
@estimator
class SCW(LinearClassifier):
    """Learn so that each row is right with a given confidence, softly.

    The rule of Wang, Zhao & Hoi (2012), with the diagonal of Σ. The weight of a row multiplies C.

    Parameters
    ----------
    C : float, default=1.0
        How much a row may matter: smaller is calmer.
    confidence : float, default=0.75
        The probability η with which a row is to be right: from ½ to 1, both excluded.
    variant : {"I", "II"}, default="I"
        SCW-I or SCW-II, whose loss is squared.

    See Also
    --------
    Perceptron : The textbook rule, whose step is always the same.
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

    _parameters = RULE_TABLE["scw"].parameters
    _rule = RULES["scw"]

    C: float = positional(1.0)
    confidence: float = 0.75
    variant: str = "I"


@described_as(ALMA)
@estimator
class NHERD(LinearClassifier):
    """Learn a normal distribution of weights by herding: like AROW, but surer after each row.

    The rule of Crammer & Lee (2010), with the diagonal of Σ. The weight of a row multiplies C.

    Parameters
    ----------
    C : float, default=1.0
        The aggressiveness C > 0; larger means larger updates, and variances that shrink faster.

    See Also
    --------
    Perceptron : The textbook rule, whose step is always the same.
    AROW : Variances that shrink less with each row.

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

    _parameters = RULE_TABLE["nherd"].parameters
    _rule = RULES["nherd"]

    C: float = positional(1.0)


@described_as(ALMA)
@estimator
class CW(LinearClassifier):
    """Learn so that each row is right with a given confidence, whatever that takes.

    Confidence-weighted learning (Dredze, Crammer & Pereira 2008), the variant that is linear in the
    variance, with the diagonal of Σ. Each row is a constraint that must hold, so that rows with
    wrong labels do much harm; ``SCW`` is the soft form. A constraint cannot weigh more than
    another: of weights of rows only 0 matters, with which a row is never seen.

    Parameters
    ----------
    confidence : float, default=0.75
        The probability with which a row must be right, in (0.5, 1).

    See Also
    --------
    Perceptron : The textbook rule, whose step is always the same.
    SCW : The soft form, for data with noise.
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

    _parameters = RULE_TABLE["cw"].parameters
    _rule = RULES["cw"]

    confidence: float = positional(0.75)


@described_as(ALMA)
@estimator
class FTRL(LinearClassifier):
    """Learn by logistic loss with a rate for each weight, and weights of exactly 0 by L1.

    FTRL-proximal (McMahan et al. 2013). Every row moves the weights, against the gradient of its
    loss; the more a column has moved, the less it moves. A weight is 0 until the evidence for it
    exceeds ``l1``. The bias is not regularized. The weight of a row multiplies its gradient.

    Parameters
    ----------
    alpha : float, default=0.1
        The learning rate alpha > 0 of a column, before it is divided by beta + √n, n the sum of the
        squared gradients of the column.
    beta : float, default=1.0
        The offset beta > 0 of the rate: larger means smaller first updates.
    l1 : float, default=0.0
        The L1 regularization l1 ≥ 0: larger means more weights of 0.
    l2 : float, default=0.0
        The L2 regularization l2 ≥ 0: larger means smaller weights.
    multi_class : {"argmax", "ovr"}, default="argmax"
        With over two classes: both mean one two-class problem per class.

    See Also
    --------
    Perceptron : The textbook rule, whose step is always the same.
    SecondOrderPerceptron : Learns from mistakes, each weight alone.

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

    _parameters = RULE_TABLE["ftrl"].parameters
    _rule = RULES["ftrl"]

    alpha: float = positional(0.1)
    beta: float = 1.0
    l1: float = 0.0
    l2: float = 0.0
