"""Results in words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..files import Score


def count(number: int, thing: str) -> str:
    """So many things: "1 row", "2 rows"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def errors(score: "Score") -> str:
    """An error in words."""
    return f"error {score.error:.2%}: {score.errors:,} of {count(score.rows, 'row')}"


def why(stop_reason: str, mistakes: int, epochs: int, seconds: float) -> str:
    """What a run has shown, in a line."""
    passes = count(epochs, "epoch")
    reasons = {
        "separated": "a pass without mistakes",
        "max_iter": f"{passes} {'is' if epochs == 1 else 'are'} over",
        "no_improvement": "the held-out rows gained no more, and the best weights were taken",
    }
    found = "Separated" if stop_reason == "separated" else "Not separated"
    done = f"{count(mistakes, 'mistake')} in {passes} ({seconds:.3f} s)"
    return f"{found} after {done}: {reasons.get(stop_reason, stop_reason)}."
