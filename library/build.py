"""Build the library of kernels: ``python library/build.py FILE [CPU ...]``, the best CPU first.

It has code for each CPU, and chooses when it is loaded. By default it is for this machine alone.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def list_cpus(everywhere: bool) -> list[str]:
    """The CPUs to build for, as LLVM names them: those that wheels serve, or this one."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ["apple-m1" if sys.platform == "darwin" else "generic"]
    return ["x86-64-v3", "x86-64"] if everywhere or not has_v3() else ["x86-64-v3"]


def has_v3() -> bool:
    """Whether this machine has AVX2 and what goes with it; the library looks again."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    return all(
        features.get(name) for name in ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
    )


def find_obstacle() -> str:
    """Say what is missing to build; "" if nothing is."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python has no stable ABI"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's headers are missing"
    if os.name == "posix":
        compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
        if shutil.which(compiler) is None:
            return f"there is no C compiler ({compiler})"
    return ""


def write_table(path: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    """Write all forms as C."""
    rows = [row for table in tables.values() for row in table]
    classes = sorted({name for row in rows for name in re.findall("<(.*?)>", row["key"])})
    lines = [
        f"enum {{ SLOTS = {max(row['slots'] for row in rows)},",
        f"    RESULTS = {max(row['results'] for row in rows)},",
        f"    NUMBER_OF_CLASSES = {len(classes)} }};",
        "static const char *const CLASSES[] = {",
        *(f'    "{name}",' for name in classes),
        "    0};",
    ]

    letters = {name: f'\\{129 + n:o}""' for n, name in enumerate(classes)}

    def quote(key: str) -> str:
        return '"' + re.sub("<(.*?)>", lambda found: letters[found[1]], key) + '"'

    for number, table in enumerate(tables.values()):
        lines += [f"extern entry {row['symbol']};" for row in table]
        lines.append(f"static const struct form FORMS_{number}[] = {{")
        for row in sorted(table, key=lambda row: (row["kernel"], row["key"])):
            what = quote(row["key"]), row["symbol"], f'"{row["result"]}"'
            lines.append(f'    {{"{row["kernel"]}", {", ".join(what)}}},')
        lines.append("    {0}};")
    lines.append("static const struct target TARGETS[] = {")
    lines += [f'    {{"{cpu}", FORMS_{number}}},' for number, cpu in enumerate(tables)]
    path.write_text("\n".join([*lines, "    {0}};", ""]))


def link(folder: Path, objects: list[str], out: Path) -> None:
    """Compile library.c and link it with the objects."""
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    posix = os.name == "posix"
    extension = Extension(
        "_library",
        [str(HERE / "library.c")],
        include_dirs=[str(folder)],
        extra_objects=objects,
        extra_compile_args=["-O2", "-fvisibility=hidden"] if posix else [],
        extra_link_args=["-Wl,-s"] if sys.platform == "linux" else [],
        libraries=["m"] if posix else [],
        py_limited_api=True,
    )
    command = build_ext(Distribution({"ext_modules": [extension]}))
    command.build_lib, command.build_temp = str(folder / "lib"), str(folder / "temp")
    command.force = True  # it does not look whether objects have changed
    command.ensure_finalized()
    command.run()
    made = Path(command.get_ext_fullpath("_library"))
    out.parent.mkdir(parents=True, exist_ok=True)
    os.replace(shutil.copy(made, out.with_suffix(".new")), out)


def stamp_sources() -> str:
    """Hash all that the code of kernels depends on."""
    source = HERE.parent / "src/rosenblatt"
    paths = [HERE / "compile.py", *source.glob("**/kernels/*.py"), *source.glob("*/kernels.py")]
    digest = hashlib.sha256(f"{version('numba')} {sys.version_info[:2]}".encode())
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def compile_kernels(cpu: str, folder: Path) -> Any:
    """Compile all forms for a CPU, unless the folder has them; return their table."""
    stamp, done = stamp_sources(), folder / "stamp"
    if not done.exists() or done.read_text() != stamp:
        shutil.rmtree(folder, ignore_errors=True)
        path = filter(None, [str(HERE.parent / "src"), os.environ.get("PYTHONPATH")])
        command = [sys.executable, str(HERE / "compile.py"), str(folder), cpu]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
        subprocess.run(command, check=True, env=environment)
        done.write_text(stamp)
    return json.loads((folder / "table.json").read_text())


def build(out: Path, cpus: list[str], folder: Path) -> None:
    """Compile the kernels for some CPUs, and link them in one file."""
    tables, objects = {}, []
    for cpu in cpus:
        tables[cpu] = compile_kernels(cpu, folder / cpu)
        objects += [str(folder / cpu / f"{row['symbol']}.o") for row in tables[cpu]]
    write_table(folder / "table.h", tables)
    link(folder, objects, out)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="rosenblatt-build-") as folder:
        build(Path(sys.argv[1]), sys.argv[2:] or list_cpus(everywhere=False), Path(folder))
