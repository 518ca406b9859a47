"""Build the library of kernels into a wheel; an editable installation compiles with Numba.

``ROSENBLATT_BUILD`` is ``here`` (the default: for this machine's CPU), ``everywhere`` (wheels to
publish) or ``none``. Without a library, or what it takes to build it, the package needs Numba.
"""

import os
import runpy
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NUMBA = "numba>=0.61"


class LibraryHook(BuildHookInterface):
    """Compiles the kernels when a wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the library to the wheel, or Numba to its requirements."""
        tools = runpy.run_path(str(Path(self.root, "library/build.py")))
        wanted = os.environ.get("ROSENBLATT_BUILD", "here")
        obstacle = tools["find_obstacle"]() if wanted != "none" else "ROSENBLATT_BUILD is none"
        if version == "editable" or obstacle:
            if version != "editable":
                self.app.display_warning(
                    f"Rosenblatt's kernels are not compiled now, since {obstacle}: Numba is "
                    "installed, and compiles each when it is first used."
                )
            build_data["dependencies"].append(NUMBA)
            return
        folder = Path(self.root, "build/library")
        out = folder / ("_library.pyd" if sys.platform == "win32" else "_library.abi3.so")
        tools["build"](out, tools["list_cpus"](everywhere=wanted == "everywhere"), folder)
        build_data["force_include"][str(out)] = f"rosenblatt/kernels/{out.name}"
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"], build_data["tag"] = False, f"cp311-abi3-{platform}"
