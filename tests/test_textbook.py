"""Five textbook documents against the engine: same weights, same mistakes, same epochs.

Each document's pseudocode stands here in plain NumPy, with its own letters. Weights are compared
bit for bit: the engine rounds an update as NumPy does, and the same rows are mistaken.
"""

from itertools import count, repeat

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from rosenblatt import Perceptron, losses, steps
from rosenblatt.kernels.algebra import shuffle

ENOUGH = 100_000  # epochs, for runs that end by themselves
SETOSA, VERSICOLOR, VIRGINICA = range(3)


def iris(negative, positive):
    X, y = load_iris(return_X_y=True)
    pair = (y == negative) | (y == positive)
    return X[pair], np.where(y[pair] == positive, 1, -1)


def separable(draw, seed):
    """Rows on both sides of a random plane through the origin, none of them near it."""
    random = np.random.default_rng(seed)
    X, plane = draw(random, (200, 5)), draw(random, 5)
    activations = X @ plane
    clear = np.abs(activations) > 0.1 * np.linalg.norm(plane)
    return X[clear], np.where(activations[clear] > 0, 1, -1)


def gaussian(random, shape):
    return random.normal(size=shape)


def integers(random, shape):
    return random.integers(-3, 4, shape).astype(float)  # many activations are exactly 0


SEPARABLE = {
    "setosa-versicolor": iris(SETOSA, VERSICOLOR),
    "setosa-virginica": iris(SETOSA, VIRGINICA),
    "gaussian": separable(gaussian, seed=1),
    "integers": separable(integers, seed=2),
}
ALL = SEPARABLE | {"versicolor-virginica": iris(VERSICOLOR, VIRGINICA)}

on_separable = pytest.mark.parametrize(("X", "y"), SEPARABLE.values(), ids=SEPARABLE)
on_all = pytest.mark.parametrize(("X", "y"), ALL.values(), ids=ALL)
in_both_layouts = pytest.mark.parametrize("layout", [np.asarray, csr_array], ids=["dense", "csr"])


def permutation(n, seed, number):
    """The engine's permutation of n rows: number 0 for order="once", the epoch for "each"."""
    order = np.arange(n, dtype=np.uint32)
    shuffle(order, seed, number)
    return order


def sgn(a, of_zero=1):
    return np.where(a == 0, of_zero, np.sign(a))


def with_one(X):
    return np.column_stack([X, np.ones(len(X))])


# Document 000: lecture notes with the loss J.


def document_000(X, y, w, eta, orders):
    """Go through the rows at random, then count what is still wrong; stop when nothing is."""
    X = with_one(X)
    mistakes, losses = 0, []
    for order in orders:
        for i in order:
            if sgn(w @ X[i]) != y[i]:
                w = w + eta * y[i] * X[i]
                mistakes += 1
        a = X @ w
        M = sgn(a) != y
        losses.append((np.sum(-y[M] * sgn(a[M])), np.sum(-y[M] * a[M])))
        if not M.any():
            break
    return w, mistakes, losses


@in_both_layouts
@on_separable
@pytest.mark.parametrize("eta", [1.0, 0.125])
@pytest.mark.parametrize("near_zero", [0.0, 1e-3])
def test_document_000(X, y, layout, eta, near_zero):
    start = near_zero * np.random.default_rng(0).normal(size=X.shape[1] + 1)
    orders = (permutation(len(X), 7, epoch) for epoch in count(1))
    w, mistakes, losses = document_000(X, y, start, eta, orders)
    model = Perceptron(
        ties="positive", measure=True, eta0=eta, order="each", random_state=7, max_iter=ENOUGH
    ).fit(layout(X), y, coef_init=start[:-1], intercept_init=start[-1])
    assert np.array_equal(np.append(model.coef_, model.intercept_), w)
    assert (model.n_mistakes_, model.n_iter_) == (mistakes, len(losses))
    J1, J = zip(*losses, strict=True)
    assert [epoch.errors for epoch in model.history_] == list(J1)
    assert [epoch.loss for epoch in model.history_] == pytest.approx(J, rel=1e-9)
    assert model.stop_reason_ == "separated"
    assert np.array_equal(model.predict(layout(X)), y)


@on_all
@pytest.mark.parametrize("ties", ["positive", "mistake"])
def test_document_000_losses_of_a_given_line(X, y, ties):
    """J₁, J and its gradient for any w, where no training has led; some rows on the boundary."""
    w = np.random.default_rng(0).integers(-2, 3, X.shape[1]).astype(float)
    b = -(X[0] @ w)
    a = X @ w + b
    M = (sgn(a) != y) if ties == "positive" else (y * a <= 0)
    found = losses(X, y, w, b, ties=ties)
    assert found.errors == M.sum() == len(found.rows)
    assert np.array_equal(found.rows, np.flatnonzero(M))
    assert found.loss == pytest.approx(np.sum(-y[M] * a[M]))
    gradient = -(y[M] @ with_one(X)[M])
    assert np.append(found.gradient, found.bias_gradient) == pytest.approx(gradient)
    assert found.training_error == np.mean(y * a <= 0)
    batch = Perceptron(order="batch", ties=ties, eta0=0.5, max_iter=1)
    batch.fit(X, y, coef_init=w, intercept_init=b)
    moved = np.append(batch.coef_[0] - w, batch.intercept_ - b)
    assert moved == pytest.approx(-0.5 * gradient)


def test_document_000_losses_of_a_fitted_model():
    X, y = ALL["versicolor-virginica"]
    model = Perceptron(ties="positive", measure=True, max_iter=3).fit(X, y)
    found = losses(X, y, model)
    assert found.errors == model.history_[-1].errors
    assert found.loss == pytest.approx(model.history_[-1].loss)
    assert np.array_equal(found.rows, np.flatnonzero(model.predict(X) != y))
    with pytest.raises(ValueError, match="ties must be one of"):
        losses(X, y, model.coef_, ties="none")


def test_document_000_puts_the_boundary_on_the_positive_side():
    X, y = np.array([[1.0], [-1.0]]), [1, -1]
    model = Perceptron(ties="positive", order="fixed", fit_intercept=False).fit(X, y)
    assert model.n_mistakes_ == 1  # at zero weights only the negative row is wrong
    assert model.predict([[0.0]]) == 1


# Document 001: threshold form.


def document_001(X, y, h, w):
    """Find a mistake, add y·x, repeat; each search starts at the first row."""
    searches = 1
    while len(mistaken := np.flatnonzero(h(X, w) != y)):
        i = mistaken[0]
        w = w + y[i] * X[i]
        searches += 1
    return w, searches


@in_both_layouts
@on_separable
@pytest.mark.parametrize("theta", [0.0, 0.75, -2.5])
def test_document_001_with_a_fixed_threshold(X, y, layout, theta):
    def h(X, w):
        return np.where(X @ w > theta, 1, -1)

    w, searches = document_001(X, y, h, np.zeros(X.shape[1]))
    model = Perceptron(ties="negative", order="first", intercept_step=0, max_iter=ENOUGH)
    model.fit(layout(X), y, intercept_init=-theta)
    assert np.array_equal(model.coef_[0], w)
    assert model.intercept_ == -theta
    assert (model.n_mistakes_, model.n_iter_) == (searches - 1, searches)


@in_both_layouts
@on_separable
@pytest.mark.parametrize("theta", [1.0, 0.75, -2.5])
@pytest.mark.parametrize("w0", [0.0, 1.0])
def test_document_001_with_a_learnt_dummy(X, y, layout, theta, w0):
    def h(X, w):
        return sgn(X @ w, of_zero=-1)

    dummy = np.column_stack([np.full(len(X), -theta), X])
    w, searches = document_001(dummy, y, h, np.append(w0, np.zeros(X.shape[1])))
    model = Perceptron(ties="negative", order="first", intercept_step=theta**2, max_iter=ENOUGH)
    model.fit(layout(X), y, intercept_init=-theta * w0)
    assert np.array_equal(model.coef_[0], w[1:])
    assert model.intercept_ == -theta * w[0]
    assert (model.n_mistakes_, model.n_iter_) == (searches - 1, searches)


@in_both_layouts
@on_separable
@pytest.mark.parametrize("threshold", [{"intercept_step": 0}, {"fit_intercept": False}])
def test_document_001_turns_the_weights_towards_positives(X, y, layout, threshold):
    updates = steps(layout(X), y, ties="negative", order="first", max_iter=ENOUGH, **threshold)
    start, *rest = updates
    assert np.isnan(start.cosine)  # zero weights have no direction
    assert start.new_cosine == pytest.approx(start.label)
    for update in rest:
        assert (update.new_cosine - update.cosine) * update.label > 0


# Document 002: primal form with R², dual form, and an example on Iris.


def document_002(X, y, eta):
    """The primal form."""
    w, b, k = np.zeros(X.shape[1]), 0.0, 0
    R2 = np.max(np.sum(X * X, axis=1))
    rounds, before = 0, None
    while k != before:
        rounds, before = rounds + 1, k
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (w @ x_i + b) <= 0:
                w = w + eta * y_i * x_i
                b = b + eta * y_i * R2
                k += 1
    return k, w, b, rounds


def document_002_dual(X, y):
    """The dual form: the rows are met only in the Gram matrix."""
    G = X @ X.T
    R2 = np.max(np.diag(G))
    alpha, b, clean = np.zeros(len(X)), 0.0, False
    while not clean:
        clean = True
        for i in range(len(X)):
            if y[i] * (np.sum(alpha * y * G[i]) + b) <= 0:
                alpha[i] += 1
                b += y[i] * R2
                clean = False
    return alpha, b


def document_002_example(X, y):
    """The example: ones to start from, a strict inequality, and a bias step without R²."""
    w, b, eta = np.ones(X.shape[1]), 1.0, 0.1
    rounds, misclassified = 0, None
    while misclassified != 0:
        rounds, misclassified = rounds + 1, 0
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (w @ x_i + b) < 0:
                w = w + eta * (x_i * y_i)
                b = b + eta * y_i
                misclassified += 1
    return w, b, rounds


@in_both_layouts
@on_separable
@pytest.mark.parametrize("eta", [1.0, 0.125])
def test_document_002(X, y, layout, eta):
    k, w, b, rounds = document_002(X, y, eta)
    model = Perceptron(order="fixed", eta0=eta, intercept_step="radius", max_iter=ENOUGH)
    model.fit(layout(X), y)
    assert np.array_equal(model.coef_[0], w)
    assert model.intercept_ == pytest.approx(b, rel=1e-12)  # R² is a sum, in another order
    assert (model.n_mistakes_, model.n_iter_) == (k, rounds)


@in_both_layouts
@on_separable
def test_document_002_dual(X, y, layout):
    alpha, b = document_002_dual(X, y)
    updates = steps(layout(X), y, order="fixed", intercept_step="radius", max_iter=ENOUGH)
    *_, last = updates = list(updates)
    times_mistaken = np.bincount([update.row for update in updates], minlength=len(X))
    assert np.array_equal(times_mistaken, alpha)
    assert last.new_bias == pytest.approx(b)
    assert last.new_weights[0] == pytest.approx((alpha * y) @ X)


@in_both_layouts
def test_document_002_example(layout):
    X, y = load_iris(return_X_y=True)
    X, y = X[:99, :2], np.where(y[:99] == 1, 1, -1)
    w, b, rounds = document_002_example(X, y)
    model = Perceptron(ties="correct", order="fixed", eta0=0.1, max_iter=ENOUGH)
    model.fit(layout(X), y, coef_init=np.ones(2), intercept_init=1)
    assert np.array_equal(model.coef_[0], w)
    assert model.intercept_ == b
    assert model.n_iter_ == rounds == 702


def test_document_002_example_without_rounding():
    """In whole numbers (x in tenths, w in hundredths) some activations are exactly 0."""
    X, y = load_iris(return_X_y=True)
    X, y = np.rint(10 * X[:99, :2]), np.where(y[:99] == 1, 1, -1)
    rounds = {
        ties: Perceptron(ties=ties, order="fixed", intercept_step=100, max_iter=ENOUGH)
        .fit(X, y, coef_init=[100, 100], intercept_init=1000)
        .n_iter_
        for ties in ("correct", "mistake")
    }
    assert rounds == {"correct": 686, "mistake": 702}


@on_separable
@pytest.mark.parametrize("eta", [1.0, 0.125])
def test_document_002_remark(X, y, eta):
    R2 = np.max(np.sum(X * X, axis=1))
    updates = steps(X, y, order="fixed", eta0=eta, intercept_step="radius", max_iter=ENOUGH)
    for update in updates:
        x, label = X[update.row], update.label
        margin = label * update.activation
        new_margin = label * (update.new_weights[0] @ x + update.new_bias[0])
        assert new_margin == pytest.approx(margin + eta * (x @ x + R2))


@on_separable
@pytest.mark.parametrize("eta", [0.125, 8.0])  # powers of two, which scale without rounding
def test_document_002_learning_rate_is_irrelevant_from_zero(X, y, eta):
    parameters = {"order": "fixed", "intercept_step": "radius", "max_iter": ENOUGH}
    one = Perceptron(**parameters).fit(X, y)
    other = Perceptron(**parameters, eta0=eta).fit(X, y)
    assert np.array_equal(other.coef_, eta * one.coef_)
    assert np.array_equal(other.intercept_, eta * one.intercept_)
    assert (other.n_mistakes_, other.n_iter_) == (one.n_mistakes_, one.n_iter_)


# Document 003: through the origin and with offset.


def document_003(X, y, T):
    """Through the origin, T passes; also the mistakes of each pass."""
    theta, mistakes = np.zeros(X.shape[1]), np.zeros(T, int)
    for t in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (theta @ x_i) <= 0:
                theta = theta + y_i * x_i
                mistakes[t] += 1
    return theta, mistakes


def document_003_offset(X, y, T):
    """With offset, T passes; the test includes the offset, which the page leaves out."""
    theta, theta_0, mistakes = np.zeros(X.shape[1]), 0.0, np.zeros(T, int)
    for t in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (theta @ x_i + theta_0) <= 0:
                theta = theta + y_i * x_i
                theta_0 = theta_0 + y_i
                mistakes[t] += 1
    return theta, theta_0, mistakes


def document_003_error(X, y, theta, theta_0=0.0):
    """Eₙ: the share of rows on the wrong side or on the boundary."""
    return np.mean(y * (X @ theta + theta_0) <= 0)


def passes_needed(mistakes):
    """How many of T passes are made when the first clean one is the last."""
    clean = np.flatnonzero(mistakes == 0)
    return clean[0] + 1 if len(clean) else len(mistakes)


@in_both_layouts
@on_all
@pytest.mark.parametrize("T", [1, 2, 50])
def test_document_003_through_the_origin(X, y, layout, T):
    theta, mistakes = document_003(X, y, T)
    model = Perceptron(order="fixed", fit_intercept=False, max_iter=T).fit(layout(X), y)
    assert np.array_equal(model.coef_[0], theta)
    assert model.intercept_ == 0
    assert (model.n_mistakes_, model.n_iter_) == (mistakes.sum(), passes_needed(mistakes))


@in_both_layouts
@on_all
@pytest.mark.parametrize("T", [1, 2, 50])
def test_document_003_with_offset(X, y, layout, T):
    theta, theta_0, mistakes = document_003_offset(X, y, T)
    model = Perceptron(order="fixed", max_iter=T).fit(layout(X), y)
    assert np.array_equal(model.coef_[0], theta)
    assert model.intercept_ == theta_0
    assert (model.n_mistakes_, model.n_iter_) == (mistakes.sum(), passes_needed(mistakes))


@in_both_layouts
@on_all
@pytest.mark.parametrize("T", [1, 2, 50])
def test_document_003_training_error(X, y, layout, T):
    model = Perceptron(order="fixed", measure=True, max_iter=T).fit(layout(X), y)
    error = document_003_error(X, y, model.coef_[0], model.intercept_[0])
    assert model.history_[-1].errors / len(X) == error


def test_document_003_counts_the_boundary_as_an_error():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), np.array([1, 1, -1])
    model = Perceptron(order="fixed", fit_intercept=False, measure=True, max_iter=1).fit(X, y)
    assert model.history_[-1].errors == 2
    assert document_003_error(X, y, model.coef_[0]) == 2 / 3


@in_both_layouts
@on_all
def test_document_003_offset_is_one_more_coordinate(X, y, layout):
    offset = Perceptron(order="fixed").fit(layout(X), y)
    origin = Perceptron(order="fixed", fit_intercept=False).fit(layout(with_one(X)), y)
    assert np.array_equal(np.append(offset.coef_, offset.intercept_), origin.coef_[0])
    assert offset.history_ == origin.history_


# Document 004: PerceptronTrain and PerceptronTest.


def perceptron_train(D, orders):
    """Document 004's training, one pass per order; also the mistakes of each pass."""
    X, y = D
    w, b, mistakes = np.zeros(X.shape[1]), 0.0, []
    for order in orders:
        mistakes.append(0)
        for i in order:
            a = np.sum(w * X[i]) + b
            if y[i] * a <= 0:
                w = w + y[i] * X[i]
                b = b + y[i]
                mistakes[-1] += 1
    return w, b, np.array(mistakes)


def perceptron_test(w, b, x):
    """Document 004's prediction."""
    return np.sign(np.sum(w * x) + b)


def orders_of(order, n, seed, max_iter):
    """What document 004's "for all" goes through, in each of its three ways."""
    match order:
        case "fixed":
            return repeat(np.arange(n), max_iter)
        case "once":
            return repeat(permutation(n, seed, 0), max_iter)
        case "each":
            return [permutation(n, seed, epoch) for epoch in range(1, max_iter + 1)]


@in_both_layouts
@on_all
@pytest.mark.parametrize("order", ["fixed", "once", "each"])
@pytest.mark.parametrize("max_iter", [1, 30])
def test_document_004(X, y, layout, order, max_iter):
    w, b, mistakes = perceptron_train((X, y), orders_of(order, len(X), 3, max_iter))
    model = Perceptron(order=order, random_state=3, max_iter=max_iter).fit(layout(X), y)
    assert np.array_equal(model.coef_[0], w)
    assert model.intercept_ == b
    assert (model.n_mistakes_, model.n_iter_) == (mistakes.sum(), passes_needed(mistakes))
    signs = np.sign(model.decision_function(layout(X)))
    assert np.array_equal(signs, [perceptron_test(w, b, x) for x in X])


@on_all
def test_document_004_update_raises_the_activation_by_at_least_one(X, y):
    for update in steps(X, y, order="fixed", max_iter=5):
        x = X[update.row]
        new_activation = update.new_weights[0] @ x + update.new_bias[0]
        rise = update.label * (new_activation - update.activation)
        assert rise == pytest.approx(x @ x + 1)
        assert rise >= 1


@on_all
def test_document_004_scale_is_irrelevant(X, y):
    one, two = (Perceptron(eta0=eta, max_iter=3, random_state=0).fit(X, y) for eta in (1, 2))
    assert np.array_equal(two.coef_, 2 * one.coef_)
    assert np.array_equal(two.predict(X), one.predict(X))


def combined(degree):
    """A perceptron on all products of up to so many features."""
    products = PolynomialFeatures(degree, interaction_only=True, include_bias=False)
    return make_pipeline(products, Perceptron(order="fixed", max_iter=1000))


def corners(dimensions):
    return np.array(list(np.ndindex((2,) * dimensions)), float)


@pytest.mark.parametrize(
    ("X", "y", "degree"),
    [
        pytest.param(corners(2), corners(2).sum(axis=1) % 2, 2, id="xor"),
        pytest.param(corners(3), corners(3).sum(axis=1) % 2, 3, id="parity-of-three"),
        pytest.param([[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 0, 0, 1], 2, id="not"),
    ],
)
def test_document_004_combines_features(X, y, degree):
    too_few = combined(degree - 1).fit(X, y)[-1]
    assert too_few.stop_reason_ == "max_iter"
    enough = combined(degree).fit(X, y)
    assert enough[-1].stop_reason_ == "separated"
    assert enough.score(X, y) == 1


def test_document_004_weights_for_excellent_terrible_not():
    excellent, terrible, no, excellent_not, terrible_not = 1, -1, 0, -2, 2
    X, y = [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 0, 0, 1]
    weights = [[excellent, terrible, no, 0, excellent_not, terrible_not]]
    pairs = PolynomialFeatures(2, interaction_only=True, include_bias=False).fit_transform(X)
    model = Perceptron(order="fixed").fit(pairs, y, coef_init=weights)
    assert model.n_mistakes_ == 0
