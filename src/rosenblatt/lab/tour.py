"""The guided tour: eight stops that follow five teaching documents."""

from typing import NamedTuple

END = 5_000  # whatever moment is the last one


class Stop(NamedTuple):
    """A title, what to see, the document that tells more, and the page's address there.

    ``curve`` is what the chart shows over time, ``ways`` are more addresses with their names.
    """

    title: str
    text: str
    document: str
    address: str
    curve: str = "errors"
    ways: tuple[tuple[str, str], ...] = ()


PRODUCTS, KERNEL, UNITS = "form=lifted", "form=kernel&kernel=poly", "form=network"

TOUR = (
    Stop(
        "A line between two classes",
        "Squares are +1, circles −1, and one line has them on its two sides, with the margin "
        "(dotted) free of points. Drag a square across: all is learnt again at once. Click to "
        "place a point, press Delete to remove it.",
        "000, problem statement",
        f"data=blobs&size=30&gap=0.4&order=fixed&t={END}",
    ),
    Stop(
        "A mistake",
        "Learning starts from w = 0, where every activation is 0, and that counts as a mistake. "
        "The ringed point is the first one met: y·(w·x + b) ≤ 0. Adding y·x to w and y to b gives "
        "the first line.",
        "002, the test of the primal form",
        "data=blobs&size=30&gap=0.4&order=fixed&t=1",
    ),
    Stop(
        "The update",
        "A mistake adds y·x to w and y to b. Step on and back: w turns towards a square and away "
        "from a circle, and y·activation of that point rises by ‖x‖² + 1. Its angle is drawn, the "
        "line before is dashed.",
        "001, why does this work?",
        "data=blobs&size=30&gap=0.15&seed=3&order=fixed&t=3",
    ),
    Stop(
        "Convergence",
        "Go back to the start and play. The number of misclassified points, in the chart, goes up "
        "and down, but the updates end: a pass without a mistake proves that the line separates.",
        "004, convergence and linear separability",
        f"data=blobs&size=120&gap=0.05&order=each&t={END}",
    ),
    Stop(
        "Order",
        "500 squares and then 500 circles. In the order given (left) the perceptron first learns "
        "to say +1, then −1, and needs 32 epochs; a new permutation each epoch (right) mixes them, "
        "and 3 are enough.",
        "004, the order of the examples",
        f"data=500-then-500&gap=0.05&order=fixed&compare=on&b.order=each&t={END}",
    ),
    Stop(
        "Margin and bound",
        "The wider the margin γ, the fewer mistakes: at most (R/γ)², in any order. The chart shows "
        "why: with M mistakes, the length of w is at least γM and at most R√M (dotted).",
        "002, Novikoff; 004, the convergence theorem",
        f"data=blobs&size=60&gap=0.1&order=fixed&t={END}",
        "length",
    ),
    Stop(
        "No line for XOR",
        "The segments between two squares and between two circles cross: what is between squares "
        "is on their side of a line, so no line has the circles on the other. The rule would go on "
        "for ever; here it is stopped.",
        "004, limitations",
        "data=xor&order=fixed&max_iter=20&t=79",
    ),
    Stop(
        "Three ways past the line",
        "A third feature, the product x₁·x₂, lifts the points into space, where a plane parts them "
        "(turn it with the mouse); a kernel does so without writing features down; and a network "
        "takes two lines: unit 2 turns unit 1 off where it is wrong.",
        "004, limitations; 002, the dual form",
        f"data=xor&{PRODUCTS}&order=fixed&compare=on&b.{UNITS}&t={END}",
        ways=(
            ("Products", f"data=xor&{PRODUCTS}&order=fixed&t={END}"),
            ("A kernel", f"data=xor&{KERNEL}&order=fixed&t={END}"),
            ("Two units", f"data=xor&{UNITS}&t={END}"),
        ),
    ),
)
