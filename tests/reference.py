"""A naive twin of every algorithm: plain loops over rows in NumPy, with no thought of speed.

Weights have one row per output: one for two classes, whose labels are then +1 and -1, else one per
class. Everything is computed in float64, which is exact on small integers. Nothing of the package
is imported.
"""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

BITS = 2**64 - 1


class Epoch(NamedTuple):
    """The record of one epoch."""

    epoch: int
    rows: int
    mistakes: int
    errors: int
    loss: float
    validation_score: float | None = None


# Randomness: SplitMix64, on whole numbers of any size.


def mix_bits(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & BITS
    z = (z ^ z >> 27) * 0x94D049BB133111EB & BITS
    return z ^ z >> 31


def shuffled(rows, seed, number):
    """The permutation of a seed and a number: Fisher-Yates, each choice without bias."""
    order, state = list(rows), mix_bits(seed) ^ mix_bits(~number & BITS)
    for last in range(len(order) - 1, 0, -1):
        choices = last + 1
        while True:
            state = state + 0x9E3779B97F4A7C15 & BITS
            product = (mix_bits(state) >> 32) * choices
            if product % 2**32 >= 2**32 % choices:
                break
        chosen = product >> 32
        order[last], order[chosen] = order[chosen], order[last]
    return order


# The perceptron.


def compute_margin(weights, bias, x, label):
    """Label times activation, or the lead of the right class over its best rival."""
    scores = weights @ x + bias
    if len(bias) == 1:
        return label * scores[0]
    return scores[label] - scores[rival_of(scores, label)]


def rival_of(scores, label):
    """The best of the wrong classes; of equals, the first."""
    return max((c for c in range(len(scores)) if c != label), key=lambda c: scores[c])


def updated(weights, bias, x, label, step, bias_step):
    """New weights and bias after a mistake."""
    moves = {0: label}
    if len(bias) > 1:
        moves = {label: +1, rival_of(weights @ x + bias, label): -1}
    weights, bias = weights.copy(), bias.copy()
    for output, sign in moves.items():
        weights[output] += sign * step * x
        bias[output] += sign * step * bias_step
    return weights, bias


class Run:
    """One problem, told row by row: ``tried`` lists the weights and bias after each row seen."""

    def __init__(self, X, labels, steps, weights, bias, *, ties, intercept_step, pocket, **asked):
        self.X, self.labels, self.steps = X, labels, steps
        self.weights, self.bias = weights, bias
        self.ties, self.intercept_step = ties, intercept_step
        self.margin, self.negative_margin = asked["margin"], asked.get("negative_margin")
        self.rows = [i for i in range(len(X)) if steps[i] > 0]
        self.tried, self.mistaken, self.history = [], set(), []
        self.mistakes = 0
        self.pocket = Pocket(self) if pocket else None

    def margin_at(self, i):
        return compute_margin(self.weights, self.bias, self.X[i], self.labels[i])

    def margin_of(self, i):
        """The margin that a row must exceed; negative rows may have one of their own."""
        is_negative = len(self.bias) == 1 and self.labels[i] == -1
        own = is_negative and self.negative_margin is not None
        return self.negative_margin if own else self.margin

    def on_right_side(self, i):
        """Whether a row is classified right, where ``ties`` decides on the boundary."""
        margin = self.margin_at(i)
        if margin != 0 or self.margin_of(i) > 0:
            return margin > 0
        two_class_ties = {+1: "positive", -1: "negative"} if len(self.bias) == 1 else {}
        return self.ties in ("correct", two_class_ties.get(self.labels[i]))

    def is_right(self, i):
        """Whether a row has the margin that is asked for."""
        margin = self.margin_of(i)
        return self.margin_at(i) > margin if margin > 0 else self.on_right_side(i)

    def updated(self, i):
        """New weights and bias after a mistake."""
        given = self.X[i], self.labels[i], self.steps[i]
        return updated(self.weights, self.bias, *given, self.intercept_step)

    def see(self, i):
        """Learn from one row; say whether to go on."""
        if self.is_right(i):
            if self.pocket:
                self.pocket.run += 1
        else:
            if self.pocket and self.pocket.offer_is_perfect():
                return False
            if not self.on_right_side(i):
                self.errors += 1
                self.loss -= self.margin_at(i)
            self.mistakes += 1
            self.mistaken.add(i)
            self.weights, self.bias = self.updated(i)
            if self.pocket:
                self.pocket.run, self.pocket.measured = 0, False
        self.tried.append((self.weights, self.bias))
        return True

    def sweep(self, order):
        """Learn from rows in an order; say whether there was a mistake."""
        before = self.mistakes
        for i in order:
            if not self.see(i):
                break
        if self.pocket:
            self.pocket.offer_is_perfect()
        self.gone_through += len(order)
        return self.mistakes > before

    def train(self, order, max_iter, seed, measure):
        """Run epochs until nothing is wrong; say why it stopped."""
        for epoch in range(1, max_iter + 1):
            before = self.mistakes
            self.gone_through, self.errors, self.loss = 0, 0, 0.0
            ORDERS[order](self, seed, epoch)
            mistakes = self.mistakes - before
            separated = mistakes == 0
            if measure:
                separated = all(self.is_right(i) for i in self.rows)
                wrong = [i for i in self.rows if not self.on_right_side(i)]
                self.errors, self.loss = len(wrong), -sum(self.margin_at(i) for i in wrong)
            self.history.append(Epoch(epoch, self.gone_through, mistakes, self.errors, self.loss))
            if separated and self.pocket:
                self.pocket.put(0)
            if separated or (self.pocket and self.pocket.errors == 0):
                found = self.pocket.weights if self.pocket else self.weights
                return "separated" if np.any(found) else "zero_weights"  # where ties are right
        return "max_iter"

    # Solutions

    def last(self):
        return self.weights, self.bias

    def average(self):
        """The mean of all that was tried, from the present weights back: last - mean(last - tried).

        Written so, it rounds as the library does, and on integers both agree to the last bit.
        """
        rows = len(self.tried)
        lack = sum(self.weights - weights for weights, _ in self.tried)
        lack_of_bias = sum(self.bias - bias for _, bias in self.tried)
        return self.weights - lack / rows, self.bias - lack_of_bias / rows

    def best(self):
        return self.pocket.weights, self.pocket.bias

    def votes(self, x):
        """The share of the tried weights that vote for each class; for two, between -1 and 1."""
        votes = np.zeros(len(self.bias))
        for weights, bias in self.tried:
            scores = weights @ x + bias
            if len(scores) == 1:
                votes += np.sign(scores) or {"positive": 1, "negative": -1}.get(self.ties, 0)
            else:
                votes[np.argmax(scores)] += 1
        return votes / len(self.tried)


class Pocket:
    """The weights with the fewest errors so far; they are counted when a longer run has ended."""

    def __init__(self, problem):
        self.problem = problem
        self.weights, self.bias = problem.weights, problem.bias
        self.run = self.longest_run = 0
        self.errors = np.inf
        self.measured = False

    def offer_is_perfect(self):
        if self.run > self.longest_run and not self.measured:
            self.measured = True
            wrong = [i for i in self.problem.rows if not self.problem.on_right_side(i)]
            errors = sum(self.problem.steps[i] for i in wrong)
            if errors < self.errors:
                self.put(errors)
        return self.errors == 0

    def put(self, errors):
        self.weights, self.bias = self.problem.weights, self.problem.bias
        self.longest_run, self.errors = self.run, errors


# Orders: each runs one epoch.


def each(run, seed, epoch):
    run.sweep(shuffled(run.rows, seed, epoch))


def once(run, seed, epoch):
    run.sweep(shuffled(run.rows, seed, 0))


def fixed(run, seed, epoch):
    run.sweep(run.rows)


def batch(run, seed, epoch):
    """All mistakes of the same weights, added up; every row then counts with the new weights."""
    wrong = [i for i in run.rows if not run.is_right(i)]
    weights, bias = run.weights, run.bias
    for i in wrong:
        if not run.on_right_side(i):
            run.errors += 1
            run.loss -= run.margin_at(i)
        new_weights, new_bias = run.updated(i)
        weights, bias = weights + (new_weights - run.weights), bias + (new_bias - run.bias)
    run.weights, run.bias = weights, bias
    run.mistakes += len(wrong)
    run.gone_through = len(run.rows)
    run.tried += [(weights, bias)] * len(run.rows)


def active(run, seed, epoch):
    mistakes = run.sweep(run.rows)
    hard, visits = sorted(run.mistaken), 0
    while mistakes and visits < 2 * len(run.rows):
        mistakes = run.sweep(hard)
        visits += len(hard)


def first(run, seed, epoch):
    for i in run.rows:
        if run.sweep([i]):
            break


def worst(run, seed, epoch):
    run.gone_through = len(run.rows)
    wrong = [i for i in run.rows if not run.is_right(i)]
    if wrong:
        run.see(min(wrong, key=run.margin_at))


ORDERS = {way.__name__: way for way in (each, once, fixed, batch, active, first, worst)}
REASONS = ["max_iter", "zero_weights", "separated"]


class Perceptron:
    """The twin of ``rosenblatt.Perceptron``: the same parameters and attributes."""

    run = Run
    solution, order = "last", "each"
    eta0, margin, negative_margin, ties = 1.0, 0.0, None, "mistake"
    fit_intercept, intercept_step, multi_class = True, 1.0, "argmax"
    max_iter, measure, random_state = 100, False, 0

    def __init__(self, **settings):
        assert settings.keys() <= vars(Perceptron).keys()
        vars(self).update(settings)
        if isinstance(self.margin, tuple):
            self.margin, self.negative_margin = self.margin

    def fit(self, X, y, sample_weight=None, coef_init=None, intercept_init=None):
        """Learn; y of two dimensions has a column of 0 and 1 for each label, a problem each."""
        X, y = np.asarray(X, float), np.asarray(y)
        several = y.ndim == 2
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.classes_ = np.arange(y.shape[1]) if several else self.classes_
        steps = self.eta0 * (np.ones(len(X)) if sample_weight is None else sample_weight)
        outputs = 1 if len(self.classes_) == 2 and not several else len(self.classes_)
        weights = np.zeros((outputs, X.shape[1])) if coef_init is None else coef_init
        bias = np.zeros(outputs) if intercept_init is None else intercept_init
        rule = {"margin": self.margin, "negative_margin": self.negative_margin, "ties": self.ties}
        rule["intercept_step"] = self.bias_step(X[steps > 0])
        rule["pocket"] = self.solution == "pocket"
        if outputs > 1 and self.multi_class == "argmax" and not several:
            self.runs = [self.run(X, codes, steps, weights, bias, **rule)]
        else:  # one two-class problem per output; of two classes, the second is the positive one
            positives = [1] if outputs == 1 else range(outputs)
            self.runs = []
            for o, k in enumerate(positives):
                labels = np.where(y[:, k] if several else codes == k, 1, -1)
                self.runs.append(self.run(X, labels, steps, weights[[o]], bias[[o]], **rule))
        asked = self.order, self.max_iter, self.random_state, self.measure
        reasons = [run.train(*asked) for run in self.runs]
        answers = [self.answer_of(run) for run in self.runs]
        self.coef_ = np.vstack([weights for weights, _ in answers])
        self.intercept_ = np.concatenate([bias for _, bias in answers])
        self.n_mistakes_ = sum(run.mistakes for run in self.runs)
        self.n_iter_ = max(len(run.history) for run in self.runs)
        self.history_ = [
            summed([run.history[t] for run in self.runs if t < len(run.history)])
            for t in range(self.n_iter_)
        ]
        self.stop_reason_ = min(reasons, key=REASONS.index)
        return self

    def bias_step(self, X):
        if not self.fit_intercept:
            return 0.0
        return max(x @ x for x in X) if self.intercept_step == "radius" else self.intercept_step

    def answer_of(self, run):
        if self.solution == "average":
            return run.average()
        return run.best() if self.solution == "pocket" else run.last()

    def decision_function(self, X):
        X = np.asarray(X, float)
        if self.solution == "vote":
            scores = np.array([np.concatenate([run.votes(x) for run in self.runs]) for x in X])
        else:
            scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.coef_) == 1 else scores

    def predict_labels(self, X):
        """1 for each label that a row has, and 0 for the others."""
        scores = self.decision_function(X)
        return (scores >= 0 if self.ties == "positive" else scores > 0).astype(int)

    def predict(self, X):
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return self.classes_[scores.argmax(axis=1)]
        positive = scores >= 0 if self.ties == "positive" else scores > 0
        return self.classes_[positive.astype(int)]


def summed(epochs):
    rows, mistakes, errors, loss = np.sum([epoch[1:5] for epoch in epochs], axis=0).tolist()
    return Epoch(epochs[0].epoch, int(rows), int(mistakes), int(errors), loss)


# The family after Rosenblatt, each rule as its paper has it: on one vector w of all weights, and a
# vector z, so that a row is right when w·z > 0. With two classes z is the label times the row; with
# more it is the row at its class, and negative at the best rival. The bias is a weight, too.


class Rule:
    """By default it keeps nothing but weights, and learns from mistakes only."""

    def begin(self, size):
        """Begin with ``size`` weights, all of them 0."""

    def is_right(self, w, z, weight):
        return w @ z > 0


class PassiveAggressiveRule(Rule):
    """Crammer, Dekel, Keshet, Shalev-Shwartz & Singer (2006): PA ("hard"), PA-I and PA-II."""

    def __init__(self, C=1.0, loss="hinge"):
        self.C, self.loss = C, loss

    def is_right(self, w, z, weight):
        return w @ z >= self.demand(weight)

    def demand(self, weight):
        """The margin that a row must have."""
        return 1 if self.loss == "hinge" else weight

    def learn(self, w, z, weight):
        loss, C = self.demand(weight) - w @ z, self.C
        tau = {
            "hard": lambda: loss / (z @ z),
            "hinge": lambda: weight * min(C, loss / (z @ z)),
            "squared_hinge": lambda: loss / (z @ z + 1 / (2 * C * weight)),
        }[self.loss]()
        return w + tau * z


class ALMARule(Rule):
    """Gentile (2001), p = 2."""

    def __init__(self, alpha=0.9, B=None, C=None):
        self.alpha = alpha
        self.B = np.sqrt(8) / alpha if B is None else B
        self.C = np.sqrt(2) if C is None else C

    def begin(self, size):
        self.k = 1

    def is_right(self, w, z, weight):
        return w @ (z / np.linalg.norm(z)) > (1 - self.alpha) * self.B / np.sqrt(self.k)

    def learn(self, w, z, weight):
        w = w + weight * self.C / np.sqrt(self.k - 1 + weight) * z / np.linalg.norm(z)
        self.k += weight
        return w / max(1, np.linalg.norm(w))


class ROMMARule(Rule):
    """Li & Long (2002)."""

    def __init__(self, aggressive=True):
        self.aggressive = aggressive

    def is_right(self, w, z, weight):
        return w @ z >= 1 if self.aggressive else w @ z > 0

    def learn(self, w, z, weight):
        share = 2 * weight / (1 + weight)
        alone, ww, zz, wz = z / (z @ z), w @ w, z @ z, w @ z
        if not w.any() or alone @ w >= ww:  # the row's constraint implies what was learnt before
            return share * alone
        rest = ww * zz - wz**2
        if rest <= 1e-12 * ww * zz:  # nothing meets both
            return share * alone
        return (ww * zz - wz) / rest * w + share * ww * (1 - wz) / rest * z


class ShiftingRule(Rule):
    """Cavallanti, Cesa-Bianchi & Gentile (2007), figure 2."""

    def __init__(self, lam=2.0):
        self.lam = lam

    def begin(self, size):
        self.k = 0

    def learn(self, w, z, weight):
        rate = self.lam / (self.lam + self.k)
        self.k += 1
        return (1 - rate) * w + rate * weight * z


class SecondOrderRule(Rule):
    """Cesa-Bianchi, Conconi & Gentile (2005)."""

    def __init__(self, a=1.0):
        self.a = a

    def begin(self, size):
        self.v, self.A = np.zeros(size), self.a * np.eye(size)

    def learn(self, w, z, weight):
        self.v += weight * z
        self.A += weight * np.diag(z**2)
        return np.linalg.solve(self.A, self.v)


class ConfidenceRule(Rule):
    """Rules with a variance of each weight, the diagonal of Σ; by default with a margin of 1."""

    def begin(self, size):
        self.sigma = np.eye(size)

    def is_right(self, w, z, weight):
        return w @ z >= 1

    def shrink(self, factor, sz):
        self.sigma = np.diag(np.diag(self.sigma - factor * np.outer(sz, sz)))


class AROWRule(ConfidenceRule):
    """Crammer, Kulesza & Dredze (2009)."""

    def __init__(self, r=1.0):
        self.r = r

    def learn(self, w, z, weight):
        sz = self.sigma @ z
        beta = 1 / (z @ sz + self.r / weight)
        alpha = max(0, 1 - w @ z) * beta
        self.shrink(beta, sz)
        return w + alpha * sz


class SCWRule(ConfidenceRule):
    """Wang, Zhao & Hoi (2012)."""

    def __init__(self, C=1.0, confidence=0.75, variant="I"):
        self.C, self.variant = C, variant
        self.phi = NormalDist().inv_cdf(confidence)

    def is_right(self, w, z, weight):
        return w @ z >= self.phi * np.sqrt(z @ self.sigma @ z)

    def learn(self, w, z, weight):
        phi, C, m, sz = self.phi, self.C * weight, w @ z, self.sigma @ z
        v = z @ sz
        if self.variant == "I":
            psi, zeta = 1 + phi**2 / 2, 1 + phi**2
            root = np.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)
            alpha = min(C, max(0, (-m * psi + root) / (v * zeta)))
        else:
            n = v + 1 / (2 * C)
            gamma = phi * np.sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
            alpha = -(2 * m * n + phi**2 * m * v) + gamma
            alpha = max(0, alpha / (2 * (n**2 + n * v * phi**2)))
        u = (-alpha * v * phi + np.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) ** 2 / 4
        beta = alpha * phi / (np.sqrt(u) + v * alpha * phi)
        self.shrink(beta, sz)
        return w + alpha * sz


class NHERDRule(ConfidenceRule):
    """Crammer & Lee (2010)."""

    def __init__(self, C=1.0):
        self.C = C

    def learn(self, w, z, weight):
        C, sz = self.C * weight, self.sigma @ z
        v = z @ sz
        shrink = (C**2 * v + 2 * C) / (1 + C * v) ** 2
        self.shrink(shrink, sz)
        return w + (1 - w @ z) / (v + 1 / C) * sz


class CWRule(ConfidenceRule):
    """Dredze, Crammer & Pereira (2008), linear in the variance."""

    def __init__(self, confidence=0.75):
        self.phi = NormalDist().inv_cdf(confidence)

    def is_right(self, w, z, weight):
        return w @ z >= self.phi * (z @ self.sigma @ z)

    def learn(self, w, z, weight):
        """Solve (m + αv)(1 + 2αφv) = φv: after it, w·z is φ times the variance."""
        phi, m, sz = self.phi, w @ z, self.sigma @ z
        v = z @ sz
        _, alpha = sorted(np.roots([2 * phi * v**2, v * (1 + 2 * phi * m), m - phi * v]))
        alpha *= 2 * weight / (1 + weight)
        shrink = 2 * alpha * phi / (1 + 2 * alpha * phi * v)
        self.shrink(shrink, sz)
        return w + alpha * sz


class LogisticRule(Rule):
    """Rules that learn from every row, by the gradient of the logistic loss."""

    def is_right(self, w, z, weight):
        return False

    def gradient(self, w, z, weight):
        return -weight * z / (1 + np.exp(w @ z))


class FTRLRule(LogisticRule):
    """McMahan et al. (2013), algorithm 1, on all coordinates; the last is the bias."""

    def __init__(self, alpha=0.1, beta=1.0, l1=0.0, l2=0.0):
        self.alpha, self.beta, self.l1, self.l2 = alpha, beta, l1, l2

    def begin(self, size):
        self.gradients, self.squares = np.zeros(size), np.zeros(size)
        self.penalized = np.arange(size) < size - 1

    def learn(self, w, z, weight):
        g = self.gradient(w, z, weight)
        before, self.squares = self.squares, self.squares + g**2
        self.gradients += g - (np.sqrt(self.squares) - np.sqrt(before)) / self.alpha * w
        l1, l2 = self.l1 * self.penalized, self.l2 * self.penalized
        excess = np.sign(self.gradients) * np.maximum(np.abs(self.gradients) - l1, 0)
        return -excess / ((self.beta + np.sqrt(self.squares)) / self.alpha + l2)


class AdaGradRule(LogisticRule):
    """Duchi, Hazan & Singer (2011), diagonal, with a decay where the gradient is not 0."""

    def __init__(self, alpha=0.3, beta=0.1, decay=0.001):
        self.alpha, self.beta, self.decay = alpha, beta, decay

    def begin(self, size):
        self.squares = np.zeros(size)

    def learn(self, w, z, weight):
        g = self.gradient(w, z, weight)
        self.squares = (1 - self.decay * (z != 0)) * self.squares + g**2
        return w - self.alpha * g / (self.beta + np.sqrt(self.squares))


class FamilyRun(Run):
    """One problem of a rule of the family; ``losses`` are 1 - w·z at each update."""

    def __init__(self, rule, *problem, **settings):
        super().__init__(*problem, **settings)
        self.rule, self.losses = rule, []
        rule.begin(self.vector().size)

    def vector(self):
        """All weights, and for each output that of the bias."""
        size = np.sqrt(self.intercept_step)
        bias = self.bias / size if size else np.zeros_like(self.bias)
        return np.column_stack([self.weights, bias]).ravel()

    def z(self, i):
        row, label = np.append(self.X[i], np.sqrt(self.intercept_step)), self.labels[i]
        if len(self.bias) == 1:
            return label * row
        rival = rival_of(self.weights @ self.X[i] + self.bias, label)
        z = np.zeros((len(self.bias), len(row)))
        z[label], z[rival] = row, -row
        return z.ravel()

    def is_right(self, i):
        return self.rule.is_right(self.vector(), self.z(i), self.steps[i])

    def updated(self, i):
        w, z = self.vector(), self.z(i)
        self.losses.append(1 - w @ z)
        new = self.rule.learn(w, z, self.steps[i]).reshape(len(self.bias), -1)
        return new[:, :-1], new[:, -1] * np.sqrt(self.intercept_step)


class FamilyMember(Perceptron):
    """The twin of a classifier of the family: a function that makes its rule, and parameters."""

    def __init__(self, rule, **parameters):
        super().__init__(**parameters)
        self.run = lambda *problem, **settings: FamilyRun(rule(), *problem, **settings)


# Numbers: the error is measured before the threshold.


class Regressor:
    """A linear model of numbers; ``step`` says how far a row moves the weights along itself."""

    def __init__(self, step, *, epsilon=0.0, solution="last", order=None, max_iter=10, **bias):
        self.step, self.epsilon, self.solution = step, epsilon, solution
        self.order, self.max_iter, self.seed = order or fixed_rows, max_iter, bias.pop("seed", 0)
        self.bias_step = bias.get("intercept_step", 1.0) * bias.get("fit_intercept", True)

    def fit(self, X, y, weights=None):
        Z = np.column_stack([X, np.full(len(X), np.sqrt(self.bias_step))]).astype(float)
        weights = np.ones(len(X)) if weights is None else weights
        w, tried, self.history_, self.excesses = np.zeros(Z.shape[1]), [], [], []
        for epoch in range(1, self.max_iter + 1):
            found = []
            for i in self.order(np.flatnonzero(weights), self.seed, epoch):
                error = y[i] - w @ Z[i]
                if abs(error) > self.epsilon:
                    found.append(abs(error) - self.epsilon)
                    w = w + np.sign(error) * self.step(found[-1], Z[i] @ Z[i], weights[i]) * Z[i]
                tried.append(w)
            self.excesses += found
            rows = np.count_nonzero(weights)
            self.history_.append(Epoch(epoch, rows, len(found), len(found), sum(found)))
            if not found:
                break
        w = np.mean(tried, axis=0) if self.solution == "average" else w
        self.coef_, self.intercept_ = w[None, :-1], w[-1:] * np.sqrt(self.bias_step)
        return self


def fixed_rows(rows, seed, number):
    """The rows as they lie."""
    return rows


REGRESSION_STEPS = {
    "hard": lambda C: lambda excess, size, weight: excess / size,
    "epsilon_insensitive": lambda C: lambda excess, size, weight: min(C * weight, excess / size),
    "squared_epsilon_insensitive": (
        lambda C: lambda excess, size, weight: excess / (size + 1 / (2 * C * weight))
    ),
    "lms": lambda eta: lambda excess, size, weight: eta * weight * excess,
    "normalized_lms": lambda eta: lambda excess, size, weight: eta * weight * excess / size,
}
"""PA, PA-I and PA-II of Crammer et al. (2006, §5); Widrow & Hoff (1960), and normalized."""


# Ranks: one direction, and thresholds that divide it.


class PRank:
    """Crammer & Singer (2001), with ranks from 0; ``margin`` is 0 in the paper."""

    def __init__(self, n_ranks, margin=0.0):
        self.n_ranks, self.margin = n_ranks, margin

    def rank(self, w, thresholds, x):
        """The first threshold that w·x is below; the last rank if there is none."""
        return next((r for r, b in enumerate(thresholds) if w @ x - b < 0), self.n_ranks - 1)

    def fit(self, X, y, weights=None, epochs=1):
        """``tried`` lists the weights and thresholds after each row."""
        w, b = np.zeros(X.shape[1]), np.zeros(self.n_ranks - 1)
        weights = np.ones(len(X)) if weights is None else weights
        self.tried, self.updates, self.loss = [], 0, 0
        for _ in range(epochs):
            for x, rank, weight in zip(X, y, weights, strict=True):
                sides = [1 if rank > r else -1 for r in range(self.n_ranks - 1)]
                leads = [side * (w @ x - each) for side, each in zip(sides, b, strict=True)]
                predicted = self.rank(w, b, x)
                self.loss += abs(predicted - rank)
                if predicted != rank or (self.margin > 0 and min(leads) <= self.margin):
                    pairs = zip(sides, leads, strict=True)
                    moves = [side * (lead <= self.margin) for side, lead in pairs]
                    w = w + weight * sum(moves) * x
                    b = np.sort(b - weight * np.array(moves))
                    self.updates += 1
                self.tried.append((w, b))
        self.weights, self.thresholds = w, b
        return self


class KernelPerceptron:
    """The twin of ``rosenblatt.KernelPerceptron``, told row by row from the whole Gram matrix.

    ``kernel`` is a function of two blocks of rows. Coefficients have one row per output and one
    column per training row; ``tried`` lists them, with the bias, after each row an output saw.
    """

    order, margin, ties, intercept_step = "each", 0.0, "mistake", 1.0
    multi_class, max_iter, budget, random_state = "ovr", 100, None, 0

    def __init__(self, kernel, **settings):
        assert settings.keys() <= vars(KernelPerceptron).keys()
        self.kernel = kernel
        vars(self).update(settings)

    def fit(self, X, y):
        self.X = np.asarray(X, float)
        self.classes_, self.codes = np.unique(y, return_inverse=True)
        outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.together = outputs > 1 and self.multi_class == "argmax"
        self.gram = self.kernel(self.X, self.X)
        if self.intercept_step == "radius":
            self.intercept_step = self.gram.diagonal().max()
        self.coef, self.bias = np.zeros((outputs, len(X))), np.zeros(outputs)
        self.places = []
        self.sequence, self.history_, self.n_mistakes_ = [], [], 0
        self.tried = [[(self.coef[p], self.bias[p])] for p in range(outputs)]
        learning, self.stop_reason_ = np.ones(outputs, bool), "max_iter"
        for epoch in range(1, self.max_iter + 1):
            self.errors, self.loss = 0, 0.0
            mistakes, before = np.zeros(outputs, int), self.n_mistakes_
            for i in self.order_of(epoch):
                mistakes += self.see(i, learning)
                for p in np.flatnonzero(learning):
                    self.tried[p].append((self.coef[p].copy(), self.bias[p]))
            problems = 1 if self.together else learning.sum()
            made = self.n_mistakes_ - before
            self.history_.append(Epoch(epoch, len(X) * problems, made, self.errors, self.loss))
            learning = learning & (mistakes.any() if self.together else mistakes > 0)
            if not learning.any():  # from zero, where ties are right, without any mistake
                self.stop_reason_ = "separated" if self.n_mistakes_ else "zero_weights"
                break
        return self

    def order_of(self, epoch):
        rows = range(len(self.X))
        if self.order == "fixed":
            return rows
        return shuffled(rows, self.random_state, epoch if self.order == "each" else 0)

    def see(self, i, learning):
        """Learn from one row; say which outputs made a mistake."""
        scores = self.coef @ self.gram[:, i] + self.bias
        change = np.zeros(len(scores))
        if self.together:
            label = self.codes[i]
            rival = rival_of(scores, label)
            margins = [scores[label] - scores[rival]]
            if not self.is_right(margins[0], 0):
                change[label], change[rival] = 1, -1
        else:
            positive = [1] if len(scores) == 1 else range(len(scores))
            labels = np.array([1 if self.codes[i] == p else -1 for p in positive])
            wrong = [
                learning[p] and not self.is_right(labels[p] * scores[p], labels[p])
                for p in range(len(labels))
            ]
            margins = (labels * scores)[wrong]
            change = np.where(wrong, labels, 0.0)
        if not change.any():
            return change != 0
        self.errors += sum(margin <= 0 for margin in margins)
        self.loss += sum(max(-margin, 0) for margin in margins)
        self.n_mistakes_ += len(margins)
        self.sequence += [i] * len(margins)
        self.learn(i, change)
        return change != 0

    def is_right(self, margin, label):
        if margin != 0 or self.margin > 0:
            return margin > self.margin
        return self.ties in ("correct", {+1: "positive", -1: "negative"}.get(label))

    def learn(self, i, change):
        if i in self.places:
            self.coef[:, i] += change
        elif self.budget is None:
            self.enter(i, change)
        else:
            self.project(i, change)
        self.bias = self.bias + change * self.intercept_step

    def enter(self, i, change):
        self.places.append(i)
        self.coef[:, i] += change

    def project(self, i, change):
        """The projectron."""
        S = self.places
        d = np.linalg.solve(self.gram[np.ix_(S, S)], self.gram[S, i])
        distance = self.gram[i, i] - self.gram[S, i] @ d
        if len(S) == self.budget or distance <= 1e-8 * self.gram[i, i]:
            self.coef[:, S] += np.outer(change, d)
        else:
            self.enter(i, change)

    # Solutions

    def activations(self, p, X, coef, bias):
        return coef @ self.kernel(self.X, np.asarray(X, float)) + bias

    def scores(self, X, solution="last"):
        """One row per output."""
        out = []
        for p, tried in enumerate(self.tried):
            times = [len(tried) - 1] if solution == "last" else range(1, len(tried))
            out.append(np.mean([self.activations(p, X, *tried[t]) for t in times], axis=0))
        return np.array(out)

    def votes(self, X):
        every = [
            np.array([self.activations(p, X, *now) for now in tried[1:]])
            for p, tried in enumerate(self.tried)
        ]
        if self.together:
            best = np.argmax(every, axis=0)
            return np.array([np.mean(best == p, axis=0) for p in range(len(every))])
        zero = {"positive": 1, "negative": -1}.get(self.ties, 0)
        return np.array([np.mean(np.sign(s) + zero * (s == 0), axis=0) for s in every])


# Probabilities from scores (Platt 1999): p = exp(a·score + b), over the sum of all classes.


def platt_targets(codes, n_classes):
    wanted = np.empty((len(codes), n_classes))
    for i, code in enumerate(codes):
        n = sum(other == code for other in codes)
        wanted[i] = 1 / (n + 2) / (n_classes - 1)
        wanted[i, code] = (n + 1) / (n + 2)
    return wanted


def probabilities(scores, slopes, offsets=0.0):
    """Of every class; with two classes there is one score, that of the second."""
    out = []
    for score in np.atleast_2d(np.asarray(scores, float).T).T:
        score = np.append(0.0, score) if len(score) == 1 else score
        grown = np.exp(slopes[int(score.argmax())] * score + offsets)
        out.append(grown / grown.sum())
    return np.array(out)


def minus_log_likelihood(scores, codes, slopes, offsets, shared):
    """Of labels, of slopes that are drawn towards the one of all rows, and of offsets towards 0."""
    p = probabilities(scores, slopes, offsets)
    labels = -(platt_targets(codes, len(slopes)) * np.log(p)).sum()
    return labels + 2 * np.sum((slopes / shared - 1) ** 2) + np.sum(offsets**2) / 2


# Iterative parameter mixing (McDonald, Hall & Mann 2010): every part of the rows is learnt from the
# same weights, the results are mixed, and so on.


def conformal_threshold(scores, coverage):
    """The least of the scores that (n + 1) * coverage of n scores do not exceed, or infinity."""
    for score in sorted(scores):
        if sum(other <= score for other in scores) >= round((len(scores) + 1) * coverage, 6):
            return score
    return float("inf")


def adapted_levels(scores, targets, rate, most):
    """Levels after a stream of scores; each is tested with the last ones before it."""
    levels = list(targets)
    for t, score in enumerate(scores):
        before = scores[max(0, t - most) : t]
        for k, target in enumerate(targets):
            inside = levels[k] > 1 or score <= conformal_threshold(before, levels[k])
            inside = inside and levels[k] > 0
            levels[k] += rate * ((not inside) - (1 - target))
    return levels


class MixedPerceptron(Perceptron):
    """The twin of ``rosenblatt.cluster.fit``: ``fit`` also takes the lengths of the parts."""

    def fit(self, X, y, lengths):
        X = np.asarray(X, float)
        self.classes_, codes = np.unique(y, return_inverse=True)
        k = len(self.classes_)
        cuts = np.cumsum(lengths)[:-1]
        if k > 2 and self.multi_class == "argmax":
            answers = [self.mixed(X, codes, cuts, outputs=k)]
        else:
            positives = [1] if k == 2 else range(k)
            signs = [np.where(codes == positive, 1, -1) for positive in positives]
            answers = [self.mixed(X, labels, cuts, outputs=1) for labels in signs]
        self.coef_ = np.vstack([weights for weights, _ in answers])
        self.intercept_ = np.concatenate([bias for _, bias in answers])
        return self

    def mixed(self, X, labels, cuts, outputs):
        """The weights and bias of one problem."""
        parts = list(zip(np.split(X, cuts), np.split(labels, cuts), strict=True))
        weights, bias, tried = np.zeros((outputs, X.shape[1])), np.zeros(outputs), []
        for epoch in range(1, self.max_iter + 1):
            runs = [self.one_epoch(*part, epoch, weights, bias) for part in enumerate(parts)]
            tried.append([state for run in runs for state in run.tried])
            if not any(run.mistakes for run in runs):
                break
            moves = sum(run.weights - weights for run in runs)  # so that ties fall alike
            moves_of_bias = sum(run.bias - bias for run in runs)
            weights, bias = weights + moves / len(runs), bias + moves_of_bias / len(runs)
        return self.mean_of(tried, len(parts)) if self.solution == "average" else (weights, bias)

    def mean_of(self, tried, partitions):
        """The mean of all weights; those of each epoch count n times as much as the one before."""
        counted = [
            (state, float(partitions) ** e) for e, all_ in enumerate(tried) for state in all_
        ]
        states, counts = zip(*counted, strict=True)
        pairs = zip(*states, strict=True)
        return tuple(np.average(part, axis=0, weights=counts) for part in pairs)

    def one_epoch(self, number, part, epoch, weights, bias):
        """A run over one part, whose permutations are its own."""
        X, labels = part
        rule = {"margin": self.margin, "ties": self.ties, "intercept_step": 1.0, "pocket": False}
        run = Run(X, labels, self.eta0 * np.ones(len(X)), weights, bias, **rule)
        run.gone_through, run.errors, run.loss = 0, 0, 0.0
        ORDERS[self.order](run, self.random_state, number << 32 | epoch)
        return run


class MixedFamily(MixedPerceptron):
    """The twin for rules with a diagonal Σ, mixed by confidence: a function that makes the rule."""

    def __init__(self, rule, **parameters):
        super().__init__(**parameters)
        self.rule = rule

    def mixed(self, X, labels, cuts, outputs):
        parts = list(zip(np.split(X, cuts), np.split(labels, cuts), strict=True))
        w, tried = np.zeros((outputs, X.shape[1] + 1)), []
        precision = np.ones(w.size)
        for epoch in range(1, self.max_iter + 1):
            runs = []
            for number, (rows, signs) in enumerate(parts):
                given = {"margin": 0, "ties": "mistake", "intercept_step": 1.0, "pocket": False}
                start = w[:, :-1], w[:, -1]
                run = FamilyRun(self.rule(), rows, signs, np.ones(len(rows)), *start, **given)
                run.rule.sigma = np.diag(len(parts) / precision)
                run.gone_through, run.errors, run.loss = 0, 0, 0.0
                ORDERS[self.order](run, self.random_state, number << 32 | epoch)
                runs.append(run)
            after = [1 / np.diag(run.rule.sigma) for run in runs]
            moved = sum(a * (run.vector() - w.ravel()) for a, run in zip(after, runs, strict=True))
            precision = sum(after)
            w = w + (moved / precision).reshape(w.shape)
            tried.append([state for run in runs for state in run.tried])
            if not any(run.mistakes for run in runs):
                break
        if self.solution == "average":
            return self.mean_of(tried, len(parts))
        return w[:, :-1], w[:, -1]


# The hash of features.


def spell(h, letters):
    h = (h ^ letters) * 0x9E3779B97F4A7C15 & BITS
    return h ^ h >> 32


def hash_bytes(data, h=0):
    h = spell(h, len(data))
    for i in range(0, len(data), 8):
        h = spell(h, int.from_bytes(data[i : i + 8].rjust(8, b"\0"), "little"))
    return mix_bits(h)


# The weights of n-grams in texts.


def weighed(counts, how, weights=(), unit_length=True):
    """The values of a text, of which ``counts`` says how often it has each n-gram."""
    values = {}
    for gram, count in counts.items():
        of_count = {"raw": count, "binary": 1.0, "sublinear": 1 + np.log(count)}
        values[gram] = of_count[how] * (weights[gram] if len(weights) else 1)
    length = np.sqrt(sum(value * value for value in values.values())) if unit_length else 1
    return {gram: value / length for gram, value in values.items()}


def inverse_document_frequency(texts, gram):
    """How much an n-gram weighs that is in few of the texts, or in none."""
    containing = sum(gram in text for text in texts)
    return np.log((1 + len(texts)) / (1 + containing)) + 1


# Sequences: the structured perceptron, with features as strings and weights in dicts.


def hash_shape(word, name):
    """What a word looks like: one of the attributes of templates."""
    lower = "".join(letter.lower()[0] for letter in word)
    if name.startswith(("prefix", "suffix")):
        size = int(name[6:])
        if len(word) < size:
            return None
        return lower[:size] if name[0] == "p" else lower[-size:]
    return {"word": word, "lower": lower}[name]


def place_value(sentence, i, place, sets):
    """The value of a place such as "suffix3[-1]" for token i; None if there is none."""
    name, _, offset = place[:-1].partition("[")
    i += int(offset)
    if i < 0:
        return f"_B-{-i}"
    if i >= len(sentence):
        return f"_B+{i - len(sentence) + 1}"
    return sets[i] if name == "lexicon" else hash_shape(sentence[i], name)


def token_features(sentence, i, templates, sets):
    """The features of a token, as strings."""
    found = []
    for template in templates:
        places = [] if template == "bias" else template.split("|")
        values = [place_value(sentence, i, place, sets) for place in places]
        if None not in values:
            found.append(f"{template}={'|'.join(values)}")
    return found


def tags_of_word(word, sentences, tags):
    """The set of tags that a word has, at least once in twenty."""
    had = [
        tag
        for sentence, tagged in zip(sentences, tags, strict=True)
        for other, tag in zip(sentence, tagged, strict=True)
        if hash_shape(other, "lower") == hash_shape(word, "lower")
    ]
    return " ".join(tag for tag in sorted(set(had)) if had.count(tag) >= 0.05 * len(had))


def lexicon_sets(number, sentences, tags):
    """The set of each word of a sentence, leaving it out."""
    others = sentences[:number] + sentences[number + 1 :], tags[:number] + tags[number + 1 :]
    return [tags_of_word(word, *others) for word in sentences[number]]


def path_features(tokens, path, n_tags):
    """Φ(x, y), as counts by name; n_tags is the start."""
    counts = {}
    for before, features, tag in zip([n_tags, *path], tokens, path, strict=False):
        for name in [(name, tag) for name in features] + [("move", before, tag)]:
            counts[name] = counts.get(name, 0) + 1
    return counts


def best_path(scores, n_tags, weights, right=None):
    """The best path by the scores of tags and the weights of moves (Viterbi 1967).

    Of equals, from the last token back, the first tag that is not right.
    """
    best = [[own + weights.get(("move", n_tags, t), 0) for t, own in enumerate(scores[0])]]
    for own in scores[1:]:
        pairs = list(enumerate(best[-1]))
        reached = [
            max(total + weights.get(("move", p, t), 0) for p, total in pairs) for t in range(n_tags)
        ]
        best.append([one + other for one, other in zip(own, reached, strict=True)])
    path = []
    for i in range(len(scores) - 1, -1, -1):
        totals = list(best[i])
        if path:
            moves = [weights.get(("move", t, path[0]), 0) for t in range(n_tags)]
            totals = [total + move for total, move in zip(totals, moves, strict=True)]
        ends = [tag for tag in range(n_tags) if totals[tag] == max(totals)]
        avoided = right[i] if right else None
        path.insert(0, next((tag for tag in ends if tag != avoided), ends[0]))
    return path


class StructuredPerceptron(NamedTuple):
    """What was learnt: the last weights, their average, and the updates made."""

    last: dict
    average: dict
    updates: list


def structured_perceptron(tokens, paths, n_tags, margin, orders):
    """Collins (2002) with a margin: tokens are lists of features for each sentence."""
    weights, sums, updates, seen = {}, {}, [], 0
    for order in orders:
        for s in order:
            x, y = tokens[s], paths[s]
            scores = [
                [sum(weights.get((name, tag), 0) for name in features) for tag in range(n_tags)]
                for features in x
            ]
            for own, features, tag in zip(scores, x, y, strict=True):
                own[tag] -= margin * len(features)
            z = best_path(scores, n_tags, weights, y)
            if z != y:
                updates.append((seen, s, z))
                right, wrong = path_features(x, y, n_tags), path_features(x, z, n_tags)
                for name in right.keys() | wrong.keys():
                    change = right.get(name, 0) - wrong.get(name, 0)
                    weights[name] = weights.get(name, 0) + change
                    sums[name] = sums.get(name, 0) + seen * change
            seen += 1
    average = {name: weights[name] - sums[name] / seen for name in weights}
    return StructuredPerceptron(weights, average, updates)


def fires(x, unit):
    """Whether a unit, a pair of weights and a bias, is on for a row."""
    return sum(w * v for w, v in zip(unit[0], x, strict=True)) + unit[1] > 0


def thermal_unit(X, targets, max_iter, seed, heat):
    """Frean (1992): w += αyx·exp(-|a|/T) on a mistake, with T and α falling to 0 in a line."""
    w, b, order = np.zeros(X.shape[1]), 0.0, list(range(len(X)))
    first = heat * np.mean([x @ x + 1 for x in X])
    for epoch in range(max_iter):
        warmth, mistakes = 1 - epoch / max_iter, 0
        order = shuffled(order, seed, epoch)
        for i in order:
            a = w @ X[i] + b
            if (a > 0) != (targets[i] > 0):
                step = warmth * targets[i] * np.exp(-abs(a) / (first * warmth))
                w, b, mistakes = w + step * X[i], b + step, mistakes + 1
        if not mistakes:
            break
    return w, b


def tower_answer(x, units, pyramid=False):
    """Gallant (1990): each unit sees the row and the one before, or all; the last one answers."""
    before = []
    for unit in units:
        seen = before if pyramid else before[-1:]
        before.append(1.0 if fires([*x, *seen], unit) else -1.0)
    return before[-1]


def tiling_answer(x, layers):
    """Mézard & Nadal (1989): each layer sees the one before; the first unit of the last answers."""
    for layer in layers:
        x = [1.0 if fires(x, unit) else -1.0 for unit in layer]
    return x[0]


def upstart_answer(x, unit, units):
    """Frean (1990): daughters, units (weights, bias, parent, sign), turn their parent on or off."""
    pushes = sum(
        sign
        for number, (_, _, parent, sign) in enumerate(units)
        if parent == unit and upstart_answer(x, number, units) > 0
    )
    on = pushes > 0 if pushes else fires(x, units[unit][:2])
    return 1.0 if on else -1.0
