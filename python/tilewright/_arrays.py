# SPDX-License-Identifier: Apache-2.0
"""_arrays.py  Arrays of the caller: how each kind is read, and how a result of it is allocated.

A kind has three functions: tensor(x, name) returns what _tw takes, empty(shape, type, like)
allocates, stream(like) is the stream that work on the array is queued in, as a number (0: none).
`direct`: the types that have a short way to remembered plans, remembered() in _gemm.py.
"""
import sys

import numpy

from . import _tw
from ._errors import refused
from ._types import DLPACK, NAMES, NUMPY, PLAIN, VIEWED, type_name


_OPERANDS = "float32, float16, bfloat16, float8_e4m3fn, float8_e5m2, int8 or uint8"


class Spec:
    """A tensor without data, for plans: shape, type and strides (in elements).

    `tilewright.spec()` makes one. `.T` exchanges the last two dimensions.
    """

    __slots__ = ("shape", "strides", "dtype", "place", "tensor")

    def __init__(self, shape, dtype, strides=None, place=(1, 0)):
        self.shape = tuple(int(x) for x in shape)
        self.dtype = type_name(dtype)
        if strides is None:
            strides, step = [], 1
            for extent in reversed(self.shape):
                strides.insert(0, step)
                step *= max(extent, 1)
        self.strides = tuple(int(x) for x in strides)
        if len(self.strides) != len(self.shape):
            raise refused("TW0481", "strides of a spec", str(self.strides),
                          f"as many as the shape {self.shape} has")
        self.place = place  # the device by DLPack's numbers
        self.tensor = _tw.Tensor(self.shape, self.strides, DLPACK[self.dtype], *place)

    @property
    def T(self):
        """The transpose, as a view."""
        return Spec(self.shape[:-2] + self.shape[:-3:-1], self.dtype,
                    self.strides[:-2] + self.strides[:-3:-1], self.place)

    @property
    def ndim(self):
        return len(self.shape)

    def __repr__(self):
        return f"spec({self.shape}, {self.dtype!r}, strides={self.strides})"

    def __eq__(self, other):
        return isinstance(other, Spec) and (self.shape, self.strides, self.dtype) == (
            other.shape, other.strides, other.dtype)

    def __hash__(self):
        return hash((self.shape, self.strides, self.dtype))


class HostKind:
    """Arrays in host memory, or wherever their DLPack says: without a stream."""

    direct: set = set()

    @staticmethod
    def run(call, stream, workspace, plan=None, keep=True):
        """Runs a call, of a plan if one is given."""
        if stream is not None or workspace is not None:
            raise refused("TW0484", "stream" if stream is not None else "workspace", "given",
                          "not given: the arrays are in host memory")
        (_tw.gemm if plan is None else plan.run)(tuple(call.tensors), call.words,
                                                 call.options + (0, 0, 0))


class NumpyKind(HostKind):
    name = "numpy"

    @staticmethod
    def tensor(x, name):
        dtype = x.dtype
        if dtype in PLAIN:
            return x
        viewed = VIEWED.get(dtype)
        if viewed is not None:
            return x.view(viewed[0]), viewed[1]
        hint = ""
        if dtype.name == "float4_e2m1fn":
            hint = "NumPy has a byte for each element; quantize() packs two into a byte"
        elif not dtype.isnative:
            hint = "x.astype(x.dtype.newbyteorder('=')) has the byte order of this machine"
        got = dtype.name if dtype.isnative else f"{dtype.name} of the other byte order"
        raise refused("TW0483", f"type of {name}", got, _OPERANDS if name in ("a", "b")
                      else ", ".join(list(DLPACK)[:10]), hint)

    @staticmethod
    def empty(shape, dtype, like):
        return numpy.empty(shape, NUMPY[dtype])

    @staticmethod
    def strided(shape, strides, dtype, like):
        size = NUMPY[dtype].itemsize
        elements = 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else 0
        return numpy.lib.stride_tricks.as_strided(
            numpy.zeros(elements, NUMPY[dtype]), shape, [s * size for s in strides])

    @staticmethod
    def check_written(x, name):
        if not x.flags.writeable:
            raise refused("TW0484", name, "a read-only array", "memory that can be written",
                          "a copy of it is writeable")

    @staticmethod
    def stream(like):
        return 0


class SpecKind:
    name = "spec"
    direct: set = set()

    @staticmethod
    def run(call, stream, workspace, plan=None, keep=True):
        raise refused("TW0408", "a", "a spec", "an array with data", "plan() takes specs")

    @staticmethod
    def tensor(x, name):
        return x.tensor

    @staticmethod
    def empty(shape, dtype, like):
        return Spec(shape, dtype, None, place_of(like))

    @staticmethod
    def strided(shape, strides, dtype, like):
        return Spec(shape, dtype, strides, place_of(like))

    @staticmethod
    def check_written(x, name):
        pass

    @staticmethod
    def stream(like):
        return 0


# Arguments whose numbers are integers: sizes of groups, and rows.
_OF_INTEGERS = ("ends", "starts", "sizes", "rows", "counts", "gather", "scatter", "order")


class DlpackKind(HostKind):
    """Any other object with DLPack: it is read and written, but none is allocated."""

    name = "dlpack"

    @staticmethod
    def tensor(x, name):
        if not hasattr(x, "__dlpack__"):
            dtype = "int32" if name in _OF_INTEGERS else "float32"
            hint = (f"numpy.asarray(x, '{dtype}') makes one of a list or a number"
                    if isinstance(x, (list, tuple, int, float)) else
                    "4-bit weights are b" if type(x).__name__ == "Prepared" else "")
            raise refused("TW0483", f"type of {name}", type(x).__name__, "an array with DLPack",
                          hint)
        return x

    @staticmethod
    def empty(shape, dtype, like):
        raise refused("TW0484", "out", "None",
                      f"an array for the result, as a is {_kind_text(like)}",
                      "results are allocated for NumPy, torch, CuPy and JAX")

    strided = staticmethod(lambda shape, strides, dtype, like: DlpackKind.empty(shape, dtype, like))

    @staticmethod
    def check_written(x, name):
        pass

    @staticmethod
    def stream(like):
        return 0


def place_of(x):
    """The device of an array by DLPack's numbers."""
    if isinstance(x, Spec):
        return x.place
    if isinstance(x, numpy.ndarray):
        return (1, 0)
    kind, index = x.__dlpack_device__()
    return int(kind), int(index)


def _kind_text(x):
    return f"{type(x).__module__.split('.')[0]}.{type(x).__name__}"


KINDS = {numpy.ndarray: NumpyKind, Spec: SpecKind}


def kind_of(x):
    """The kind of an array; a subclass counts as its base."""
    kind = KINDS.get(type(x))
    if kind is None:
        kind = KINDS[type(x)] = _find_kind(x)
    return kind


def _find_kind(x):
    if isinstance(x, numpy.ma.MaskedArray):
        raise refused("TW0483", "type of an array", "a masked array", "an array without a mask",
                      "x.filled(0) is one")
    if isinstance(x, numpy.ndarray):
        return NumpyKind
    for module in ("torch", "cupy"):
        loaded = sys.modules.get(module)
        base = getattr(loaded, "Tensor" if module == "torch" else "ndarray", ())
        if isinstance(x, base):
            from . import _gpu
            return _gpu.TorchKind if module == "torch" else _gpu.CupyKind
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(x, jax.Array):
        return JaxKind
    return DlpackKind


class JaxKind(DlpackKind):
    """Arrays of JAX: gemm() hands them to tilewright.jax, so that XLA orders the work."""

    name = "jax"


def type_of_numbers(numbers):
    """The name of the type with the numbers of DLPack."""
    return NAMES[tuple(numbers)]
