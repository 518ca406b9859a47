"""Kinds of model without scikit-learn: linear, dual, sequence, network.

Each kind registers the states of its models here, which files are checked by. They are imported
when a file asks for them.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..storage.registry import STATES

if TYPE_CHECKING:
    from ..storage.model import Model


def dual_states() -> Mapping[str, type]:
    """The states of models in dual form, by solution."""
    from .dual.state import DualState

    return dict.fromkeys(("last", "average", "vote"), DualState)


def network_states() -> Mapping[str, type]:
    """The states of networks, which have one solution."""
    from .network.state import NetworkState

    return {"": NetworkState}


def sequence_states() -> Mapping[str, type]:
    """The states of taggers, by solution."""
    from .sequence.arrays import TaggerArrays

    return dict.fromkeys(("last", "average"), TaggerArrays)


STATES["KernelPerceptron"] = dual_states
STATES["PerceptronNetwork"] = network_states
STATES["SequencePerceptron"] = sequence_states


def load_model(path: str | os.PathLike[str], data: bytes | None = None) -> "Model":
    """Load a model of any kind from a file, or from its bytes if they are given."""
    from ..storage import file

    return file.load_model(path, data)
