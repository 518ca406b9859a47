"""
A branch predictor is a perceptron
==================================

A processor guesses at every branch of a program whether it will be taken, long before it knows.
Jiménez & Lin (2001) gave every branch a perceptron: its inputs are the outcomes (+1 taken, −1 not)
of the last branches of the program, and it learns from each guess. Their rule is the perceptron
with a margin: it trains on a mistake, and while w·x is between −θ and θ = 1.93h + 14, for a history
of h branches.
AMD's and Samsung's processors have used such predictors.

The trace here is real: every branch that four small programs took.
"""

import numpy as np
from matplotlib import pyplot as plt
from scipy.sparse import csr_array

from rosenblatt import Perceptron

trace = []


def branch(place, taken):
    """Record a branch of a program and go on."""
    trace.append((place, bool(taken)))
    return taken


def insertion_sort(values):
    for i in range(1, len(values)):
        j = i
        while branch(0, j > 0) and branch(1, values[j - 1] > values[j]):
            values[j - 1], values[j] = values[j], values[j - 1]
            j -= 1


def binary_search(values, wanted):
    low, high = 0, len(values)
    while branch(2, low < high):
        middle = (low + high) // 2
        if branch(3, values[middle] < wanted):
            low = middle + 1
        else:
            high = middle
    return branch(4, low < len(values) and values[low] == wanted)


def sieve(size):
    prime = [True] * size
    for i in range(2, size):
        if branch(5, prime[i]):
            for j in range(i * i, size, i):
                branch(6, prime[j])
                prime[j] = False
    return sum(prime[2:])


def collatz(number):
    steps = 0
    while branch(7, number != 1):
        number = 3 * number + 1 if branch(8, number % 2) else number // 2
        steps += 1
    return steps


random = np.random.default_rng(2001)
for _ in range(30):
    values = random.integers(0, 1000, 40).tolist()
    insertion_sort(values)
    for wanted in random.integers(0, 1000, 40):
        binary_search(values, wanted)
    sieve(150)
    collatz(int(random.integers(2, 300)))
places, outcomes = (np.array(column) for column in zip(*trace, strict=True))
print(f"{len(trace):,} branches at {places.max() + 1} places, {outcomes.mean():.0%} taken")

# %%
# All perceptrons of the table are one with a block of columns for each place: a row has the history
# in the block of its place, and a 1 for the bias. One pass in the order of the program, each row
# guessed before it is learnt from: the errors are in ``history_``.


def rows_of(history):
    """The last outcomes before each branch, in the block of its place."""
    signs = np.where(outcomes, 1.0, -1.0)
    padded = np.append(np.ones(history), signs)
    window = np.lib.stride_tricks.sliding_window_view(padded, history)[: len(signs)]
    values = np.column_stack([window, np.ones(len(signs))])
    columns = places[:, None] * (history + 1) + np.arange(history + 1)
    starts = np.arange(len(signs) + 1) * (history + 1)
    width = (places.max() + 1) * (history + 1)
    return csr_array((values.ravel(), columns.ravel(), starts), (len(signs), width))


def perceptron_errors(history):
    theta = 1.93 * history + 14
    model = Perceptron(margin=theta, fit_intercept=False, order="fixed", max_iter=1)
    return model.fit(rows_of(history), outcomes).history_[0].errors / len(outcomes)


# %%
# The predictors before it keep counters from 0 to 3, which go up when a branch is taken: one for
# each place, or (gshare) one for each place and history, in a table of 1,024.


def counter_errors(index, size=1024):
    counters, wrong = [2] * size, 0
    for place, taken in zip(index, outcomes.tolist(), strict=True):
        count = counters[place % size]
        wrong += (count >= 2) != taken
        counters[place % size] = min(count + 1, 3) if taken else max(count - 1, 0)
    return wrong / len(outcomes)


def gshare(history):
    register, index = 0, []
    for place, taken in zip(places, outcomes, strict=True):
        index.append((int(place) << 6) ^ register)
        register = (register << 1 | int(taken)) & ((1 << history) - 1)
    return index


lengths = [1, 2, 4, 6, 8, 10, 12, 16, 24, 32]
found = {
    "a counter per place": [counter_errors(places)] * len(lengths),
    "gshare": [counter_errors(gshare(h)) for h in lengths],
    "a perceptron per place": [perceptron_errors(h) for h in lengths],
}
for name, errors in found.items():
    best = int(np.argmin(errors))
    print(f"{name:22} {errors[best]:.1%} wrong, with a history of {lengths[best]}")

# %%
# Counters for each history need a table that doubles with every branch of history. A perceptron
# needs one weight more, so that it can look back farther.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name, errors in found.items():
    axis.plot(lengths, 100 * np.array(errors), "o-", label=name)
axis.set(xlabel="branches of history", ylabel="% of branches guessed wrong", ylim=(0, None))
axis.legend(frameon=False)
