"""Draw the best paths of tags through a sentence."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes

from ..plots.display import Display
from ..plots.drawing import FAINT, choose_colour, draw_circles, format_number, label_axes
from .estimator import SequencePerceptron

MOST_TAGS = 12


class Lattice(NamedTuple):
    """A sentence, its best paths of tags, and the right tags if known.

    Attributes
    ----------
    tokens : list of str
        The words.
    paths : list of (list of str, float)
        Tags and score of each path, the best first.
    right : list of str or None
        The right tags.
    title : str
        The title of the axes.
    """

    tokens: list[str]
    paths: list[tuple[list[str], float]]
    right: list[str] | None
    title: str


@dataclass(kw_only=True)
class LatticeDisplay(Display):
    """The best paths of tags through a sentence.

    Create a display with ``from_estimator``, or with ``from_update`` to see the effect of an
    update.

    Attributes
    ----------
    lattices : list of Lattice
        The sentences to draw, side by side.

    See Also
    --------
    rosenblatt.SequencePerceptron : The tagger that finds the paths.

    Examples
    --------
    >>> from rosenblatt import SequencePerceptron
    >>> tagger = SequencePerceptron().fit([["the", "dog"], ["dogs"]], [["DET", "NOUN"], ["NOUN"]])
    >>> LatticeDisplay.from_estimator(tagger, ["the", "dogs"]).lattices[0].paths[0][0]
    ['DET', 'NOUN']
    """

    lattices: list[Lattice]

    def __post_init__(self) -> None:
        self.n_axes = len(self.lattices)

    @classmethod
    def from_estimator(
        cls, estimator: SequencePerceptron, sentence: Sequence[Any], y: Any = None, *, top: int = 4
    ) -> Self:
        """Make the display of a sentence and a fitted tagger.

        Parameters
        ----------
        estimator : SequencePerceptron
            A fitted tagger.
        sentence : list
            The tokens of the sentence.
        y : list, default=None
            The right tags, which are circled; chunks as in IOBES.
        top : int, default=4
            Number of paths to draw.

        Returns
        -------
        LatticeDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        return cls(lattices=[find_paths(estimator, sentence, y, top, "")])

    @classmethod
    def from_update(
        cls, estimator: SequencePerceptron, sentence: Sequence[Any], y: Any, *, top: int = 4
    ) -> Self:
        """Make the display of a sentence before and after an update of a copy of the tagger.

        Parameters
        ----------
        estimator : SequencePerceptron
            A fitted tagger; with ``solution="last"`` the whole update is visible.
        sentence, y : list
            The tokens of the sentence, and their right tags.
        top : int, default=4
            Number of paths to draw.

        Returns
        -------
        LatticeDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        after = deepcopy(estimator).partial_fit([sentence], [y])
        right = None if estimator.scheme_ else y
        made = after.n_mistakes_ - estimator.n_mistakes_
        title = "after the update" if made else "after: nothing was wrong"
        pairs = (estimator, "before"), (after, title)
        return cls(lattices=[find_paths(each, sentence, right, top, name) for each, name in pairs])

    def draw(self, ax: Any) -> None:
        """Draw tokens from left to right, tags from top to bottom, and a line for each path.

        :meta private:
        """
        tags = choose_tags(self.lattices)
        for axis, lattice in zip(np.ravel(ax), self.lattices, strict=True):
            draw_lattice(axis, lattice, tags)


def find_paths(
    estimator: SequencePerceptron, sentence: Sequence[Any], y: Any, top: int, title: str
) -> Lattice:
    """Find the best paths through a sentence."""
    words = [to_word(token) for token in sentence]
    right = None if y is None else [str(tag) for tag in y]
    return Lattice(words, estimator.best_paths(sentence, top), right, title)


def to_word(token: Any) -> str:
    """Return the word of a token: itself, or its first value."""
    if isinstance(token, str):
        return token
    return str(next(iter(token.values() if isinstance(token, dict) else token)))


def choose_tags(lattices: Sequence[Lattice]) -> list[str]:
    """Choose the tags to draw: those of all paths, or of the best paths if these are many."""
    paths = [path for lattice in lattices for path, _ in lattice.paths]
    paths += [lattice.right for lattice in lattices if lattice.right is not None]
    found = {tag for path in paths for tag in path}
    if len(found) > MOST_TAGS:
        best = [lattice.paths[0][0] for lattice in lattices]
        found = {tag for path in best for tag in path}
    return sorted(found)


def draw_lattice(ax: Axes, lattice: Lattice, tags: list[str]) -> None:
    """Draw one lattice, the best path above the others, with words, tags and legend."""
    heights = {tag: place for place, tag in enumerate(tags)}
    n = len(lattice.tokens)
    x, y = np.transpose([(i, k) for i in range(n) for k in range(len(tags))])
    ax.scatter(x, y, s=14, color=FAINT, alpha=0.5, zorder=1)
    styles = [(5.0, "-"), (2.4, "--"), (1.8, "-."), (1.6, ":")]
    best = lattice.paths[0][1]
    for rank, (path, score) in enumerate(lattice.paths):
        width, style = styles[min(rank, len(styles) - 1)]
        x, y = np.transpose([(i, heights[tag]) for i, tag in enumerate(path) if tag in heights])
        lead = (
            f"next: {format_number(score - best)}" if rank else f"best path: {format_number(score)}"
        )
        colour = choose_colour(1 - rank if rank < 2 else rank)
        look: dict[str, Any] = {"linewidth": width, "linestyle": style, "color": colour}
        shift = 0.055 * rank  # lines of equal paths stay apart
        ax.plot(x, y + shift, label=lead, zorder=3 - 0.1 * rank, **look)
        if rank == 0:
            ax.scatter(x, y, s=70, color=colour, zorder=4)
    if lattice.right is not None:
        wanted = [(i, heights[tag]) for i, tag in enumerate(lattice.right) if tag in heights]
        draw_circles(ax, np.array(wanted), 230, linewidths=1.6, label="right", zorder=5)
    ax.set_xticks(range(len(lattice.tokens)), lattice.tokens)
    if sum(map(len, lattice.tokens)) > 40:
        ax.tick_params(axis="x", rotation=45)
    ax.set_yticks(range(len(tags)), tags)
    ax.set_xlim(-0.4, len(lattice.tokens) - 0.6)
    ax.set_ylim(len(tags) - 0.5, -0.5)
    ax.tick_params(length=0)
    label_axes(ax, lattice.title)
