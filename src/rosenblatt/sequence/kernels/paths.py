"""Sequence tagging: the best path by Viterbi's algorithm, and learning from wrong paths.

Scores are rows of ``width`` numbers: one for each tag, rounded up to whole vectors of eight. All
arrays of weights are flat. A transition from tag p to tag t is at p·width + t, and the row after
the last tag is for the start of a sequence. Forbidden transitions weigh IMPOSSIBLE, and so do those
to the tags that only fill up a vector.
"""

from typing import NamedTuple

import numpy as np

from ...kernels.algebra import larger, smaller
from ...kernels.compiling import compiled, helper, inlined, instruction
from ...kernels.forms import REAL, WHOLE, given, vector
from ...kernels.loop import UPDATE, log_update

IMPOSSIBLE = np.float32(-1e30)
LANES = 8  # numbers of a vector


class Tokens(NamedTuple):
    """The features of tokens: token i has features ``starts[i]`` to ``starts[i + 1]``.

    ``values`` is None where all values are 1.
    """

    features: np.ndarray
    starts: np.ndarray
    values: np.ndarray | None


class PathWeights(NamedTuple):
    """The weights of a path's score: of token features, transitions, and the last tag.

    During training, a feature gets a row of emissions at its first update: ``rows[f]`` is its row,
    row 0 stays zero for features without one, and ``used[0]`` rows are in use. Otherwise ``rows``
    is None, and feature f has row f.
    """

    emissions: np.ndarray
    transitions: np.ndarray
    last: np.ndarray
    rows: np.ndarray | None = None
    used: np.ndarray | None = None


class PathSums(NamedTuple):
    """Sums for the average: each update times the time before it; empty without an average."""

    emissions: np.ndarray
    transitions: np.ndarray


class PathSettings(NamedTuple):
    """The number of tags, the width of a row of scores, and the margin.

    The right tag of a token must lead by ``margin`` times the squared length of its features.
    """

    tags: int
    width: int
    margin: float


class Room(NamedTuple):
    """Buffers for the longest sequence: scores of its tokens, of paths, and the path.

    ``most`` and ``least`` bound the weights of the transitions from each tag; ``sources`` lists the
    tags from which a best path may go on.
    """

    scores: np.ndarray
    paths: np.ndarray
    path: np.ndarray
    most: np.ndarray
    least: np.ndarray
    sources: np.ndarray


SINGLE, DOUBLE, TAGS = vector(np.float32), vector(np.float64), vector(np.uint16)
SETTINGS, ROOM = PathSettings(WHOLE, WHOLE, REAL), Room(SINGLE, SINGLE, TAGS, SINGLE, SINGLE, TAGS)
WEIGHTS = PathWeights(*[given(np.float32)] * 3)
GROWING = PathWeights(SINGLE, SINGLE, SINGLE, vector(np.uint32), vector(np.int64))
SUMS, TABLE = PathSums(DOUBLE, DOUBLE), vector(np.float32, 2)
SEQUENCES = given(np.int64), WHOLE, WHOLE
ORDER = given(np.int64), given(np.uint16), given(np.uint32), WHOLE, WHOLE


def each_tokens(*rest):
    """Features with values and without, and what follows them."""
    for values in (None, given(np.float32)):
        yield Tokens(given(np.uint32), given(np.int64), values), *rest


# Rows of scores, as vectors of eight numbers when compiled (llvm.py).


@instruction
def add_rows(rows, places, features, values, first, last, out, place, width):
    """Set a row of ``out`` to the sum of the rows of features first to last, times values.

    Feature f has row ``places[f]``, or row f where ``places`` is None.
    """
    out[place : place + width] = 0
    for k in range(first, last):
        row = int(features[k] if places is None else places[features[k]])
        factor = np.float32(1 if values is None else values[k])
        out[place : place + width] += rows[row * width : (row + 1) * width] * factor


@instruction
def max_plus(before, start, sources, count, moves, out, place, width):
    """Add to a row of ``out`` the largest sums of ``before`` and ``moves`` in each column.

    Only ``count`` sources matter: p has the score ``before[start + p]`` and row p of ``moves``.
    """
    best = np.full(width, -np.inf, np.float32)
    for k in range(count):
        p = int(sources[k])
        best = np.maximum(best, before[start + p] + moves[p * width : (p + 1) * width])
    out[place : place + width] += best


# The best path.


@inlined
def find_best(scores, place, stride, count, moves, begin, step, avoided):
    """The largest of ``count`` scores plus moves; of equals the first that is not avoided."""
    best, found = scores[place] + moves[begin], 0
    for p in range(1, count):
        total = scores[place + p * stride] + moves[begin + p * step]
        if total > best or (total == best and found == avoided):
            best, found = total, p
    return found


@inlined
def get_right(right, i):
    """The right tag of token i, or -1 where none are known."""
    return np.int64(right[i]) if len(right) > 0 else -1


@inlined
def score_tokens(tokens, first, count, weights, width, scores):
    """Set the score of every tag for ``count`` tokens, by their features alone."""
    features, starts, values = tokens
    for i in range(count):
        begin, end = np.int64(starts[first + i]), np.int64(starts[first + i + 1])
        table, rows, place = weights.emissions, weights.rows, i * width
        add_rows(table, rows, features, values, begin, end, scores, place, width)


@helper
def bound_moves(room, weights, settings):
    """Bound the weights of the transitions from each tag."""
    for p in range(settings.tags + 1):
        most = least = weights.transitions[p * settings.width]
        for t in range(1, settings.tags):
            weight = weights.transitions[p * settings.width + t]
            most, least = larger(most, weight), smaller(least, weight)
        room.most[p], room.least[p] = most, least


@inlined
def find_sources(room, place, tags):
    """List the tags from which a best path may go on; return their number.

    From the others, all transitions end below those from one tag. So the paths are the best ones,
    and usually a few tags of many are left.
    """
    paths, count = room.paths, 0
    enough = paths[place] + room.least[0]
    for p in range(1, tags):
        enough = larger(enough, paths[place + p] + room.least[p])
    for p in range(tags):
        if paths[place + p] + room.most[p] >= enough:
            room.sources[count] = p
            count += 1
    return count


@helper
def extend_paths(room, n, weights, settings):
    """Set for each token and tag the score of the best path that ends there (Viterbi 1967)."""
    tags, width = settings.tags, settings.width
    scores, paths, moves = room.scores, room.paths, weights.transitions
    for t in range(width):
        paths[t] = scores[t] + moves[tags * width + t]
    for k in range(width, n * width):
        paths[k] = scores[k]
    for i in range(1, n):
        count = find_sources(room, (i - 1) * width, tags)
        max_plus(paths, (i - 1) * width, room.sources, count, moves, paths, i * width, width)


@helper
def find_path(room, n, weights, settings, right, first):
    """Set the best path; of equal ones a path that is not right."""
    tags, width, path, moves = settings.tags, settings.width, room.path, weights.transitions
    extend_paths(room, n, weights, settings)
    avoided = get_right(right, first + n - 1)
    path[n - 1] = find_best(room.paths, (n - 1) * width, 1, tags, weights.last, 0, 1, avoided)
    for i in range(n - 2, -1, -1):
        tag, avoided = np.int64(path[i + 1]), get_right(right, first + i)
        path[i] = find_best(room.paths, i * width, 1, tags, moves, tag, width, avoided)


@compiled(lambda: each_tokens(*SEQUENCES, WEIGHTS, SETTINGS, ROOM, given(np.uint16), TAGS))
def predict(tokens, sequences, begin, end, weights, settings, room, right, tags):
    """Write the tags of the best path of the sequences begin to end; ``right`` is empty."""
    bound_moves(room, weights, settings)
    for s in range(begin, end):
        first, n = sequences[s], sequences[s + 1] - sequences[s]
        if n > 0:
            score_tokens(tokens, first, n, weights, settings.width, room.scores)
            find_path(room, n, weights, settings, right, first)
            for i in range(n):
                tags[first + i] = room.path[i]


# Learning.


@inlined
def get_value(k, values):
    """Value k, which is 1 if there are none."""
    if values is None:
        return np.float32(1)
    return values[k]


@inlined
def required_lead(tokens, i, settings):
    """The lead that the right tag of token i must have: the margin times ‖features‖²."""
    first, last = np.int64(tokens.starts[i]), np.int64(tokens.starts[i + 1])
    return np.float32(settings.margin) * sum_of_squares(first, last, tokens.values)


@inlined
def sum_of_squares(first, last, values):
    """The sum of squares of some values, which are 1 if there are none."""
    if values is None:
        return np.float32(last - first)
    total = np.float32(0)
    for k in range(first, last):
        total += values[k] * values[k]
    return total


@inlined
def find_row(feature, weights):
    """The row of a feature's weights; a new row at its first update."""
    row = np.int64(weights.rows[feature])
    if row == 0:
        row = weights.used[0]
        weights.rows[feature] = row
        weights.used[0] += 1
    return row


@helper
def count_lacking_rows(tokens, first, n, weights, width):
    """The number of rows to add before all features of some tokens can be updated."""
    begin, end = np.int64(tokens.starts[first]), np.int64(tokens.starts[first + n])
    free = len(weights.emissions) // width - weights.used[0]
    if end - begin <= free:
        return 0
    new = 0
    for k in range(begin, end):
        new += weights.rows[tokens.features[k]] == 0
    return larger(0, new - free)


@inlined
def move_emissions(tokens, i, right, wrong, time, weights, sums, settings):
    """Add a token's features to the weights of the right tag, subtract from those of the wrong."""
    features, starts, values = tokens
    width, tags = settings.width, settings.tags
    for k in range(np.int64(starts[i]), np.int64(starts[i + 1])):
        row, value = find_row(features[k], weights), get_value(k, values)
        weights.emissions[row * width + right] += value
        weights.emissions[row * width + wrong] -= value
        if len(sums.emissions) > 0:
            sums.emissions[row * tags + right] += time * value
            sums.emissions[row * tags + wrong] -= time * value


@inlined
def move_transition(before, tag, step, time, room, weights, sums, settings):
    """Add a step to the weight of a transition, which widens its bounds."""
    place = before * settings.width + tag
    weights.transitions[place] += np.float32(step)
    room.most[before] = larger(room.most[before], weights.transitions[place])
    room.least[before] = smaller(room.least[before], weights.transitions[place])
    if len(sums.transitions) > 0:
        sums.transitions[place] += time * step


@helper
def move_paths(tokens, right, first, n, time, room, weights, sums, settings):
    """Add the features of the right path to the weights, subtract those of the path found."""
    before = found_before = settings.tags
    for i in range(n):
        y, z = np.int64(right[first + i]), np.int64(room.path[i])
        if y != z:
            move_emissions(tokens, first + i, y, z, time, weights, sums, settings)
        if y != z or before != found_before:
            move_transition(before, y, 1.0, time, room, weights, sums, settings)
            move_transition(found_before, z, -1.0, time, room, weights, sums, settings)
        before, found_before = y, z


@helper
def measure_lead(right, first, n, room, weights, settings):
    """The score of the right path minus that of the path found."""
    width, lead = settings.width, np.float64(0)
    before = found_before = settings.tags
    for i in range(n):
        y, z = np.int64(right[first + i]), np.int64(room.path[i])
        lead += np.float64(room.scores[i * width + y]) - room.scores[i * width + z]
        lead += weights.transitions[before * width + y]
        lead -= weights.transitions[found_before * width + z]
        before, found_before = y, z
    return lead


@compiled(lambda: each_tokens(*ORDER, GROWING, SUMS, SETTINGS, ROOM, vector(UPDATE)))
def learn(tokens, sequences, right, order, start, seen, weights, sums, settings, room, log):
    """Where the best path is wrong, add Φ(x, y) - Φ(x, z) to the weights (Collins 2002).

    The scores of right tags are lowered by the margin, so that the right path must lead the others
    by the margin for each wrong tag. Returns the place in the order where it stopped, the number of
    updates, their loss, and the number of rows of weights to add before it can continue. It stops
    when the log is full.
    """
    updates, loss, width = 0, 0.0, settings.width
    bound_moves(room, weights, settings)
    for t in range(start, len(order)):
        s = np.int64(order[t])
        first, n = sequences[s], sequences[s + 1] - sequences[s]
        if n == 0:
            continue
        score_tokens(tokens, first, n, weights, width, room.scores)
        demanded = 0.0
        for i in range(n):
            bonus = required_lead(tokens, first + i, settings)
            room.scores[i * width + np.int64(right[first + i])] -= bonus
        find_path(room, n, weights, settings, right, first)
        wrong = False
        for i in range(n):
            if room.path[i] != right[first + i]:
                wrong = True
                demanded += required_lead(tokens, first + i, settings)
        if wrong:
            lacking = count_lacking_rows(tokens, first, n, weights, width)
            if updates == len(log) or lacking > 0:
                return t, updates, loss, lacking
            lead = measure_lead(right, first, n, room, weights, settings) + demanded
            time = np.float64(seen + t)
            move_paths(tokens, right, first, n, time, room, weights, sums, settings)
            loss += log_update(log, updates, t, 0, lead, 1.0)
            updates += 1
    return len(order), updates, loss, 0
