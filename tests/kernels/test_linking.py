"""Functions that only kernels call are part of the kernels, with no machine code of their own."""

import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.registry import cpu_target

from rosenblatt.kernels.compiling import KERNEL, helper, inlined, inlined_sum
from rosenblatt.kernels.linking import LinkedLibrary


@inlined
def double(x):
    return x + x


@helper
def divide(a, b):
    return double(a) // b


@inlined_sum
def total(values):
    found = 0.0
    for x in values:
        found += x
    return found


@njit(**KERNEL)
def divided_total(values, b):
    return divide(np.int64(total(values)), b)


def test_a_kernel_contains_what_it_calls():
    assert divided_total(np.array([1.0, 2.0, 4.0]), 3) == 4
    machine = cpu_target.target_context.codegen()._engine
    for function in (double, divide, total):
        (made,) = function.overloads.values()
        assert isinstance(made.library, LinkedLibrary)
        assert not machine.is_symbol_defined(made.fndesc.llvm_func_name)
    (kernel,) = divided_total.overloads.values()
    assert machine.is_symbol_defined(kernel.fndesc.llvm_cpython_wrapper_name)


def test_an_error_in_a_linked_function_reaches_python():
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        divided_total(np.ones(2), 0)


def test_errors_are_the_same_in_a_kernel_that_was_kept_on_disk(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "from numba import njit\nfrom rosenblatt.kernels.compiling import KERNEL, helper\n"
        "@helper\ndef invert(a):\n    return 1 // a\n"
        "@njit(cache=True, **KERNEL)\ndef kernel(a):\n    return invert(a)\n"
    )
    script = (
        "import kernels\ntry:\n    kernels.kernel(0)\nexcept ZeroDivisionError as error:\n"
        "    print(error, sum(kernels.kernel.stats.cache_hits.values()))\n"
    )
    environment = {"PYTHONPATH": ":".join([str(tmp_path), *sys.path])}
    printed = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=environment | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert printed == ["integer division by zero 0\n", "integer division by zero 1\n"]


def test_without_numbas_private_names_its_own_compiler_remains():
    script = (
        "import numba.core.compiler_machinery as machinery\n"
        "private = machinery.register_pass\ndel machinery.register_pass\n"
        "from rosenblatt.kernels import compiling\n"
        "machinery.register_pass = private\n"
        "print('pipeline_class' in compiling.HELPER, compiling.helper(lambda: 1) is not None)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False True\n"
