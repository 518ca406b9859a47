"""Compile the functions that only kernels call: to LLVM code that is linked into the kernels.

Numba would also optimize each of them by itself, make machine code of it and write it to disk, all
of which is done again as part of every kernel that calls it: a fifth of the time of compiling.
"""

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class LinkedLibrary(JITCodeLibrary):
    """LLVM code for other libraries to link in; it has no machine code of its own."""

    reordered = False  # whether it has a sum that may be reordered

    def _optimize_final_module(self):
        """Leave the code to the optimizer of the kernel, but for the order of a sum.

        That must not depend on the kernel: training and scoring give the same bits.
        """
        if self.reordered:
            super()._optimize_final_module()

    def _finalize_final_module(self):
        """Make no machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerToLink(NativeLowering):
    """Translate a function to LLVM code that other functions can link in."""

    _name = "lower_to_link"

    def run_pass(self, state):
        """Replace what Numba would run by a function without an address."""
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.reordered = bool(state.flags.fastmath.flags)
        state.flags.no_compile = True
        super().run_pass(state)
        made, library = state.cr, state.library
        library.finalize()
        address = 0
        function = _dynfunc.make_function(
            made.fndesc.lookup_module(), made.fndesc.qualname, "", address, made.env, (library,)
        )
        state.targetctx.insert_user_function(function, made.fndesc, [library])
        state.reload_init.extend(getattr(library, "_reload_init", ()))  # from Numba 0.62 on
        state.cr = made._replace(cfunc=function)
        return True


class LinkedCompiler(CompilerBase):
    """Numba's compiler with the last step replaced."""

    def define_pipelines(self):
        """The steps of Numba's compiler, up to LLVM code."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [
            (LowerToLink if step is NativeLowering else step, title) for step, title in steps.passes
        ]
        steps.finalize()
        return [steps]
