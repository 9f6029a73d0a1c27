# SPDX-License-Identifier: Apache-2.0
"""_errors.py  The exceptions of the package, with the names that arguments have in Python."""
import re

REFUSED, FAULT, NO_DEVICE, INTERNAL, INTERRUPTED = 1, 2, 3, 4, 5

# Names of tilewright.h and what they are called here.
_NAMES = [(re.compile(pattern), name) for pattern, name in (
    (r"\bscale_d_as\b", "scale_out"), (r"\bscale_d\b", "scale_out"),
    (r"(?<![\w(])d\b(?![\w(])", "out"),
    (r"\bgroups \((\w+)\)", r"\1"), (r"\bgroups_as\b", "form of the sizes"),
    (r"\bgroup_axis\b", "axis"), (r"\bgroup_status\b", "status"),
    (r"\bsecond_a\b", "the level of a"), (r"\bsecond_b\b", "the level of b"),
    (r"\bsecond_d\b", "the level"), (r"tw_plan_make\(\)", "tilewright.plan()"),
    (r"arguments of tw_plan_run\(\)", "arguments of the plan"),
    (r"tw_plan_run\(\)", "a call of the plan"), (r"tw_devices_json\(\)", "tilewright.devices()"),
    (r"the function of tw_set_interrupt\(\)", "the function of set_interrupt()"),
    (r"make_block_scale\(\) describes such scales, ", ""),
    (r"`tilewright (quantize|prepare)[^`]*`( or tw::quantize\(\))?", r"tilewright.\1()"),
    (r"configure with(out TW_DEVICE_KERNELS| -DTW_KERNELS=full).*$",
     "`./dev wheel --release` builds a package with all kernels"),
    (r"\bNULL\b", "None"))]


def _in_python(text):
    for pattern, name in _NAMES:
        text = pattern.sub(name, text)
    return text


class TilewrightError(Exception):
    """The base of all errors of the package.

    Attributes (all str):
        code: "TW0482", or of the emulator "E0024". `tilewright.explain(code)` is its page.
        what: the subject, such as "strides of a".
        got: the value that was found.
        need: the value that is needed.
        hint: the remedy; may be empty.
    """

    def __init__(self, text, code="", what="", got="", need="", hint=""):
        super().__init__(text)
        self.code, self.what, self.got, self.need, self.hint = code, what, got, need, hint

    def __reduce__(self):
        return type(self), (self.args[0], self.code, self.what, self.got, self.need, self.hint)


class RefusedError(TilewrightError, ValueError):
    """The arguments were refused; nothing was computed."""


class NoDeviceError(TilewrightError, RuntimeError):
    """There is no GPU, driver or kernel for the tensors."""


class KernelFault(TilewrightError, RuntimeError):
    """The emulated kernel broke a rule of the hardware: a race, a wrong address, a hang."""


class Interrupted(TilewrightError):
    """The function of set_interrupt() ended an emulated run; the result is incomplete."""


class LayoutError(RefusedError):
    """A layout, an atom or an operation on them was refused. The text marks the place."""


_CLASSES = {REFUSED: RefusedError, FAULT: KernelFault, NO_DEVICE: NoDeviceError,
            INTERRUPTED: Interrupted}


def error_of(status, code, what, got, need, hint, text):
    """The exception of a status of tilewright.h."""
    kind = _CLASSES.get(status, TilewrightError)
    if status == REFUSED and code.startswith(("TW01", "TW02")):
        text, need = (x.replace("`tilewright layout --ops` lists", "tilewright.layouts has")
                      for x in (text, need))
        return LayoutError(text, code, what, got, need, hint)
    what, got, need, hint = (_in_python(x) for x in (what, got, need, hint))
    if status != FAULT or not text:
        text = f"{code}: {what}: got {got}, need {need}" + (f"; {hint}" if hint else "")
    return kind(text, code, what, got, need, hint)


def refused(code, what, got, need, hint=""):
    """A RefusedError of the package itself."""
    return error_of(REFUSED, code, what, got, need, hint, "")
