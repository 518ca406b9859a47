"""Results about rows ranked within groups, in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..storage.model import Model


def summarize_ranking(score: Mapping[str, Any]) -> str:
    """NDCG and AUC beside a random order, and the pairs in the wrong order, in a line.

    >>> score = {"rows": 900, "groups": 60, "ndcg_at_10": 0.8, "ndcg": 0.85, "auc": 0.75}
    >>> random = {"random_ndcg_at_10": 0.5, "random_ndcg": 0.7}
    >>> summarize_ranking(score | random | {"pairs": 4000, "pairs_wrong": 1000.0})
    'NDCG@10 0.8000, NDCG 0.8500, AUC 0.7500 in the mean of 60 groups; 25.00% of 4,000 pairs wrong \
(random order: NDCG@10 0.5000, NDCG 0.7000)'
    """
    if not score["groups"]:
        return "nothing to measure: no group has rows of different relevance"
    groups = f"{score['groups']:,} group{'' if score['groups'] == 1 else 's'}"
    wrong = score["pairs_wrong"] / max(score["pairs"], 1)
    return (
        f"NDCG@10 {score['ndcg_at_10']:.4f}, NDCG {score['ndcg']:.4f}, AUC {score['auc']:.4f} in "
        f"the mean of {groups}; {wrong:.2%} of {score['pairs']:,} pairs wrong (random order: "
        f"NDCG@10 {score['random_ndcg_at_10']:.4f}, NDCG {score['random_ndcg']:.4f})"
    )


def about_ranking(model: "Model") -> str:
    """The groups that a model ranks rows in, in a phrase."""
    group = (model.features.get("recipe") or {}).get("group")
    return "relevance within groups" + ("" if group is None else f" of {group}")
