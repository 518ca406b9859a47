"""The kernel perceptron as a learner: kernel values, a state, and the parameters in use."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..data.rows import Array
from ..data.targets import choose_class
from ..learners.base import Learner
from ..parameters import (
    SIGN_OF_ZERO,
    ParameterError,
    check_parameters,
    check_signs,
    finite_number,
)
from ..storage.model import Model
from ..training.rules import PERCEPTRON
from ..training.state import require
from ..training.training import Training
from . import device
from .budget import BudgetedTask
from .gram import (
    MOST_BYTES,
    ROWS_AT_ONCE,
    Gram,
    as_dense,
    overflow_error,
    resolve_gamma,
    slice_support,
)
from .kernels import cpu
from .parameters import CONFLICTS, PARAMETERS
from .state import DualState
from .task import DualTask

LASTING = ("kernel", "degree", "gamma", "coef0", "multi_class")  # parameters that cannot change


@dataclass
class DualLearner(Learner):
    """A kernel perceptron without scikit-learn.

    Attributes
    ----------
    parameters : dict
        Those of the estimator, as they are now.
    classes : ndarray
        The labels, sorted.
    state : DualState
        The support rows and their coefficients.
    gram : Gram
        Computes kernel values.
    intercept_step : float
        How far an update of size 1 moves the bias.
    width : int
        The number of columns of X.
    begun : dict
        The parameters that must not change while the model learns.
    features : dict
        The names of the columns, if they have names.
    """

    kind: ClassVar[str] = "dual"
    state_types = dict.fromkeys(("last", "average", "vote"), DualState)
    estimator: ClassVar[str] = "KernelPerceptron"
    refusals: ClassVar[Mapping[str, str]] = {
        "learn": "A kernel perceptron learns from rows in memory; use partial_fit for batches.",
        "stream": "A kernel perceptron learns from rows in memory; use partial_fit for batches.",
        "step": "A kernel perceptron learns in blocks of rows, so it cannot stop at each update.",
        "add_class": "A kernel perceptron knows its classes from the first row on; train another.",
    }
    parameters: Mapping[str, Any]
    classes: Array
    state: DualState
    gram: Gram
    intercept_step: float
    width: int
    begun: Mapping[str, Any]
    features: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def begin(cls, parameters: Mapping[str, Any], classes: Array, X: Any, counting: Array) -> Self:
        """Make an untrained model for rows like X; ``counting`` numbers those with a weight."""
        joint = PERCEPTRON.problems(len(classes), parameters["multi_class"]) == [None]
        check_signs(parameters, len(classes), not joint)
        gamma = resolve_gamma(parameters["gamma"], parameters["kernel"], X)
        gram = Gram(parameters["kernel"], parameters["degree"], gamma, parameters["coef0"])
        outputs = 1 if len(classes) == 2 else len(classes)
        layout = device.to_host(X[:0]) if device.is_on_gpu(X) else X
        state = DualState.empty(outputs, gram.pick(layout, np.zeros(0, np.int64)))
        step = bias_step(parameters, gram, X, counting)
        return cls(parameters, classes, state, gram, step, X.shape[1], dict(parameters))

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the learner of a model file."""
        given, facts, (state,) = model.parameters, model.facts, model.states
        for name in ("gamma", "intercept_step"):
            require(finite_number(facts[name]), f"its {name} is not a finite number")
        columns = (given["kernel"] == "precomputed") == (state.support.ndim == 1)
        require(columns, "its kernel is not that of its support")
        gram = Gram(given["kernel"], given["degree"], float(facts["gamma"]), given["coef0"])
        step, width = float(facts["intercept_step"]), facts["width"]
        learner = cls(given, model.classes, state, gram, step, width, dict(given), model.features)
        learner.check_begun()
        return learner

    def own_facts(self) -> dict[str, Any]:
        """Return what parameters were resolved to; refuse others than those of the start."""
        self.check_begun()
        numbers = {"intercept_step": self.intercept_step, "gamma": self.gram.gamma}
        return {**numbers, "width": self.width}

    @property
    def together(self) -> bool:
        """Whether all classes are one problem."""
        return PERCEPTRON.problems(len(self.classes), self.begun["multi_class"]) == [None]

    @property
    def states(self) -> list[DualState]:
        """The state, as a list of one."""
        return [self.state]

    def check_begun(self) -> None:
        """Refuse parameters other than those that the model was begun with."""
        state, budget = self.state, self.parameters["budget"]
        size = len(state.numbers)
        squared = 0 if budget is None else size
        fitting = all(self.parameters[name] == self.begun[name] for name in LASTING)
        fitting &= (budget is None) == (self.begun["budget"] is None)
        fitting &= size <= (budget or size) and state.matrix.shape == (squared, squared)
        if not fitting:
            raise ValueError(
                "A model cannot continue or be saved with another kernel, degree, gamma, coef0, "
                "multi_class or budget than it was begun with; set them back or use a new model."
            )

    def with_parameters(self, parameters: Mapping[str, Any]) -> Self:
        """Return the same model with other parameters, to learn from more batches."""
        step = float(parameters["intercept_step"]) if parameters["fit_intercept"] else 0.0
        learner = replace(self, parameters=parameters, intercept_step=step)
        learner.check_begun()
        return learner

    # Learning

    def fit(
        self,
        order: str,
        max_iter: int,
        seed: int,
        progress: Callable[[int, float, str], None] | None,
        X: Any,
        codes: Array,
        weights: Array | None,
    ) -> Training:
        """Train from the state as it is; after an error the model is what it was.

        ``progress`` receives the epoch, the share of it that is done, and a text.
        """
        X, on_gpu = device.match_layout(self.state.support, X), runs_on_gpu(self.parameters, X)
        kind = device.DeviceTask if on_gpu else DualTask
        if self.parameters["budget"] is not None:
            kind = BudgetedTask
            if on_gpu:
                raise ParameterError(
                    'A budget is kept on the CPU only; use device="cpu" or leave budget out.',
                    code="budget-device",
                )
        weights = np.ones(len(codes)) if weights is None else weights
        with self.computing(X):
            task: Any = kind(self, X, codes.astype(np.intp), weights)
            run = Training.of(task, task.state, max_iter=max_iter, order=order, seed=seed)
            for _, learnt in run.updates():
                if progress is not None:
                    text = f"{task.state.mistakes:,} mistakes, {task.support.count:,} support rows"
                    progress(run.epoch, learnt.position / max(len(task.row_order), 1), text)
            state = task.make_state()
        self.state = replace(state, given=state.given + len(codes))
        return run

    @contextmanager
    def computing(self, X: Any) -> Iterator[None]:
        """A context for kernel values of X, here or on a GPU."""
        card = device.use_gpu() if runs_on_gpu(self.parameters, X) else nullcontext()
        with card, np.errstate(over="ignore", invalid="ignore"):
            yield

    # Predicting

    def coefficients(self) -> tuple[Array, Array]:
        """Return the coefficients and biases to predict with, one line per output."""
        self.check_parameters()
        return self.state.coefficients(self.parameters["solution"] == "average")

    def check_parameters(self) -> None:
        """Refuse parameters that were changed to what does not go together."""
        check_parameters(self.parameters, PARAMETERS, conflicts=CONFLICTS)

    def score_matrix(self, X: Any) -> Array:
        """Score rows: activations or shares of votes, with a column per class if over two."""
        self.check_parameters()
        state, voting = self.state, self.parameters["solution"] == "vote"
        size = len(state.numbers)
        X, on_gpu = device.match_layout(state.support, X), runs_on_gpu(self.parameters, X)
        sign, vote = SIGN_OF_ZERO[self.parameters["ties"]], cpu.vote
        require(
            not voting or len(state.moves) == state.mistakes,
            "Votes need every mistake, and this model was fitted with a budget; use budget=None.",
        )
        xp, most, cells = np, ROWS_AT_ONCE, MOST_BYTES / 24 if voting else np.inf
        with self.computing(X):
            support, slices = state.support, slice_support(size, self.width)
            if on_gpu:
                xp, most, cells = device.get_array_module(), device.GPU_ROWS, device.GPU_BYTES / 8
                support, slices = xp.asarray(as_dense(support)), [slice(size)]
                vote = device.vote_on_gpu
            if not voting:
                coef, bias = map(xp.asarray, self.coefficients())
            at_once = int(min(most, max(cells // max(size, 1), 1)))
            parts = [np.empty((0, len(state.bias)))]
            for begin in range(0, X.shape[0], at_once):
                rows = X[begin : begin + at_once]
                rows = device.rows_as_there(rows) if on_gpu else rows
                blocks = (self.gram(support[part], rows) for part in slices)
                if voting:
                    products = xp.concatenate([xp.empty((0, rows.shape[0])), *blocks])
                    found = state.votes(products, self.together, sign, xp, vote)
                else:
                    found = xp.zeros((len(bias), rows.shape[0]))
                    for part, values in zip(slices, blocks, strict=True):
                        found += coef[:, part] @ values
                    found += bias[:, None]
                parts.append(device.to_host(found.T))
        scores = np.concatenate(parts)
        finite = np.isfinite(scores).all(axis=1)
        if not finite.all():
            raise overflow_error(int(np.argmin(finite)))
        return scores.ravel() if len(self.classes) == 2 else scores

    def choose(self, scores: Array) -> Array:
        """Return the class numbers that scores decide for."""
        return choose_class(scores, self.parameters["ties"])


def runs_on_gpu(parameters: Mapping[str, Any], X: Any) -> bool:
    """Whether to learn from X, or score it, on a GPU."""
    where = parameters["device"]
    return where == "cuda" or (where is None and device.is_on_gpu(X))


def bias_step(parameters: Mapping[str, Any], gram: Gram, X: Any, counting: Array) -> float:
    """Return how far an update of size 1 moves the bias."""
    step = parameters["intercept_step"]
    if step == "radius":
        starts = range(0, len(counting), ROWS_AT_ONCE)
        step = max(float(gram.diagonal(X, counting[i : i + ROWS_AT_ONCE]).max()) for i in starts)
    return float(step) if parameters["fit_intercept"] else 0.0
