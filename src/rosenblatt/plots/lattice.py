"""The lattice of a sentence: its tokens, their tags, and the best paths through them."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes

from ..estimators.sequence import SequencePerceptron
from .display import Display
from .drawing import COLOURS, FAINT, ink, legend_above, ring, rounded, tidy

MOST_TAGS = 12


class Lattice(NamedTuple):
    """A sentence, its best paths, and the right tags if they are known.

    Attributes
    ----------
    tokens : list of str
        The words.
    paths : list of (list of str, float)
        Tags and score of each path, the best first.
    right : list of str or None
        The right tags.
    title : str
        What stands above it.
    """

    tokens: list[str]
    paths: list[tuple[list[str], float]]
    right: list[str] | None
    title: str


@dataclass(kw_only=True)
class LatticeDisplay(Display):
    """The best path of tags through a sentence, and its runners-up.

    Make one with ``from_estimator``, or with ``from_update`` to see what an update does.

    Attributes
    ----------
    lattices : list of Lattice
        What to draw, one beside the other.

    See Also
    --------
    rosenblatt.SequencePerceptron : Finds the paths.

    Examples
    --------
    >>> from rosenblatt import SequencePerceptron
    >>> tagger = SequencePerceptron().fit([["the", "dog"], ["dogs"]], [["DET", "NOUN"], ["NOUN"]])
    >>> LatticeDisplay.from_estimator(tagger, ["the", "dogs"]).lattices[0].paths[0][0]
    ['DET', 'NOUN']
    """

    lattices: list[Lattice]

    @property
    def n_axes(self) -> int:  # type: ignore[override]
        """One for each lattice."""
        return len(self.lattices)

    @classmethod
    def from_estimator(
        cls, estimator: SequencePerceptron, sentence: Sequence[Any], y: Any = None, *, top: int = 4
    ) -> Self:
        """The lattice of a sentence as a fitted tagger sees it.

        Parameters
        ----------
        estimator : SequencePerceptron
            Fitted.
        sentence : list
            Its tokens.
        y : list, default=None
            The right tags, to be circled; of chunks as IOBES writes them.
        top : int, default=4
            How many paths to draw.

        Returns
        -------
        LatticeDisplay
            To be drawn or saved.
        """
        return cls(lattices=[find_paths(estimator, sentence, y, top, "")])

    @classmethod
    def from_update(
        cls, estimator: SequencePerceptron, sentence: Sequence[Any], y: Any, *, top: int = 4
    ) -> Self:
        """The lattice before and after an update by a sentence, in a copy of the tagger.

        Parameters
        ----------
        estimator : SequencePerceptron
            Made with ``partial_fit``; with ``solution="last"`` the whole update is seen.
        sentence, y : list
            Its tokens, and their right tags.
        top : int, default=4
            How many paths to draw.

        Returns
        -------
        LatticeDisplay
            To be drawn or saved.
        """
        after = deepcopy(estimator).partial_fit([sentence], [y])
        right = None if estimator.scheme_ else y
        made = after.n_mistakes_ - estimator.n_mistakes_
        title = "after an update" if made else "after it: nothing was wrong"
        return cls(
            lattices=[
                find_paths(estimator, sentence, right, top, "before"),
                find_paths(after, sentence, right, top, title),
            ]
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw tokens from left to right, tags from top to bottom, and a line for each path.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, default=None
            Where to draw, one for each lattice; in a new figure unless given.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``, what it was drawn in.
        """
        axes = self._all_axes(ax, self.n_axes)
        tags = shown_tags(self.lattices)
        for axis, lattice in zip(axes, self.lattices, strict=True):
            draw_lattice(axis, lattice, tags)
        if self.n_axes == 1:
            self.ax_ = axes[0]
        return self


def find_paths(
    estimator: SequencePerceptron, sentence: Sequence[Any], y: Any, top: int, title: str
) -> Lattice:
    """The best paths through a sentence."""
    words = [token if isinstance(token, str) else to_word(token) for token in sentence]
    right = None if y is None else [str(tag) for tag in y]
    return Lattice(words, estimator.best_paths(sentence, top), right, title)


def to_word(token: Any) -> str:
    """What to call a token that is no string."""
    values = list(token.values() if isinstance(token, dict) else token)
    return str(values[0])


def shown_tags(lattices: Sequence[Lattice]) -> list[str]:
    """The tags of all paths, those of the best first."""
    paths = [path for lattice in lattices for path, _ in lattice.paths]
    paths += [lattice.right for lattice in lattices if lattice.right is not None]
    found = {tag for path in paths for tag in path}
    if len(found) > MOST_TAGS:
        best = [lattice.paths[0][0] for lattice in lattices]
        found = {tag for path in best for tag in path}
    return sorted(found)


def draw_lattice(ax: Axes, lattice: Lattice, tags: list[str]) -> None:
    """One lattice: the worst path first, so that the best lies above the others."""
    heights = {tag: place for place, tag in enumerate(tags)}
    n = len(lattice.tokens)
    x, y = np.transpose([(i, k) for i in range(n) for k in range(len(tags))])
    ax.scatter(x, y, s=14, color=FAINT, alpha=0.5, zorder=1)
    styles = [(5.0, "-"), (2.4, "--"), (1.8, "-."), (1.6, ":")]
    best = lattice.paths[0][1]
    for rank in range(len(lattice.paths) - 1, -1, -1):
        path, score = lattice.paths[rank]
        width, style = styles[min(rank, len(styles) - 1)]
        seen = [(i, heights[tag]) for i, tag in enumerate(path) if tag in heights]
        name = f"best path: {rounded(score)}" if rank == 0 else f"next: {rounded(score - best)}"
        colour = COLOURS[1 - rank] if rank < 2 else COLOURS[rank % len(COLOURS)]
        look: dict[str, Any] = {"linewidth": width, "linestyle": style, "color": colour}
        x, y = zip(*seen, strict=True)
        shift = 0.055 * rank  # or lines would hide each other where paths are one
        ax.plot(x, [k + shift for k in y], label=name, zorder=3 - 0.1 * rank, **look)
        if rank == 0:
            ax.scatter(x, y, s=70, color=colour, zorder=4)
    if lattice.right is not None:
        wanted = [(i, heights[tag]) for i, tag in enumerate(lattice.right) if tag in heights]
        x, y = np.transpose(wanted)
        ring(ax, x, y, s=230, linewidths=1.6, edgecolors=ink(), label="right", zorder=5)
    finish(ax, lattice, tags)


def finish(ax: Axes, lattice: Lattice, tags: list[str]) -> None:
    """Words below, tags at the left, a legend above."""
    ax.set_xticks(range(len(lattice.tokens)), lattice.tokens)
    if sum(map(len, lattice.tokens)) > 40:
        ax.tick_params(axis="x", rotation=45)
    ax.set_yticks(range(len(tags)), tags)
    ax.set_xlim(-0.4, len(lattice.tokens) - 0.6)
    ax.set_ylim(len(tags) - 0.5, -0.5)
    ax.tick_params(length=0)
    tidy(ax, (lattice.title, ""))
    legend_above(ax, ax.get_legend_handles_labels()[0][::-1])
