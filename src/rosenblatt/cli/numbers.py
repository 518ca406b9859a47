"""Results about predicted numbers, in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..storage.model import Model

HEADING = "   read         rows      rows/s    MB/s    MAE so far    MAE since"


def plain(value: float, digits: int = 5) -> str:
    """A number with some significant digits; a large one has no exponent.

    >>> plain(106230.4), plain(0.5), plain(16245.2)
    ('106230', '0.5', '16245')
    """
    return f"{float(f'{value:.{digits}g}'):.15g}"


def summarize_numbers(score: Mapping[str, Any]) -> str:
    """The errors of predicted numbers beside those of two baselines, in a line.

    >>> known = {"rows": 1000, "mae": 0.5, "rmse": 0.75, "r2": 0.61}
    >>> summarize_numbers(known | {"median_mae": 0.9, "mean_rmse": 1.2})
    'MAE 0.5, RMSE 0.75, R² 0.6100 on 1,000 rows (the median for all: MAE 0.9; the mean: RMSE 1.2)'
    """
    rows = f"{score['rows']:,} row{'' if score['rows'] == 1 else 's'}"
    return (
        f"MAE {plain(score['mae'])}, RMSE {plain(score['rmse'])}, R² {score['r2']:.4f} on {rows} "
        f"(the median for all: MAE {plain(score['median_mae'])}; the mean: RMSE "
        f"{plain(score['mean_rmse'])})"
    )


def about_numbers(model: "Model") -> str:
    """The numbers that a model learnt, in a phrase."""
    scale = model.facts["numbers"]
    return f"numbers: mean {plain(scale['center'])}, deviation {plain(scale['scale'])}"
