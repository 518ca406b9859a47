"""Sequence tagging: the best path by Viterbi or greedy search, and learning from wrong paths.

Scores are rows of ``width`` numbers: one for each tag, rounded up to whole vectors of eight. All
arrays of weights are flat. A transition from tag p to tag t is at p·width + t, and the row after
the last tag is for the start of a sequence. A second-order transition from q and p to t is at
(q·(tags + 1) + p)·width + t. Forbidden transitions weigh IMPOSSIBLE, and so do those to the tags
that only fill up a vector.
"""

from typing import NamedTuple

import numpy as np

from .algebra import larger, smaller
from .compiling import compiled, helper, inlined
from .linear import log_update
from .vectors import add_rows, max_plus

IMPOSSIBLE = np.float32(-1e30)
ROUNDING = 1e-5  # relative precision of scores in float32


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
    pairs: np.ndarray
    last: np.ndarray
    rows: np.ndarray | None = None
    used: np.ndarray | None = None


class PathSums(NamedTuple):
    """Sums for the average: each update times the time before it; empty without an average."""

    emissions: np.ndarray
    transitions: np.ndarray
    pairs: np.ndarray


class PathSettings(NamedTuple):
    """The number of tags, the width of a row of scores, and how tags are searched and learned.

    A tag depends on ``markov`` tags before it. The right tag of a token must lead by ``margin``
    times the squared length of its features. With ``C`` above 0, steps are passive-aggressive, at
    most C, and the right tag must lead by the margin itself.
    """

    tags: int
    width: int
    markov: int
    greedy: bool
    margin: float
    C: float = 0.0


class Room(NamedTuple):
    """Buffers for the longest sequence: scores of its tokens, of paths, and the path."""

    scores: np.ndarray
    paths: np.ndarray
    path: np.ndarray


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


@compiled
def score_path_tokens(tokens, first, count, weights, settings, scores):
    """Set the score of every tag for ``count`` tokens, by their features alone; for Python."""
    score_tokens(tokens, first, count, weights, settings.width, scores)


@helper
def first_order_paths(room, n, weights, settings):
    """Set for each token and tag the score of the best path that ends there (Viterbi 1967)."""
    tags, width = settings.tags, settings.width
    scores, paths, moves = room.scores, room.paths, weights.transitions
    for t in range(width):
        paths[t] = scores[t] + moves[tags * width + t]
    for k in range(width, n * width):
        paths[k] = scores[k]
    for i in range(1, n):
        max_plus(paths, (i - 1) * width, 1, moves, 0, width, tags, paths, i * width, width)


@helper
def first_order_path(room, n, weights, settings, right, first):
    """Set the best path; of equal ones a path that is not right."""
    tags, width, path, moves = settings.tags, settings.width, room.path, weights.transitions
    first_order_paths(room, n, weights, settings)
    avoided = get_right(right, first + n - 1)
    path[n - 1] = find_best(room.paths, (n - 1) * width, 1, tags, weights.last, 0, 1, avoided)
    for i in range(n - 2, -1, -1):
        tag, avoided = np.int64(path[i + 1]), get_right(right, first + i)
        path[i] = find_best(room.paths, i * width, 1, tags, moves, tag, width, avoided)


@helper
def second_order_paths(room, n, weights, settings):
    """Set for each token, tag before and tag the score of the best path that ends with both."""
    tags, width = settings.tags, settings.width
    scores, paths, square = room.scores, room.paths, (settings.tags + 1) * settings.width
    for k in range(square):
        paths[k] = IMPOSSIBLE
    start = tags * width
    for t in range(width):
        both = weights.transitions[start + t] + weights.pairs[tags * square + start + t]
        paths[start + t] = scores[t] + both
    for i in range(1, n):
        for p in range(tags):
            row = i * square + p * width
            for t in range(width):
                paths[row + t] = scores[i * width + t] + weights.transitions[p * width + t]
            before, moves = (i - 1) * square + p, p * width
            count = tags + 1
            max_plus(paths, before, width, weights.pairs, moves, square, count, paths, row, width)
        for t in range(width):
            paths[i * square + start + t] = IMPOSSIBLE


@helper
def second_order_path(room, n, weights, settings, right, first):
    """Set the best path by two tags before; of equal ones a path that is not right."""
    tags, width, path, pairs = settings.tags, settings.width, room.path, weights.pairs
    square = (tags + 1) * width
    second_order_paths(room, n, weights, settings)
    before, found = find_last_pair(room, n, weights, settings, right, first)
    path[n - 1] = found
    for i in range(n - 1, 0, -1):
        path[i - 1] = before
        place, moves = (i - 1) * square + before, before * width + np.int64(path[i])
        avoided = get_right(right, first + i - 2) if i > 1 else -1
        before = find_best(room.paths, place, width, tags + 1, pairs, moves, square, avoided)


@inlined
def find_last_pair(room, n, weights, settings, right, first):
    """The last two tags of the best path."""
    tags, width = settings.tags, settings.width
    row, avoided = (n - 1) * (tags + 1) * width, get_right(right, first + n - 1)
    avoided_before = get_right(right, first + n - 2) if n > 1 and len(right) > 0 else tags
    found = before = -1
    best = np.float32(-np.inf)
    for t in range(tags):
        for p in range(tags + 1):
            total = room.paths[row + p * width + t] + weights.last[t]
            known_right = found == avoided and before == avoided_before
            if total > best or (total == best and known_right):
                best, found, before = total, t, p
    return before, found


@inlined
def get_context(i, tags, markov, path):
    """The two tags before token i of a path; the start where tags do not depend on them."""
    before = np.int64(path[i - 1]) if i > 0 and markov > 0 else tags
    earlier = np.int64(path[i - 2]) if i > 1 and markov > 1 else tags
    return earlier, before


@helper
def add_moves(room, i, weights, settings):
    """Add the transitions from the tags before to the scores of token i."""
    tags, width, scores = settings.tags, settings.width, room.scores
    earlier, before = get_context(i, tags, settings.markov, room.path)
    if settings.markov > 0:
        for t in range(width):
            scores[i * width + t] += weights.transitions[before * width + t]
    if settings.markov > 1:
        row = (earlier * (tags + 1) + before) * width
        for t in range(width):
            scores[i * width + t] += weights.pairs[row + t]


@helper
def greedy_path(room, n, weights, settings):
    """Set the tags one by one, each the best after those before it."""
    for i in range(n):
        add_moves(room, i, weights, settings)
        place = i * settings.width
        room.path[i] = find_best(room.scores, place, 1, settings.tags, weights.last, 0, 1, -1)


@compiled
def predict(tokens, sequences, begin, end, weights, settings, room, right, tags):
    """Write the tags of the best path of the sequences begin to end; ``right`` is empty."""
    for s in range(begin, end):
        first, n = sequences[s], sequences[s + 1] - sequences[s]
        if n > 0:
            score_tokens(tokens, first, n, weights, settings.width, room.scores)
            find_path(room, n, weights, settings, right, first)
            for i in range(n):
                tags[first + i] = room.path[i]


@inlined
def find_path(room, n, weights, settings, right, first):
    """Set the best path, by the search and order of the settings."""
    if settings.greedy:
        greedy_path(room, n, weights, settings)
    elif settings.markov > 1:
        second_order_path(room, n, weights, settings, right, first)
    else:
        first_order_path(room, n, weights, settings, right, first)


# Learning.


@inlined
def squared_length(tokens, i):
    """The squared length of a token's features."""
    return sum_of_squares(np.int64(tokens.starts[i]), np.int64(tokens.starts[i + 1]), tokens.values)


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
def get_value(k, values):
    """Value k, which is 1 if there are none."""
    if values is None:
        return np.float32(1)
    return values[k]


@inlined
def required_lead(tokens, i, settings):
    """The lead that the right tag of token i must have."""
    if settings.C > 0:
        return np.float32(settings.margin)
    return np.float32(settings.margin) * squared_length(tokens, i)


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
def move_emissions(tokens, i, right, wrong, step, time, weights, sums, settings):
    """Add a step to the weights of a token's features for the right tag, subtract for the wrong."""
    features, starts, values = tokens
    width, tags = settings.width, settings.tags
    for k in range(np.int64(starts[i]), np.int64(starts[i + 1])):
        row, change = find_row(features[k], weights), step * get_value(k, values)
        weights.emissions[row * width + right] += np.float32(change)
        weights.emissions[row * width + wrong] -= np.float32(change)
        if len(sums.emissions) > 0:
            sums.emissions[row * tags + right] += time * change
            sums.emissions[row * tags + wrong] -= time * change


@helper
def move_transition(earlier, before, tag, step, time, weights, sums, settings):
    """Add a step to the weights of a transition."""
    tags, width = settings.tags, settings.width
    if settings.markov > 0:
        place = before * width + tag
        weights.transitions[place] += np.float32(step)
        if len(sums.transitions) > 0:
            sums.transitions[place] += time * step
    if settings.markov > 1:
        place = (earlier * (tags + 1) + before) * width + tag
        weights.pairs[place] += np.float32(step)
        if len(sums.pairs) > 0:
            sums.pairs[place] += time * step


@helper
def move_paths(tokens, right, first, n, step, time, room, weights, sums, settings):
    """Add a step times the features of the right path, subtract those of the path found."""
    tags, markov = settings.tags, settings.markov
    ours = right[first : first + n]
    for i in range(n):
        y, z = np.int64(ours[i]), np.int64(room.path[i])
        if y != z:
            move_emissions(tokens, first + i, y, z, step, time, weights, sums, settings)
        earlier, before = get_context(i, tags, markov, ours)
        earlier_found, before_found = get_context(i, tags, markov, room.path)
        if y != z or before != before_found or earlier != earlier_found:
            move_transition(earlier, before, y, step, time, weights, sums, settings)
            found = earlier_found, before_found, z
            move_transition(*found, -step, time, weights, sums, settings)


@helper
def measure_lead(right, first, n, room, weights, settings):
    """The score of the right path minus that of the path found."""
    tags, width, markov = settings.tags, settings.width, settings.markov
    ours, lead = right[first : first + n], np.float64(0)
    for i in range(n):
        y, z = np.int64(ours[i]), np.int64(room.path[i])
        lead += np.float64(room.scores[i * width + y]) - room.scores[i * width + z]
        earlier, before = get_context(i, tags, markov, ours)
        earlier_found, before_found = get_context(i, tags, markov, room.path)
        if markov > 0:
            lead += weights.transitions[before * width + y]
            lead -= weights.transitions[before_found * width + z]
        if markov > 1:
            lead += weights.pairs[(earlier * (tags + 1) + before) * width + y]
            lead -= weights.pairs[(earlier_found * (tags + 1) + before_found) * width + z]
    return lead


@inlined
def aggressive_step(demanded, lead, distance, C):
    """The smallest step after which the lead is as required, at most C."""
    return smaller(C, (demanded - lead) / distance) if distance > 0 else 0.0


@helper
def learn_path(tokens, right, first, n, lead, demanded, time, room, weights, sums, settings):
    """Move the weights from the path found to the right path; return the step."""
    if settings.C == 0:
        move_paths(tokens, right, first, n, 1.0, time, room, weights, sums, settings)
        return 1.0
    if demanded - lead <= ROUNDING * demanded:  # as an earlier step has left it
        return 0.0
    move_paths(tokens, right, first, n, 1.0, time, room, weights, sums, settings)
    score_tokens(tokens, first, n, weights, settings.width, room.scores)
    # a step of 1 adds ‖Φ(x, y) - Φ(x, z)‖² to the lead
    distance = measure_lead(right, first, n, room, weights, settings) - lead
    step = aggressive_step(demanded, lead, distance, settings.C)
    move_paths(tokens, right, first, n, step - 1.0, time, room, weights, sums, settings)
    return step


@compiled
def learn(tokens, sequences, right, order, start, seen, weights, sums, settings, room, log):
    """Where the best path is wrong, add Φ(x, y) - Φ(x, z) to the weights (Collins 2002).

    The scores of right tags are lowered by the margin, so that the right path must lead the others
    by the margin for each wrong tag. With C, the step is that of 1-best MIRA (McDonald, Crammer &
    Pereira 2005; Crammer et al. 2006). Returns the place in the order where it stopped, the number
    of updates, their loss, and the number of rows of weights to add before it can continue. It
    stops when the log is full.
    """
    updates, loss, width = 0, 0.0, settings.width
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
            asked = lead, demanded, np.float64(seen + t)
            step = learn_path(tokens, right, first, n, *asked, room, weights, sums, settings)
            if step > 0:
                loss += log_update(log, updates, t, 0, lead, step)
                updates += 1
    return len(order), updates, loss, 0


@compiled
def learn_greedily(
    tokens, sequences, right, order, start, seen, weights, sums, settings, room, log
):
    """Where the best tag after the tags found so far is wrong, update at once, token by token.

    ``seen`` counts tokens. Returns what ``learn`` returns, and the number of tokens seen. It stops
    before a sequence for which the log may be too short.
    """
    updates, loss, tags, width = 0, 0.0, settings.tags, settings.width
    for t in range(start, len(order)):
        s = np.int64(order[t])
        first, n = sequences[s], sequences[s + 1] - sequences[s]
        lacking = count_lacking_rows(tokens, first, n, weights, width)
        if updates + n > len(log) or lacking > 0:
            return t, updates, loss, lacking, seen
        for i in range(n):
            place, y = i * width, np.int64(right[first + i])
            score_tokens(tokens, first + i, 1, weights, width, room.scores[place : place + width])
            add_moves(room, i, weights, settings)
            found = find_best(room.scores, place, 1, tags, weights.last, 0, 1, y)
            bonus = np.float64(required_lead(tokens, first + i, settings))
            room.scores[place + y] -= np.float32(bonus)
            rival = find_best(room.scores, place, 1, tags, weights.last, 0, 1, y)
            if rival != y:
                lead = np.float64(room.scores[place + y]) - room.scores[place + rival] + bonus
                earlier, before = get_context(i, tags, settings.markov, room.path)
                time, step = np.float64(seen), 1.0
                if settings.C > 0:
                    distance = 2.0 * (squared_length(tokens, first + i) + settings.markov)
                    step = aggressive_step(bonus, lead, distance, settings.C)
                move_emissions(tokens, first + i, y, rival, step, time, weights, sums, settings)
                for tag, signed in ((y, step), (rival, -step)):
                    move_transition(earlier, before, tag, signed, time, weights, sums, settings)
                loss += log_update(log, updates, t, 0, lead, step)
                updates += 1
            room.path[i] = found
            seen += 1
    return len(order), updates, loss, 0, seen


# The best path through each tag of each token.


@compiled
def best_through(tokens, first, n, weights, settings, room, out):
    """Set for each token and tag the score of the best path that has the tag there."""
    tags, width, square = settings.tags, settings.width, (settings.tags + 1) * settings.width
    score_tokens(tokens, first, n, weights, width, room.scores)
    after = np.zeros(square, np.float32)
    later = np.zeros(square, np.float32)
    if settings.markov > 1:
        second_order_paths(room, n, weights, settings)
    else:
        first_order_paths(room, n, weights, settings)
    for i in range(n - 1, -1, -1):
        if settings.markov > 1:
            continue_pairs(room, i, n, weights, settings, later, after)
            for t in range(tags):
                best = np.float32(-np.inf)
                for p in range(tags + 1):
                    total = room.paths[i * square + p * width + t] + later[p * width + t]
                    best = larger(best, total)
                out[i, t] = best
        else:
            continue_tags(room, i, n, weights, settings, later, after)
            for t in range(tags):
                out[i, t] = room.paths[i * width + t] + later[t]


@helper
def continue_tags(room, i, n, weights, settings, later, after):
    """Set ``later`` to the score of the best continuation from each tag of token i."""
    tags, width = settings.tags, settings.width
    for k in range(len(later)):
        after[k] = later[k]
    for t in range(tags):
        if i == n - 1:
            later[t] = weights.last[t]
        else:
            best = np.float32(-np.inf)
            for u in range(tags):
                move = weights.transitions[t * width + u]
                best = larger(best, move + room.scores[(i + 1) * width + u] + after[u])
            later[t] = best


@helper
def continue_pairs(room, i, n, weights, settings, later, after):
    """The same from each two tags: of token i and of the token before."""
    tags, width, square = settings.tags, settings.width, (settings.tags + 1) * settings.width
    for k in range(len(later)):
        after[k] = later[k]
    for p in range(tags + 1):
        for t in range(tags):
            if i == n - 1:
                later[p * width + t] = weights.last[t]
            else:
                best = np.float32(-np.inf)
                for u in range(tags):
                    move = weights.transitions[t * width + u]
                    move += weights.pairs[p * square + t * width + u]
                    total = move + room.scores[(i + 1) * width + u] + after[t * width + u]
                    best = larger(best, total)
                later[p * width + t] = best
