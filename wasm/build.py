"""Compile the kernels of the lab, unchanged, to WebAssembly: ``python wasm/build.py FILE``.

Numba compiles a thin function around each kernel, which takes addresses and 32-bit numbers instead
of arrays. Its LLVM IR is given wasm32's layout, llvmlite makes an object of it, and ``wasm-ld``
(Debian's package lld) links the objects.

A kernel's function returns 0, or another number for a Python exception. It takes the address of its
result and of the exception first; both are scratch memory of the page.
"""

import inspect
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# The instructions of this machine must not matter, nor may a kernel of the disk cache, which was
# compiled for them: so before Numba is imported.
os.environ.update(
    NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="", NUMBA_OPT="3", NUMBA_LOOP_VECTORIZE="0",
    ROSENBLATT_KERNELS="numba",
)  # fmt: skip
CACHE = tempfile.TemporaryDirectory(prefix="rosenblatt-wasm-")
os.environ["NUMBA_CACHE_DIR"] = CACHE.name

import llvmlite.binding as llvm  # noqa: E402
from numba import carray, from_dtype, njit, types  # noqa: E402

import rosenblatt.network.kernels  # noqa: E402, F401
from rosenblatt.dual.kernels.cpu import UPDATES  # noqa: E402
from rosenblatt.kernels import algebra, compiling  # noqa: E402
from rosenblatt.kernels.algebra import Rows  # noqa: E402
from rosenblatt.kernels.loop import UPDATE, Clock, Examples, State  # noqa: E402
from rosenblatt.kernels.perceptron import Batch, Perceptron  # noqa: E402
from rosenblatt.kernels.targets import SeveralClasses, TwoClasses  # noqa: E402

compiling.NUMBA.start()
loop, margin_kernel, shuffle_kernel, norm_kernel, replay, count_votes, thermal = (
    njit(compiling.KERNELS[name][0], **compiling.KERNEL)
    for name in (
        "kernels.loop.learn", "kernels.loop.margins", "kernels.algebra.shuffle",
        "kernels.algebra.largest_squared_norm", "dual.kernels.cpu.replay", "dual.kernels.cpu.vote",
        "network.kernels.thermal",
    )
)  # fmt: skip

number, whole, long = types.float64, types.int32, types.uint64
TYPES = {  # by the name of a parameter
    types.CPointer(number): "X steps w b u ub scores products bias survived out values targets",
    number: "above below step zero seen temperature rate",
    whole: "n d k end start most made count support sums resting",
    types.CPointer(types.uint32): "order labels rows",
    types.CPointer(types.int64): "at",
    long: "seed epoch z",
    types.CPointer(long): "bits size",
    types.CPointer(types.boolean): "learning",
    types.CPointer(from_dtype(UPDATE)): "log",
    types.CPointer(from_dtype(UPDATES)): "kept",
}
LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
FEATURES = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"
OPTIONS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
FUNCTIONS = {}


def exported(function):
    """Compile a function of addresses and numbers, to be called from a page."""
    by_name = {name: each for each, names in TYPES.items() for name in names.split()}
    signature = [by_name[name] for name in inspect.signature(function).parameters]
    FUNCTIONS[function.__name__] = njit(types.void(*signature), **OPTIONS)(function)
    return function


# Dense rows: n rows of d numbers; ``size`` is the one number d that ``starts`` points to.


@njit
def dense(X, size, n, d):
    """Rows at an address."""
    return Rows(carray(X, n * d), None, carray(size, 1))


@njit
def write(out, result):
    """What a kernel returns: how far it got, the updates, their loss."""
    carray(out, 3)[0] = result[0]
    carray(out, 3)[1] = result[1]
    carray(out, 3)[2] = result[2]


@exported
def learn(
    X, size, n, d, k, steps, labels, order, end, start,
    w, b, u, ub, sums, seen, above, below, step, resting, log, most, scores, out,
):  # fmt: skip
    """Learn two classes, or k at once; sum for an average, or alone where the weights rest."""
    rows, clock, c = dense(X, size, n, d), Clock(seen, 0.0, 0.0), max(k, 1)
    arrays = carray(w, d * c), carray(b, c), carray(u, d * c * sums), carray(ub, c * sums)
    state = State(*arrays, None, None, None, None, None)
    two = Examples(rows, carray(steps, n), None)
    several = Examples(rows, carray(steps, n), carray(labels, n * k // c))
    target, here = SeveralClasses(carray(scores, k)), carray(order, end)
    rule, batch, into = Perceptron(above, below, step), Batch(above, below, step), carray(log, most)
    if resting and k:
        result = loop(target, batch, several, here, start, state, clock, into)
    elif resting:
        result = loop(TwoClasses(), batch, two, here, start, state, clock, into)
    elif k:
        result = loop(target, rule, several, here, start, state, clock, into)
    else:
        result = loop(TwoClasses(), rule, two, here, start, state, clock, into)
    write(out, result)


@exported
def margins(X, size, n, d, k, steps, labels, order, end, w, b, scores, out):
    """Take the margins of rows."""
    rows, c, here, into = dense(X, size, n, d), max(k, 1), carray(order, end), carray(out, end)
    weights, bias = carray(w, d * c), carray(b, c)
    state = State(weights, bias, weights, bias, None, None, None, None, None)
    if k:
        examples = Examples(rows, carray(steps, n), carray(labels, n))
        margin_kernel(SeveralClasses(carray(scores, k)), examples, here, state, into)
    else:
        margin_kernel(TwoClasses(), Examples(rows, carray(steps, n), None), here, state, into)


# Votes: ``products`` has a line for each of ``support`` rows and a column for each of ``count``.


@exported
def perceptron_votes(
    scores, products, support, count, rows, labels, steps, bias, made, survived, at, zero, out
):
    """Count the votes of all weights; ``labels`` and ``at``, the best classes, are zeros."""
    sums, votes = carray(scores, (1, count)), carray(out, (1, count))
    shape, which, lasted = (support, count), carray(labels, made), carray(survived, made + 1)
    updates = carray(rows, made), carray(steps, made), carray(bias, made), which, which
    best = carray(at, count)
    count_votes(carray(products, shape), *updates, lasted[:made], zero, sums, best, votes)
    last = lasted[made]
    for r in range(count):
        a = sums[0, r]
        votes[0, r] += last if a > 0.0 else (-last if a < 0.0 else last * zero)


# The dual form: one problem, whose block is the whole order.


@exported
def dual_perceptron(
    values, at, n, steps, start, scores, b, above, below, step, kept, most, learning, out
):
    """Learn two classes by kernel values."""
    places, rule = carray(at, n), Perceptron(above, below, step)
    position, updates = replay(
        carray(values, (n, n)),
        places,
        carray(steps, (1, n)),
        places[:0],
        carray(learning, 1),
        start,
        carray(scores, (1, n)),
        carray(b, 1),
        rule,
        carray(kept, most),
    )
    write(out, (position, updates, 0.0))


@exported
def thermal_unit(X, size, n, d, targets, order, end, w, b, temperature, rate, out):
    """Learn one epoch at a temperature."""
    rows = dense(X, size, n, d)
    carray(out, 1)[0] = thermal(
        rows, carray(targets, n), carray(order, end), carray(w, d), carray(b, 1), temperature, rate
    )


@exported
def shuffle(order, n, seed, epoch):
    """Permute row numbers."""
    shuffle_kernel(carray(order, n), seed, epoch)


@exported
def mix(z, bits):
    """Scatter the bits of a number."""
    carray(bits, 1)[0] = algebra.mix(z)


@exported
def largest_squared_norm(X, size, n, d, order, end, out):
    """Find R²."""
    rows = dense(X, size, n, d)
    carray(out, 1)[0] = norm_kernel(rows, carray(order, end))


def read_ir(name, function):
    """The LLVM IR of a function for wasm32, without reference counting, under its plain name."""
    (overload,) = function.overloads.values()
    ir = overload.library.get_llvm_str().replace(overload.fndesc.llvm_func_name, name)
    ir = re.sub(r'target datalayout = ".*"', f'target datalayout = "{LAYOUT}"', ir)
    ir = re.sub(r'target triple = ".*"', 'target triple = "wasm32-unknown-unknown"', ir)
    counting = r"define linkonce_odr void @NRT_(in|de)cref\(ptr[^\n]*\{.*?\n\}"
    ir = re.sub(
        counting, r"define linkonce_odr void @NRT_\1cref(ptr %.1) { ret void }", ir, flags=re.S
    )
    ir = re.sub(
        r"attributes #\d+ = \{[^}]*\}",
        lambda found: re.sub(r'"target-(cpu|features)"="[^"]*"', "", found[0]),
        ir,
    )
    ir = re.sub(r'"(target-cpu|target-features)"="[^"]*"', "", ir)
    return re.sub(r"= common (local_unnamed_addr )?global", "= internal global", ir)


def compile_object(ir):
    """An object file for wasm32."""
    module = llvm.parse_assembly(ir)
    module.verify()
    target = llvm.Target.from_triple("wasm32-unknown-unknown")
    machine = target.create_target_machine(features=FEATURES, opt=3, codemodel="default")
    return machine.emit_object(module)


def build(path, linker="wasm-ld"):
    """Write the module with all functions."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for name, function in FUNCTIONS.items():
            objects.append(Path(folder) / f"{name}.o")
            objects[-1].write_bytes(compile_object(read_ir(name, function)))
        exports = [f"--export={name}" for name in (*FUNCTIONS, "__heap_base")]
        options = ["--no-entry", "--allow-undefined", "--gc-sections", "--strip-all"]
        subprocess.run([linker, *options, *exports, *map(str, objects), "-o", path], check=True)
        Path(path).chmod(0o644)  # the linker makes programs


if __name__ == "__main__":
    build(sys.argv[1])
    print(f"{sys.argv[1]}: {Path(sys.argv[1]).stat().st_size:,} bytes")
