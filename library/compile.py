"""Compile every form of every kernel for a CPU: ``python library/compile.py FOLDER CPU``.

Numba compiles a kernel for the types of a form as it always does, for the named CPU. The optimized
LLVM module gets one more function, of the same type for all forms:

    void entry(const int64_t *slots, int64_t *results)

``slots`` has the arguments one after the other: of an array its address and its shape, of a number
the number. One object file for each form, and the table of forms as JSON, are written to FOLDER.
"""

import hashlib
import importlib
import json
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

if __name__ in ("__main__", "__mp_main__"):
    FOLDER, CPU = Path(sys.argv[1]), sys.argv[2]
    os.environ.update(  # before Numba is imported
        NUMBA_CPU_NAME=CPU, NUMBA_CPU_FEATURES="", NUMBA_OPT="3", ROSENBLATT_KERNELS="numba"
    )

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import _dynfunc, njit, typeof, types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target

from rosenblatt.kernels import compiling

SLOT = ir.IntType(64)
KNOWN = {  # functions of C that kernels may call, and our own
    *("cos", "exp", "expm1", "fabs", "hypot", "ldexp", "log", "log1p", "pow", "sqrt"),
    *("memcpy", "memmove", "memset", "rosenblatt_round", "numba_ldexp"),
}


def list_forms() -> Iterator[tuple[str, Any, str, tuple[Any, ...]]]:
    """Yield the name of each kernel and the function, with the key and the types of each form."""
    for path in compiling.list_sources():
        if path.stem not in ("__init__", "gpu", "llvm"):
            parts = path.relative_to(Path(compiling.__file__).parents[1]).with_suffix("").parts
            importlib.import_module(".".join([compiling.PACKAGE, *parts]))
    for name, (function, forms) in sorted(compiling.KERNELS.items()):
        known = set()
        for arguments in forms():
            kinds = tuple(map(typeof, arguments))
            key = "".join(map(make_key, kinds))
            if key not in known:
                known.add(key)
                yield name, function, key, kinds


def make_key(kind: Any) -> str:
    """The text of a type; ``library.c`` makes the same of an argument."""
    if isinstance(kind, types.NoneType):
        return "n"
    if isinstance(kind, types.BaseTuple):
        made = getattr(kind, "instance_class", None)
        name = f"<{made.__module__}.{made.__qualname__}>" if made else ""
        return f"{name}({''.join(map(make_key, kind))})"
    if isinstance(kind, types.Array):
        if kind.layout != "C":
            raise TypeError(f"a form with an array that is not contiguous: {kind}")
        access = "w" if kind.mutable else "r"
        return f"[{make_format(kind.dtype)}{kind.ndim}{access}]"
    return make_format(kind)


def make_format(kind: Any) -> str:
    """The format of a number or a record in a buffer, with one letter for each size of integers."""
    if isinstance(kind, types.Boolean):
        return "?"
    if isinstance(kind, types.Record):
        parts = memoryview(np.empty(0, kind.dtype)).format.split(":")  # every second is a name
        return ":".join(part if n % 2 else unify(part) for n, part in enumerate(parts))
    return unify(np.dtype(str(kind)).char)


def unify(text: str) -> str:
    """C's long is q or i, whichever has its size."""
    letters = "qQ" if np.dtype("l").itemsize == 8 else "iI"
    return text.translate(str.maketrans("lL", letters))


class SlotReader:
    """Generates code that takes arguments from slots."""

    def __init__(self, context: Any, builder: Any, slots: Any) -> None:
        self.context, self.builder, self.slots, self.next = context, builder, slots, 0

    def take(self) -> Any:
        """The next slot."""
        place = self.builder.gep(self.slots, [SLOT(self.next)])
        self.next += 1
        return self.builder.load(place)

    def read(self, kind: Any) -> Any:
        """The next argument."""
        if isinstance(kind, types.NoneType):
            return self.context.get_dummy_value()
        if isinstance(kind, types.BaseTuple):
            return self.context.make_tuple(self.builder, kind, [self.read(each) for each in kind])
        if isinstance(kind, types.Array):
            return self.read_array(kind)
        word = self.take()
        if isinstance(kind, types.Float):
            bits = ir.IntType(kind.bitwidth)
            word = self.builder.trunc(word, bits) if kind.bitwidth < 64 else word
            return self.builder.bitcast(word, self.context.get_value_type(kind))
        size = self.context.get_value_type(kind)
        return word if size.width == 64 else self.builder.trunc(word, size)

    def read_array(self, kind: Any) -> Any:
        """An array: its address and shape; it is contiguous, and references are not counted."""
        context, builder = self.context, self.builder
        array = context.make_array(kind)(context, builder)
        address = self.take()
        shape = [self.take() for _ in range(kind.ndim)]
        itemsize = SLOT(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        strides, stride = [], itemsize
        for size in reversed(shape):
            strides.insert(0, stride)
            stride = builder.mul(stride, size)
        count = SLOT(1)
        for size in shape:
            count = builder.mul(count, size)
        array.data = builder.inttoptr(address, array.data.type)
        array.shape = cgutils.pack_array(builder, shape, SLOT)
        array.strides = cgutils.pack_array(builder, strides, SLOT)
        array.nitems, array.itemsize = count, itemsize
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()


def write_result(context: Any, builder: Any, kind: Any, value: Any, results: Any, n: int) -> int:
    """Generate code that puts a result into slots from the nth on; return the next."""
    if isinstance(kind, types.NoneType):
        return n
    if isinstance(kind, types.BaseTuple):
        for place, each in enumerate(kind):
            part = builder.extract_value(value, place)
            n = write_result(context, builder, each, part, results, n)
        return n
    if isinstance(kind, types.Float):
        value = builder.fpext(value, ir.DoubleType()) if kind.bitwidth < 64 else value
        value = builder.bitcast(value, SLOT)
    elif isinstance(kind, types.Boolean):
        value = builder.zext(value, SLOT)
    elif kind.bitwidth < 64:
        value = (builder.sext if kind.signed else builder.zext)(value, SLOT)
    builder.store(value, builder.gep(results, [SLOT(n)]))
    return n + 1


def make_result_key(kind: Any) -> str:
    """How Python gets a result that is in slots."""
    if isinstance(kind, types.BaseTuple):
        made = getattr(kind, "instance_class", None)
        name = f"{made.__module__}:{made.__qualname__}" if made else ""
        return f"{name}({''.join(map(make_result_key, kind))})"
    if isinstance(kind, types.NoneType):
        return "n"
    if isinstance(kind, types.Float):
        return "d"
    return "?" if isinstance(kind, types.Boolean) else ("q" if kind.signed else "Q")


def make_entry(context: Any, description: Any, name: str) -> tuple[str, int, int]:
    """LLVM text of the function of slots that calls a kernel, and its numbers of slots."""
    module = context.create_module(name)
    kind = context.call_conv.get_function_type(description.restype, description.argtypes)
    kernel = ir.Function(module, kind, description.llvm_func_name)
    pointer = SLOT.as_pointer()
    entry = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer]), name)
    builder = ir.IRBuilder(entry.append_basic_block())
    reader = SlotReader(context, builder, entry.args[0])
    values = [reader.read(kind) for kind in description.argtypes]
    _, result = context.call_conv.call_function(
        builder, kernel, description.restype, description.argtypes, values
    )
    results = write_result(context, builder, description.restype, result, entry.args[1], 0)
    builder.ret_void()
    return cgutils.normalize_ir_text(str(module)), reader.next, results


def aim(machine: Any) -> None:
    """Make Numba optimize for a machine that may not be this one, and make no code for this one.

    What is inlined is left to the optimizer of the kernel, but for the order of a sum: that must
    not depend on the kernel, since training and scoring give the same bits.
    """
    names = {function.__name__ for function, _ in compiling.KERNELS.values()} | compiling.SUMS
    optimize = JITCodeLibrary._optimize_final_module

    def optimize_alone(library: Any) -> None:
        if library._name in names:
            optimize(library)

    def finalize(library: Any) -> None:
        library._finalize_dynamic_globals()
        library._finalized = True

    def get_executable(context: Any, library: Any, description: Any, environment: Any) -> Any:
        library._ensure_finalized()
        module, name = description.lookup_module(), description.qualname.rpartition(".")[2]
        return _dynfunc.make_function(module, name, "", 0, environment, (library,))

    context = cpu_target.target_context
    context.refresh()
    codegen = context.codegen()
    JITCodeLibrary._optimize_final_module = optimize_alone
    codegen._tm, codegen._data_layout = machine, str(machine.target_data)
    JITCodeLibrary._finalize_final_module = finalize
    CPUContext.get_executable = get_executable


def create_machine(cpu: str) -> Any:
    """The LLVM target machine of a CPU."""
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=cpu, features="", opt=3, reloc="pic", codemodel="default"
    )


def make_module(name: str, function: Any, kinds: Any, symbol: str) -> tuple[Any, dict[str, Any]]:
    """The LLVM module of a form, with its result and its numbers of slots."""
    kernel = njit(**compiling.KERNEL, no_cpython_wrapper=True)(function)
    kernel.compile(kinds)
    (made,) = kernel.overloads.values()
    text, slots, results = make_entry(made.target_context, made.fndesc, symbol)
    module = made.library._final_module.clone()
    module.link_in(llvm.parse_assembly(text))
    module.name = symbol
    for each in [*module.functions, *module.global_variables]:
        if not each.is_declaration and each.name != symbol:
            each.linkage = "internal"
    module.get_function(symbol).visibility = "hidden"
    module.verify()
    names = {one.name for one in module.functions if one.is_declaration}
    names |= {one.name for one in module.global_variables if one.is_declaration}
    unknown = {one for one in names - KNOWN if not one.startswith("llvm.")}
    if unknown:
        raise TypeError(f"{name} needs {', '.join(sorted(unknown))}, which the library lacks")
    result = make_result_key(made.fndesc.restype)
    return module, {"result": result, "slots": slots, "results": results}


FORMS: list[tuple[str, Any, str, tuple[Any, ...]]] = []
MACHINES: list[Any] = []


def begin() -> None:
    """Make a process ready to compile."""
    if not FORMS:  # a process that was forked is ready
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        compiling.NUMBA.start()
        FORMS.extend(list_forms())
        MACHINES.append(create_machine(CPU))
        aim(MACHINES[0])


def compile_number(number: int) -> dict[str, Any]:
    """Compile a form by its number; write its object, and return its line of the table."""
    name, function, key, kinds = FORMS[number]
    tag = hashlib.sha256(f"{CPU} {name} {key}".encode()).hexdigest()[:16]
    symbol = f"rosenblatt_{name.rpartition('.')[2]}_{tag}"
    module, made = make_module(name, function, kinds, symbol)
    (FOLDER / f"{symbol}.o").write_bytes(MACHINES[0].emit_object(module))
    return {"kernel": name, "key": key, "symbol": symbol, **made}


def find_rows(number: int) -> str:
    """The types of the rows of a form, if it has rows."""
    found = re.search(r"Rows>(\(.*?\))", FORMS[number][2])
    return found[1] if found else ""


def main() -> None:
    """Compile all forms on all cores."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    begin()
    # Forms with the same rows share what they inline: one process should compile them.
    numbers, cores = sorted(range(len(FORMS)), key=find_rows), os.cpu_count() or 1
    start = get_context("fork" if sys.platform == "linux" else "spawn")
    size = max(1, len(numbers) // (4 * cores))
    with ProcessPoolExecutor(cores, start, begin) as pool:
        rows = list(pool.map(compile_number, numbers, chunksize=size))
    (FOLDER / "table.json").write_text(json.dumps(rows))
    print(f"{len(rows)} forms of kernels for {CPU}")


if __name__ == "__main__":
    main()
