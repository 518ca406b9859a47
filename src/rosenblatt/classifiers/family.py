"""The family after Rosenblatt: rules that choose the step, or know how sure each weight is."""

from typing import Any

from ..parameters import ALMA as ALMA_PARAMETERS
from ..parameters import AROW as AROW_PARAMETERS
from ..parameters import PASSIVE_AGGRESSIVE, SECOND_ORDER
from ..parameters import ROMMA as ROMMA_PARAMETERS
from ..parameters import SCW as SCW_PARAMETERS
from ..training.rules import RULES
from .linear import LinearClassifier


class PassiveAggressive(LinearClassifier):
    """Learn by the smallest step that mends a row, or less: passive when a row has margin 1.

    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer (2006), "Online passive-aggressive algorithms",
    JMLR 7. With several classes the step is shared by the right class and its best rival. The
    weight of a row multiplies C.

    Parameters
    ----------
    C : float, default=1.0
        The aggressiveness: the most that a step may be ("hinge"), or how soon it is shortened.
    loss : {"hinge", "squared_hinge", "hard"}, default="hinge"
        PA-I, PA-II, or PA, which always mends a row wholly and suits data without noise.
    solution, average_decay, order, fit_intercept, intercept_step, multi_class, max_iter : optional
        As for ``Perceptron``; ten epochs at most unless told.
    measure, early_stopping, calibrate, validation_fraction, n_iter_no_change : optional
        As for ``Perceptron``.
    class_weight, warm_start, n_jobs, random_state, verbose : optional
        As for ``Perceptron``.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_mistakes_, stop_reason_, history_
        As for ``Perceptron``; every update counts as a mistake, also one for a small margin.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PassiveAggressive(C=0.1, solution="average", max_iter=10, random_state=0)
    >>> round(model.fit(scale(X), y).score(scale(X), y), 3)
    0.989
    """

    _parameters = PASSIVE_AGGRESSIVE
    _rule = RULES["pa"]

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        solution: str = "last",
        average_decay: float = 0.0,
        order: str = "each",
        fit_intercept: bool = True,
        intercept_step: float | str = 1.0,
        multi_class: str = "argmax",
        max_iter: int = 10,
        measure: bool = False,
        early_stopping: bool = False,
        calibrate: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            solution=solution,
            average_decay=average_decay,
            order=order,
            fit_intercept=fit_intercept,
            intercept_step=intercept_step,
            multi_class=multi_class,
            max_iter=max_iter,
            measure=measure,
            early_stopping=early_stopping,
            calibrate=calibrate,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.C = C
        self.loss = loss


class ALMA(LinearClassifier):
    """Learn towards the largest margin, by corrections that shrink with the root of their number.

    Gentile (2001), "A new approximate maximal margin classification algorithm", JMLR 2, for p = 2.
    Every row counts as if it had length 1. On separable rows, with the default B and C, it ends
    with a margin of at least (1 - alpha) of the largest. k grows by 1 with every correction, as in
    the paper (LIBOL's manual prints another rule). The weight of a row multiplies its step.

    Parameters
    ----------
    alpha : float, default=0.9
        How much of the largest margin may be missing: from 0 (excluded) to 1.
    B, C : float or None, default=None
        The constants of the paper; √8/alpha and √2 unless given.
    solution, average_decay, order, fit_intercept, intercept_step, multi_class, max_iter : optional
        As for ``Perceptron``, but no votes; ten epochs at most unless told.
    measure, early_stopping, calibrate, validation_fraction, n_iter_no_change : optional
        As for ``Perceptron``.
    class_weight, warm_start, n_jobs, random_state, verbose : optional
        As for ``Perceptron``.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_mistakes_, stop_reason_, history_
        As for ``Perceptron``; every update counts as a mistake, also one for a small margin.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ALMA(random_state=0).fit(X, y == 0)
    >>> model.score(X, y == 0)
    1.0
    """

    _parameters = ALMA_PARAMETERS
    _rule = RULES["alma"]

    def __init__(
        self,
        alpha: float = 0.9,
        *,
        B: float | None = None,
        C: float | None = None,
        solution: str = "last",
        average_decay: float = 0.0,
        order: str = "each",
        fit_intercept: bool = True,
        intercept_step: float | str = 1.0,
        multi_class: str = "argmax",
        max_iter: int = 10,
        measure: bool = False,
        early_stopping: bool = False,
        calibrate: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            solution=solution,
            average_decay=average_decay,
            order=order,
            fit_intercept=fit_intercept,
            intercept_step=intercept_step,
            multi_class=multi_class,
            max_iter=max_iter,
            measure=measure,
            early_stopping=early_stopping,
            calibrate=calibrate,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.alpha = alpha
        self.B = B
        self.C = C


class ROMMA(LinearClassifier):
    """Learn the shortest weights that mend the last row and keep to all that was learnt before.

    Li & Long (2002), "The relaxed online maximum margin algorithm", Machine Learning 46. From zero
    it makes at most (R/γ)² mistakes, as the perceptron, and usually fewer; on noise, which no
    weights satisfy, they only grow. A constraint cannot weigh more than another: of weights of rows
    only 0 matters, with which a row is never seen.

    Parameters
    ----------
    aggressive : bool, default=True
        Whether rows of a margin below 1 are learnt from, and not only mistakes.
    solution, average_decay, order, fit_intercept, intercept_step, multi_class, max_iter : optional
        As for ``Perceptron``, but no votes; ten epochs at most unless told.
    measure, early_stopping, calibrate, validation_fraction, n_iter_no_change : optional
        As for ``Perceptron``.
    class_weight, warm_start, n_jobs, random_state, verbose : optional
        As for ``Perceptron``.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_mistakes_, stop_reason_, history_
        As for ``Perceptron``; every update counts as a mistake, also one for a small margin.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ROMMA(random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    _parameters = ROMMA_PARAMETERS
    _rule = RULES["romma"]

    def __init__(
        self,
        aggressive: bool = True,
        *,
        solution: str = "last",
        average_decay: float = 0.0,
        order: str = "each",
        fit_intercept: bool = True,
        intercept_step: float | str = 1.0,
        multi_class: str = "argmax",
        max_iter: int = 10,
        measure: bool = False,
        early_stopping: bool = False,
        calibrate: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            solution=solution,
            average_decay=average_decay,
            order=order,
            fit_intercept=fit_intercept,
            intercept_step=intercept_step,
            multi_class=multi_class,
            max_iter=max_iter,
            measure=measure,
            early_stopping=early_stopping,
            calibrate=calibrate,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.aggressive = aggressive


class SecondOrderPerceptron(LinearClassifier):
    """Learn as the perceptron does, on data whose correlations were taken out as they were met.

    Cesa-Bianchi, Conconi & Gentile (2005), "A second-order perceptron algorithm", SIAM Journal on
    Computing 34(3): the weights are A⁻¹v, v the sum of y·x and A that of x·xᵀ over all mistakes. A
    row of weight 2 is added twice to both.

    Parameters
    ----------
    a : float, default=1.0
        What A begins with on its diagonal: the larger, the more it is a perceptron.
    matrix : {"auto", "full", "diagonal"}, default="auto"
        Whether to keep the whole of A or its diagonal; "auto" is "full" for two classes and up to
        100 columns.
    solution, average_decay, order, fit_intercept, intercept_step, multi_class, max_iter : optional
        As for ``Perceptron``, but no votes; ten epochs at most unless
        told. With the whole matrix more classes are one-vs-rest.
    measure, early_stopping, calibrate, validation_fraction, n_iter_no_change : optional
        As for ``Perceptron``.
    class_weight, warm_start, n_jobs, random_state, verbose : optional
        As for ``Perceptron``.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_mistakes_, stop_reason_, history_
        As for ``Perceptron``; every update counts as a mistake, also one for a small margin.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SecondOrderPerceptron(max_iter=5, random_state=0).fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3)
    0.979
    """

    _parameters = SECOND_ORDER
    _rule = RULES["second-order"]

    def __init__(
        self,
        a: float = 1.0,
        *,
        matrix: str = "auto",
        solution: str = "last",
        average_decay: float = 0.0,
        order: str = "each",
        fit_intercept: bool = True,
        intercept_step: float | str = 1.0,
        multi_class: str = "argmax",
        max_iter: int = 10,
        measure: bool = False,
        early_stopping: bool = False,
        calibrate: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            solution=solution,
            average_decay=average_decay,
            order=order,
            fit_intercept=fit_intercept,
            intercept_step=intercept_step,
            multi_class=multi_class,
            max_iter=max_iter,
            measure=measure,
            early_stopping=early_stopping,
            calibrate=calibrate,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.a = a
        self.matrix = matrix


class AROW(LinearClassifier):
    """Learn with a confidence in every weight: rare columns move far, frequent ones little.

    Crammer, Kulesza & Dredze (2009), "Adaptive regularization of weight vectors", NIPS, with the
    diagonal of Σ. The weight of a row divides r.

    Parameters
    ----------
    r : float, default=1.0
        How slowly confidence grows: larger is calmer.
    solution, average_decay, order, fit_intercept, intercept_step, multi_class, max_iter : optional
        As for ``Perceptron``, but no votes; ten epochs at most unless told.
    measure, early_stopping, calibrate, validation_fraction, n_iter_no_change : optional
        As for ``Perceptron``.
    class_weight, warm_start, n_jobs, random_state, verbose : optional
        As for ``Perceptron``.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_mistakes_, stop_reason_, history_
        As for ``Perceptron``; every update counts as a mistake, also one for a small margin.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(AROW(max_iter=1, random_state=0).fit(scale(X), y).score(scale(X), y), 3)
    0.989
    """

    _parameters = AROW_PARAMETERS
    _rule = RULES["arow"]

    def __init__(
        self,
        r: float = 1.0,
        *,
        solution: str = "last",
        average_decay: float = 0.0,
        order: str = "each",
        fit_intercept: bool = True,
        intercept_step: float | str = 1.0,
        multi_class: str = "argmax",
        max_iter: int = 10,
        measure: bool = False,
        early_stopping: bool = False,
        calibrate: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            solution=solution,
            average_decay=average_decay,
            order=order,
            fit_intercept=fit_intercept,
            intercept_step=intercept_step,
            multi_class=multi_class,
            max_iter=max_iter,
            measure=measure,
            early_stopping=early_stopping,
            calibrate=calibrate,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.r = r


class SCW(LinearClassifier):
    """Learn so that each row is right with a given confidence, softly.

    Wang, Zhao & Hoi (2012), "Exact soft confidence-weighted learning", ICML, with the diagonal of
    Σ. The weight of a row multiplies C.

    Parameters
    ----------
    C : float, default=1.0
        How much a row may matter: smaller is calmer.
    confidence : float, default=0.75
        η, the probability with which a row is to be right: from ½ to 1, both excluded.
    variant : {"I", "II"}, default="I"
        SCW-I or SCW-II, whose loss is squared.
    solution, average_decay, order, fit_intercept, intercept_step, multi_class, max_iter : optional
        As for ``Perceptron``, but no votes; ten epochs at most unless told.
    measure, early_stopping, calibrate, validation_fraction, n_iter_no_change : optional
        As for ``Perceptron``.
    class_weight, warm_start, n_jobs, random_state, verbose : optional
        As for ``Perceptron``.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_mistakes_, stop_reason_, history_
        As for ``Perceptron``; every update counts as a mistake, also one for a small margin.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(SCW(max_iter=1, random_state=0).fit(scale(X), y).score(scale(X), y), 3)
    0.979
    """

    _parameters = SCW_PARAMETERS
    _rule = RULES["scw"]

    def __init__(
        self,
        C: float = 1.0,
        *,
        confidence: float = 0.75,
        variant: str = "I",
        solution: str = "last",
        average_decay: float = 0.0,
        order: str = "each",
        fit_intercept: bool = True,
        intercept_step: float | str = 1.0,
        multi_class: str = "argmax",
        max_iter: int = 10,
        measure: bool = False,
        early_stopping: bool = False,
        calibrate: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            solution=solution,
            average_decay=average_decay,
            order=order,
            fit_intercept=fit_intercept,
            intercept_step=intercept_step,
            multi_class=multi_class,
            max_iter=max_iter,
            measure=measure,
            early_stopping=early_stopping,
            calibrate=calibrate,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.C = C
        self.confidence = confidence
        self.variant = variant
