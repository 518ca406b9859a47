"""The GPU's kernels can be imported with the newest NumPy, which lacks what numba-cuda asks for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import numpy
if hasattr(numpy, "row_stack"):
    del numpy.row_stack  # as in NumPy 2.5
import rosenblatt.dual.kernels.gpu
assert "numba.cuda.np.arrayobj" in sys.modules
assert not hasattr(numpy, "row_stack")
"""


@pytest.mark.parametrize("simulated", ["0", "1"])
def test_numba_cuda_is_imported_where_numpy_has_no_row_stack(simulated):
    package = Path(pytest.importorskip("numba_cuda").__file__).parent
    if not (package / "numba/cuda/np/arrayobj.py").exists():
        pytest.skip("this numba-cuda has no array functions of its own")
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": simulated}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True
    )
    if "libcudart" in done.stderr:
        pytest.skip("numba-cuda needs the CUDA runtime")
    assert done.returncode == 0, done.stderr
