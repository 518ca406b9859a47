"""The kernel perceptron as a learner: kernel values, a state, and the parameters in use."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ..data.rows import Array
from ..data.targets import choose_class
from ..data.weights import rows_that_count
from ..learners.base import Learner
from ..parameters import SIGN_OF_ZERO, ParameterError, check_signs, finite_number
from ..storage.model import Model
from ..training.history import Checkpoint, Count, Epoch, History
from ..training.rules import PERCEPTRON
from ..training.run import Run
from .budget import BudgetedTask
from .device import DeviceScorer, DeviceTask, is_on_gpu, match_layout, to_host, use_gpu
from .forms import AllClasses, EachClass
from .gram import ROWS_AT_ONCE, Gram, overflow_error, resolve_gamma, slice_support
from .parameters import check_parameters
from .state import DualState
from .task import DualTask
from .unbounded import GrowingTask

REFUSALS = {
    "stream": "A kernel perceptron learns from rows in memory; use partial_fit for batches.",
    "resume": "A kernel perceptron learns in one go; use partial_fit to continue it.",
    "mix": "A kernel perceptron cannot learn on a cluster: support rows cannot be averaged.",
    "step": "A kernel perceptron learns in blocks of rows, so it cannot stop at each update.",
    "add_class": "A kernel perceptron knows its classes from the first row on; train a new one.",
}
Progress = Callable[[int, float, str], None]
"""Receives the epoch, the share of it that is done, and a text."""


class DualExamples(NamedTuple):
    """Rows or a Gram matrix, the number of each row's class, and row weights or None."""

    X: Any
    codes: Array
    weights: Array | None


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
    refusals: ClassVar[Mapping[str, str]] = REFUSALS
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
        check_signs(parameters, len(classes), not is_joint(parameters, classes))
        kernel = parameters["kernel"]
        gamma = resolve_gamma(parameters["gamma"], kernel, X)
        gram = Gram(kernel, parameters["degree"], gamma, parameters["coef0"])
        outputs = 1 if len(classes) == 2 else len(classes)
        layout = to_host(X[:0]) if is_on_gpu(X) else X
        state = DualState.empty(outputs, gram.pick(layout, np.zeros(0, np.int64)))
        step = bias_step(parameters, gram, X, counting)
        begun = fixed_parameters(parameters, classes)
        return cls(parameters, classes, state, gram, step, X.shape[1], begun)

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the learner of a model file."""
        given, facts = model.parameters, model.facts
        for name in ("gamma", "intercept_step"):
            if not finite_number(facts.get(name)):
                raise ValueError(f"its {name} is not a finite number")
        (state,) = model.states
        gram = Gram(given["kernel"], given["degree"], float(facts["gamma"]), given["coef0"])
        begun = fixed_parameters(given, model.classes)
        if (facts.get("together") is True) != begun["together"]:
            raise ValueError("its multi_class is not that of its coefficients")
        if (given["kernel"] == "precomputed") != (state.support.ndim == 1):
            raise ValueError("its kernel is not that of its support")
        step, width = float(facts["intercept_step"]), facts["width"]
        learner = cls(given, model.classes, state, gram, step, width, begun, model.features)
        learner.check_begun()
        return learner

    def own_facts(self) -> dict[str, Any]:
        """Return the numbers that the parameters were resolved to."""
        return {
            "intercept_step": self.intercept_step,
            "gamma": self.gram.gamma,
            "together": self.together,
            "width": self.width,
        }

    def to_model(
        self,
        facts: Mapping[str, Any],
        history: Sequence[Epoch] = (),
        checkpoint: Checkpoint | None = None,
    ) -> Model:
        """Build the model to save; refuse a kernel function, and parameters that have changed."""
        if callable(self.parameters["kernel"]):
            raise ValueError(
                "A model file holds numbers and no code, so a kernel function cannot be saved; use "
                'a kernel by name or "precomputed".'
            )
        self.check_begun()
        return super().to_model(facts, history, checkpoint)

    @property
    def together(self) -> bool:
        """Whether all classes are one problem."""
        return bool(self.begun["together"])

    @property
    def states(self) -> list[DualState]:
        """The state, as a list of one."""
        return [self.state]

    def check_begun(self) -> None:
        """Refuse parameters other than those that the model was begun with."""
        state, budget = self.state, self.parameters["budget"]
        size = len(state.numbers)
        squared = 0 if budget is None else size
        fitting = fixed_parameters(self.parameters, self.classes) == self.begun
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

    def task(self, examples: DualExamples) -> DualTask:
        """Return the task of learning from examples, which starts from the state as it is."""
        X = match_layout(self.state.support, examples.X)
        codes, weights = examples.codes.astype(np.intp), examples.weights
        form: EachClass | AllClasses
        if self.together:
            form = AllClasses(codes, weights)
        else:
            problems = PERCEPTRON.problems(len(self.classes), self.parameters["multi_class"])
            form = EachClass(codes, weights, np.array(problems))
        given: dict[str, Any] = {
            "gram": self.gram,
            "X": X,
            "row_order": rows_that_count(codes, weights),
            "form": form,
            "settings": PERCEPTRON.settings(self.parameters, self.intercept_step),
            "begun": self.state,
            "cache_bytes": self.cache_bytes,
        }
        budget, on_gpu = self.parameters["budget"], runs_on_gpu(self.parameters, X)
        if budget is None:
            return (DeviceTask if on_gpu else GrowingTask)(**given)
        if on_gpu:
            raise ParameterError(
                'A budget is kept on the CPU only; use device="cpu" or leave budget out.',
                code="budget-device",
            )
        return BudgetedTask(**given, budget=budget)

    def start(self, examples: DualExamples, order: str, epochs: int, seed: int) -> Run:
        """Return a run over examples, to step through block by block."""
        task = self.task(examples)
        return Run.single(task, task.state, History(epochs), order=order, seed=seed)

    def fit(
        self,
        examples: DualExamples,
        order: str,
        epochs: int,
        seed: int,
        progress: Progress | None = None,
    ) -> History:
        """Train from the state as it is; after an error the model is what it was."""
        with self.training(examples, order, epochs, seed) as run:
            for _, learnt in run.updates():
                task: Any = run.part.task(0)
                if progress is not None:
                    text = f"{task.state.mistakes:,} mistakes, {task.size:,} support rows"
                    progress(run.epoch, learnt.position / max(len(task.row_order), 1), text)
        return run.problems[0].history

    @contextmanager
    def training(self, examples: DualExamples, order: str, epochs: int, seed: int) -> Iterator[Run]:
        """A context with a run whose state is kept if it ends without an error."""
        card = use_gpu() if runs_on_gpu(self.parameters, examples.X) else nullcontext()
        with card, np.errstate(over="ignore", invalid="ignore"):
            run = self.start(examples, order, epochs, seed)
            yield run
            (state,) = run.outcomes
        self.state = replace(state, given=state.given + examples.X.shape[0])

    def learn(self, examples: DualExamples, wrong: Array | None = None) -> Count:
        """Learn from examples once, in their order; after an error nothing has changed.

        ``wrong``, one flag per example, is set where the prediction before learning was wrong.
        """
        count = Count()
        with self.training(examples, "fixed", epochs=1, seed=0) as run:
            for order, learnt in run.updates():
                count.tally(learnt)
                if wrong is not None:
                    mistaken = learnt.updates["margin"] <= 0
                    wrong[order[learnt.updates["position"][mistaken]]] = True
        return count

    # Predicting

    @property
    def cache_bytes(self) -> float:
        """The memory for kernel values."""
        return float(self.parameters["cache_size"]) * 2**20

    def coefficients(self) -> tuple[Array, Array]:
        """Return the coefficients and biases to predict with, one line per output."""
        given, average = self.parameters, self.parameters["solution"] == "average"
        check_parameters(given)
        if given["normalize"]:
            self.require_updates()
            return self.state.normalize(average, self.together)
        return self.state.coefficients(average)

    def require_updates(self) -> None:
        """Refuse what needs every mistake after a fit that did not keep them."""
        if len(self.state.updates.rows) < self.state.mistakes:
            raise ValueError(
                "Votes and norms need every mistake there was, and this model was fitted with a "
                "budget; fit it with budget=None."
            )

    def score_matrix(self, X: Any) -> Array:
        """Score rows: activations or shares of votes, with a column per class if over two."""
        X = match_layout(self.state.support, X)
        if runs_on_gpu(self.parameters, X):
            scores = self.scores_on_gpu(X)
        else:
            at_once = self.rows_at_once()
            starts = range(0, X.shape[0], at_once)
            scores = np.concatenate([self.block_scores(X[i : i + at_once]) for i in starts])
        finite = np.isfinite(scores).reshape(len(scores), -1).all(axis=1)
        if not finite.all():
            raise overflow_error(int(np.argmin(finite)))
        return scores.ravel() if len(self.classes) == 2 else scores

    def rows_at_once(self) -> int:
        """Return how many rows to score at once; votes need their values with the whole support."""
        if self.parameters["solution"] != "vote":
            return ROWS_AT_ONCE
        room = self.cache_bytes / (24 * max(len(self.state.numbers), 1))
        return min(ROWS_AT_ONCE, max(int(room), 1))

    def block_scores(self, rows: Any) -> Array:
        """Return the score of every output for some rows."""
        state, gram = self.state, self.gram
        slices = slice_support(len(state.numbers), self.width, self.cache_bytes)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.parameters["solution"] == "vote":
                self.check_votes()
                blocks = [gram(state.support[part], rows) for part in slices]
                products = np.concatenate([np.empty((0, rows.shape[0])), *blocks])
                return state.votes(products, self.together, self.sign_of_zero)
            coef, bias = self.coefficients()
            scores = np.zeros((len(bias), rows.shape[0]))
            for part in slices:
                scores += coef[:, part] @ gram(state.support[part], rows)
            return np.asarray(scores.T + bias)

    def scores_on_gpu(self, X: Any) -> Array:
        """Return the score of every output for all rows."""
        with use_gpu(), np.errstate(over="ignore", invalid="ignore"):
            scorer = DeviceScorer(self.gram, self.state)
            if self.parameters["solution"] == "vote":
                self.check_votes()
                return scorer.votes(X, self.together, self.sign_of_zero)
            return scorer.scores(X, *self.coefficients())

    def check_votes(self) -> None:
        """Refuse to vote with parameters or a state that cannot."""
        check_parameters(self.parameters)
        self.require_updates()

    @property
    def sign_of_zero(self) -> float:
        """What an activation of exactly 0 counts as."""
        return SIGN_OF_ZERO[self.parameters["ties"]]

    def choose(self, scores: Array) -> Array:
        """Return the class numbers that scores decide for."""
        return choose_class(scores, self.parameters["ties"])

    def predictor(self) -> Self:
        """Return a copy that predicts the same and that learning does not change.

        Learning replaces the state and never changes it in place.
        """
        return replace(self)


def is_joint(parameters: Mapping[str, Any], classes: Array) -> bool:
    """Whether all classes are one problem."""
    return PERCEPTRON.problems(len(classes), parameters["multi_class"]) == [None]


def runs_on_gpu(parameters: Mapping[str, Any], X: Any) -> bool:
    """Whether to learn from X, or score it, on a GPU."""
    device = parameters["device"]
    return device == "cuda" or (device is None and is_on_gpu(X))


def fixed_parameters(parameters: Mapping[str, Any], classes: Array) -> dict[str, Any]:
    """Return the parameters that must not change after the first row."""
    names = ("kernel", "degree", "gamma", "coef0")
    kept = {name: parameters[name] for name in names}
    budgeted = parameters["budget"] is not None
    return kept | {"budgeted": budgeted, "together": is_joint(parameters, classes)}


def bias_step(parameters: Mapping[str, Any], gram: Gram, X: Any, counting: Array) -> float:
    """Return how far an update of size 1 moves the bias."""
    step = parameters["intercept_step"]
    if step == "radius":
        starts = range(0, len(counting), ROWS_AT_ONCE)
        step = max(float(gram.diagonal(X, counting[i : i + ROWS_AT_ONCE]).max()) for i in starts)
    return float(step) if parameters["fit_intercept"] else 0.0
