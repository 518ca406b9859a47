"""Compile the kernels of the lab, unchanged, to WebAssembly: ``python wasm/build.py FILE``.

The builder of the library makes a module of each form, as for any processor. It is given the layout
of wasm32, llvmlite makes an object of it, and ``wasm-ld`` (Debian's package lld) links the objects.

An exported function takes the addresses of its slots and of its results, as in the library; it
returns nothing.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.update(  # before Numba is imported; nothing may depend on this machine
    NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="", NUMBA_OPT="3", NUMBA_LOOP_VECTORIZE="0",
    ROSENBLATT_KERNELS="numba",
)  # fmt: skip
sys.path.append(str(Path(__file__).parents[1] / "library"))

import compile as library
import llvmlite.binding as llvm
import numpy as np
from numba import typeof

from rosenblatt.dual.kernels.cpu import forms_of_blocks, forms_of_votes
from rosenblatt.kernels import compiling
from rosenblatt.kernels.algebra import Rows
from rosenblatt.kernels.forms import BITS, REAL, WHOLE, given, vector
from rosenblatt.kernels.loop import UPDATE, Clock, Examples, State
from rosenblatt.kernels.perceptron import Batch, Perceptron
from rosenblatt.kernels.targets import SeveralClasses, TwoClasses

LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
FEATURES = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"


def list_forms():
    """Yield the name of each function of the page, of its kernel, and arguments of its types."""
    vectors = [vector(np.float64)] * 4
    rows, order, state = (
        Rows(given(np.float64), None, given(np.uint64)),
        given(np.uint32),
        State(*vectors),
    )
    for kind, target, labels in (
        ("two", TwoClasses(), None),
        ("classes", SeveralClasses(vector(np.float64)), given(np.uint32)),
    ):
        examples = Examples(rows, given(np.float64), labels)
        for name, rule in ("learn", Perceptron), ("batch", Batch):
            rest = order, WHOLE, state, Clock(REAL, REAL, REAL), vector(UPDATE)
            settings = rule(REAL, REAL, REAL)
            yield f"{name}_{kind}", "kernels.loop.learn", (target, settings, examples, *rest)
        out = vector(np.float64)
        yield f"margins_{kind}", "kernels.loop.margins", (target, examples, order, state, out)
    (block,), (votes,) = forms_of_blocks(), forms_of_votes()
    yield "replay", "dual.kernels.cpu.replay", block
    yield "vote", "dual.kernels.cpu.vote", votes
    yield "shuffle", "kernels.algebra.shuffle", (vector(np.uint32), BITS, BITS)


def compile_object(name, kernel, arguments, machine):
    """An object file for wasm32."""
    function, kinds = compiling.KERNELS[kernel][0], tuple(map(typeof, arguments))
    module, _ = library.make_module(kernel, function, kinds, name)
    text = re.sub(r'target datalayout = ".*"', f'target datalayout = "{LAYOUT}"', str(module))
    text = re.sub(r'target triple = ".*"', 'target triple = "wasm32-unknown-unknown"', text)
    text = re.sub(r'"(target-cpu|target-features)"="[^"]*"', "", text)
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)  # half of the code is never called
    return machine.emit_object(module)


def build(path, linker="wasm-ld"):
    """Write the module with all functions."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    compiling.NUMBA.start()
    library.aim(library.create_machine("generic"))
    target = llvm.Target.from_triple("wasm32-unknown-unknown")
    machine = target.create_target_machine(features=FEATURES, opt=3, codemodel="default")
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for name, kernel, arguments in list_forms():
            objects.append(Path(folder) / f"{name}.o")
            objects[-1].write_bytes(compile_object(name, kernel, arguments, machine))
        exports = [f"--export={name}" for name in (*(each.stem for each in objects), "__heap_base")]
        options = ["--no-entry", "--allow-undefined", "--gc-sections", "--strip-all"]
        subprocess.run([linker, *options, *exports, *map(str, objects), "-o", path], check=True)
        Path(path).chmod(0o644)  # the linker makes programs


if __name__ == "__main__":
    build(sys.argv[1])
    print(f"{sys.argv[1]}: {Path(sys.argv[1]).stat().st_size:,} bytes")
