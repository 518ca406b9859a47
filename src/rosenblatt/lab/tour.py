"""The guided tour: seven stops that follow five teaching documents."""

from typing import NamedTuple


class Stop(NamedTuple):
    """A title, what to see, the document that tells more, and the page's address there."""

    title: str
    text: str
    document: str
    address: str


TOUR = (
    Stop(
        "Data",
        "Two classes, squares (+1) and circles (−1). Is there a line with all squares on one side "
        "and all circles on the other? Click to place a point, drag it, press Delete to remove it.",
        "000, problem statement",
        "data=blobs&size=30&gap=0.4&order=fixed",
    ),
    Stop(
        "A mistake",
        "Learning starts from w = 0, where every activation is 0, and that counts as a mistake. "
        "The ringed point is the first one met: y·(w·x + b) ≤ 0.",
        "002, the test of the primal form",
        "data=blobs&size=30&gap=0.4&order=fixed&t=1",
    ),
    Stop(
        "The update",
        "A mistake adds y·x to w and y to b. Step on and back: w turns towards a square and away "
        "from a circle, and y·activation of that point rises by ‖x‖² + 1. Its angle is drawn.",
        "001, why does this work?",
        "data=blobs&size=30&gap=0.15&seed=3&order=fixed&t=2",
    ),
    Stop(
        "Convergence",
        "Play. The number of misclassified points goes up and down, but the updates end: a pass "
        "without a mistake proves that the line separates.",
        "004, convergence and linear separability",
        "data=blobs&size=120&gap=0.05&order=each&t=1",
    ),
    Stop(
        "Order",
        "500 squares and then 500 circles. In the order given (left) the perceptron first learns "
        "to say +1, then −1; a new permutation each epoch (right) mixes them.",
        "004, the order of the examples",
        "data=500-then-500&gap=0.05&order=fixed&compare=on&b.order=each&t=4",
    ),
    Stop(
        "Margin and bound",
        "The wider the margin γ, the fewer mistakes: at most (R/γ)², in any order. On the right a "
        "margin is demanded, so that points inside the band count as mistakes, too.",
        "002, Novikoff; 004, the convergence theorem",
        "data=blobs&size=60&gap=0.6&order=fixed&compare=on&b.order=fixed&b.margin=2&t=99",
    ),
    Stop(
        "XOR and kernels",
        "No line separates these four points: the segments cross, and that is the proof. The "
        "linear rule goes on for ever (left; here it is stopped). A kernel bends the boundary.",
        "004, limitations; 002, the dual form",
        "data=xor&order=fixed&max_iter=20&compare=on&b.form=kernel&b.kernel=poly&b.order=fixed&t=79",
    ),
)
