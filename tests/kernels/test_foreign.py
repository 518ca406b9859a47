"""Compiled code of other packages' kernels on disk."""

import importlib
import sys

import pytest
from numba import config

from rosenblatt.kernels import foreign
from rosenblatt.kernels.linear import perceptron

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


def test_a_foreign_kernel_is_compiled_again_when_kernels_change(tmp_path, monkeypatch):
    text = "from numba import njit\n\n@njit(cache=True)\ndef foreign_kernel(x):\n    return x + 1\n"
    (tmp_path / "foreign_kernels.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    def count_hits():
        monkeypatch.delitem(sys.modules, "foreign_kernels", raising=False)
        kernel = importlib.import_module("foreign_kernels").foreign_kernel
        foreign.stamp_foreign_kernel(kernel)
        foreign.stamp_foreign_kernel(kernel)  # once more is the same
        assert kernel(1) == 2
        return sum(kernel.stats.cache_hits.values())

    assert [count_hits(), count_hits()] == [0, 1]
    monkeypatch.setattr(foreign, "hash_kernels", lambda: "of another version")
    assert [count_hits(), count_hits()] == [0, 1]


def test_kernels_of_the_package_keep_their_stamp():
    stamp = perceptron._cache._cache_file._source_stamp
    foreign.stamp_foreign_kernel(perceptron)
    assert perceptron._cache._cache_file._source_stamp == stamp
