"""More than one machine: training, predicting and proving on a Dask cluster.

The data stay on the workers. In each epoch every partition is learnt from the same weights by the
same compiled kernel; how far it moved them comes back and is mixed in a tree.
"""

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as missing:
    raise ImportError("rosenblatt.cluster needs Dask: pip install 'rosenblatt[dask]'.") from missing

from .client import WorkersLostError
from .fitting import fit
from .predicting import predict, score
from .proving import separability
from .run import Mixing, Round

__all__ = ["Mixing", "Round", "WorkersLostError", "fit", "predict", "score", "separability"]
