# SPDX-License-Identifier: Apache-2.0
"""Tilewright: GEMMs on tensor cores for NumPy, torch, CuPy and JAX, and an emulator of the GPU.

    import numpy as np, tilewright as tw
    d = tw.gemm(a, w.T, bias=v, activation="gelu")
    y = tw.gemm(tw.quantize(x, "nvfp4"), tw.quantize(w, "nvfp4").T)

Arrays in host memory are multiplied by the emulator, which runs the kernels of the GPU and reports
races; CUDA arrays on their GPU.
"""
import atexit as _atexit
import os as _os

from . import _tw
from ._arrays import Spec
from ._errors import (Interrupted, KernelFault, LayoutError, NoDeviceError, RefusedError,
                      TilewrightError)
from ._errors import refused as _refused
from ._gemm import gemm
from ._grouped import grouped_gemm
from ._layout import Layout, layout
from ._plan import Plan, plan, spec
from ._scaled import Scaled, quantize
from ._weights import Prepared, prepare

_atexit.register(_tw.end)
_os.register_at_fork(after_in_child=_tw.after_fork)

__version__ = _tw.version()
__all__ = ["Interrupted", "KernelFault", "Layout", "LayoutError", "NoDeviceError", "Plan",
           "Prepared", "RefusedError", "Scaled", "Spec", "TilewrightError", "devices", "emu",
           "explain", "gemm",
           "grouped_gemm", "layout", "layouts", "plan", "plan_model", "prepare", "quantize",
           "set_interrupt", "set_log", "spec"]


def devices():
    """The devices that plans are made for, and the GPU of this machine.

    Returns:
        dict: schema tilewright.devices/1.
    """
    import json
    return json.loads(_tw.devices_json())


def explain(code):
    """The page of a code, such as "TW0451" or "E0024".

    Returns:
        str: Markdown.
    """
    return _tw.explain(code)


def _function(f):
    if f is not None and not callable(f):
        raise _refused("TW0484", "function", type(f).__name__, "a function, or None")
    return f


def set_log(function):
    """Lines of the log go to the function: chosen plans, performance hints, tuned GEMMs.

    Args:
        function: called with (level, line), for example `logging.getLogger("tilewright").log`;
            level is 10 (debug), 20 (info) or 30 (warning), as in the module logging. None stops
            the calls. Any thread may call the function. sys.unraisablehook reports its exceptions.
    """
    f = _function(function)
    _tw.set_log(None if f is None else lambda level, line: f(10 * (level + 1), line))


def set_interrupt(function):
    """Emulated runs call the function about 20 times a second.

    Args:
        function: called without arguments in the thread that waits for the run; a true result ends
            the run with Interrupted, an exception is raised by the call. None: no longer. Ctrl-C
            ends a run of the main thread without a function too.
    """
    _tw.set_interrupt(_function(function))


def __getattr__(name):
    if name in ("dist", "emu", "jax", "layouts", "torch"):
        import importlib
        return importlib.import_module(f"{__name__}.{name}")
    if name in ("plan_model", "ModelPlan", "PlanRow"):
        from . import _model
        return getattr(_model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
