# SPDX-License-Identifier: Apache-2.0
"""_gpu.py  Arrays of torch and CuPy: allocation, the current stream, the workspace.

Imported with the first such array: torch or CuPy is loaded then.
"""
import contextlib
import os
import sys

from . import _tw
from ._errors import NO_DEVICE, error_of, refused
from ._types import DLPACK, NUMPY

_ZEROED_BYTES = 262144  # of a workspace, before its first use

# The process that used CUDA first: it cannot be used after a fork.
_process = None
_workspaces: dict = {}  # (library, device, stream) -> memory


def _check_process():
    global _process
    if _process is None:
        _process = os.getpid()
    elif _process != os.getpid():
        raise error_of(NO_DEVICE, "TW0506", "CUDA after a fork",
                       f"process {os.getpid()}, forked from {_process}",
                       "a process that is spawned", "multiprocessing.get_context('spawn')", "")


class _Library:
    """The common part of the kinds of torch and CuPy."""

    direct: set = set()

    @classmethod
    def run(cls, call, stream, workspace, plan=None, keep=True):
        """Runs a call: in the emulator on host memory, else on a stream of the arrays' device.
        `keep`: memory for a workspace is kept for later calls."""
        like = call.a
        if not cls.on_gpu(like):
            if stream is not None or workspace is not None:
                raise refused("TW0484", "stream" if stream is not None else "workspace", "given",
                              "not given: the arrays are in host memory")
            arguments = tuple(call.tensors), call.words, call.options + (0, 0, 0)
            (plan.run if plan else _tw.gemm)(*arguments)
            return
        _check_process()
        tensors, words = tuple(call.tensors), call.words
        number = cls.stream(like) if stream is None else cls.number_of(stream)
        room = (0, 0) if workspace is None else cls.memory(workspace)
        if plan is None:
            if words[6] is not None:
                raise refused("TW0484", "device", str(words[6]),
                              "not given: the arrays are on a GPU",
                              "plan(device=...) makes plans for other devices")
            plan = _tw.gemm_by_plan(tensors, words, call.options + (number, *room))
            if plan is None:
                return
        if workspace is None and plan.workspace_bytes:
            workspace = cls._workspace(like, stream, plan.workspace_bytes, keep)
            room = cls.memory(workspace)
        plan.run(tensors, words, call.options + (number, *room))

    @classmethod
    def _workspace(cls, like, stream, size, keep):
        """Memory of the caller's allocator; while a graph is captured it is the graph's."""
        if not keep or cls.capturing():
            with cls.on_stream(stream, like):
                return cls.zeros(size, like)
        number = cls.current(like) if stream is None else cls.number_of(stream)
        key = cls.name, cls.index(like), number
        memory = _workspaces.get(key)
        if memory is None or cls.memory(memory)[1] < size:
            with cls.on_stream(stream, like):  # it is zeroed there
                memory = _workspaces[key] = cls.zeros(size, like)
        return memory

    @classmethod
    def quantize_room(cls, x, scaling):
        """The current stream, and memory of quantize() (address, bytes) or None."""
        if not cls.on_gpu(x):
            return 0, None
        _check_process()
        room = scaling != "row" or 1 in x.shape[:-1]  # one scale may be of several CTAs
        return cls.stream(x), cls.memory(cls.zeros(256, x)) if room else None


class TorchKind(_Library):
    name = "torch"
    torch = sys.modules.get("torch")
    direct: set = set()  # the types that _tw reads by the functions of torch (2.10 and later)

    @classmethod
    def read_directly(cls):
        """Finds the types whose tensors have these functions."""
        torch = cls.torch
        for kind in (torch.Tensor, getattr(getattr(torch, "nn", None), "Parameter", None)):
            if kind is not None and _tw.read_directly(
                    kind, torch.empty_like, torch.is_grad_enabled, cls.memory_for):
                cls.direct.add(kind)

    @classmethod
    def memory_for(cls, like, size):
        """(address, bytes, owner) of the workspace for the current stream."""
        x = cls._workspace(like, None, size, True)
        return *cls.memory(x), x

    @classmethod
    def prototype(cls, x):
        """A tensor of one element with x's shape, type and device: empty_like() of it makes
        tensors like x in less time than empty()."""
        return cls.torch.empty((1,) * x.dim(), dtype=x.dtype, device=x.device).expand(x.shape)

    @classmethod
    def remember(cls, call, out_dtype, result):
        """A prototype of the result is kept with the plan of a call on a GPU."""
        if result.is_cuda and result.numel() > 0:
            _tw.remember_result(tuple(call.tensors), call.words, call.options + (None, 0, 0),
                                (cls.prototype(result), out_dtype))

    @classmethod
    def tensor(cls, x, name):
        if x.requires_grad and cls.torch.is_grad_enabled():
            raise refused("TW0484", name, "a tensor that requires a gradient",
                          "one without: gemm() has none",
                          "tilewright.torch.gemm() has gradients; x.detach() is a view without")
        if type(x) in cls.direct:
            return x
        numbers = DLPACK.get(str(x.dtype).removeprefix("torch."))
        if numbers is not None and numbers[1] < 16 and numbers[0] > 2:
            return x.view(cls.torch.uint8), numbers  # float8 and float4: read as bytes
        return x

    @classmethod
    def empty(cls, shape, dtype, like):
        return cls.torch.empty(tuple(shape), dtype=getattr(cls.torch, dtype), device=like.device)

    @classmethod
    def strided(cls, shape, strides, dtype, like):
        return cls.torch.empty_strided(tuple(shape), tuple(strides),
                                       dtype=getattr(cls.torch, dtype), device=like.device)

    @staticmethod
    def check_written(x, name):
        pass

    @staticmethod
    def on_gpu(x):
        return x.is_cuda

    @staticmethod
    def index(x):
        return x.device.index

    @classmethod
    def current(cls, like):
        return cls.torch.cuda.current_stream(like.device).cuda_stream

    @classmethod
    def stream(cls, like):
        """The current stream; None: _tw gets it from torch."""
        return None if type(like) in cls.direct else cls.current(like)

    @staticmethod
    def number_of(stream):
        return getattr(stream, "cuda_stream", stream)

    @classmethod
    def on_stream(cls, stream, like):
        """A context whose current stream is the given one (None: the current one): memory that is
        allocated in it is used, and used again, in the order of that stream."""
        if stream is None or not like.is_cuda:
            return contextlib.nullcontext()
        cuda = cls.torch.cuda
        if not isinstance(stream, (int, cuda.Stream)):
            raise refused("TW0486", "stream", type(stream).__name__,
                          "a torch.cuda.Stream or its address (int)")
        if not isinstance(stream, cuda.Stream):
            stream = (cuda.ExternalStream(stream, device=like.device) if stream
                      else cuda.default_stream(like.device))
        return cuda.stream(stream)

    @staticmethod
    def memory(x):
        return x.data_ptr(), x.numel() * x.element_size()

    @classmethod
    def capturing(cls):
        return cls.torch.cuda.is_current_stream_capturing()

    @classmethod
    def zeros(cls, size, like):
        x = cls.torch.empty(size, dtype=cls.torch.uint8, device=like.device)
        x[:_ZEROED_BYTES].zero_()
        return x


if TorchKind.torch is not None:
    TorchKind.read_directly()

_BYTES_OF = ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")  # CuPy has uint8 for them


class _NotWaiting:
    """An array of CuPy, whose own __dlpack__() makes the default stream wait for the current one: a
    graph that is captured does not allow it, and the kernel runs on the current stream."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(stream=-1, **options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class CupyKind(_Library):
    name = "cupy"
    cupy = sys.modules.get("cupy")

    @classmethod
    def tensor(cls, x, name):
        numbers = DLPACK.get(x.dtype.name)
        if numbers is not None and numbers[0] > 2 and numbers[1] <= 16:  # of ml_dtypes
            x = x.view("uint16" if numbers[1] == 16 else "uint8")
        else:
            numbers = None
        return _NotWaiting(x) if numbers is None else (_NotWaiting(x), numbers)

    @classmethod
    def empty(cls, shape, dtype, like):
        with like.device:  # CuPy allocates on the current device
            return cls.cupy.empty(tuple(shape), "uint8" if dtype in _BYTES_OF else NUMPY[dtype])

    @classmethod
    def strided(cls, shape, strides, dtype, like):
        dtype = "uint8" if dtype in _BYTES_OF else dtype
        size = NUMPY[dtype].itemsize
        elements = 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else 0
        with like.device:
            return cls.cupy.lib.stride_tricks.as_strided(
                cls.cupy.zeros(elements, NUMPY[dtype]), shape, [s * size for s in strides])

    @staticmethod
    def check_written(x, name):
        pass

    @staticmethod
    def on_gpu(x):
        return True

    @staticmethod
    def index(x):
        return x.device.id

    @classmethod
    def current(cls, like):
        return cls.cupy.cuda.get_current_stream(like.device.id).ptr

    stream = current

    @staticmethod
    def number_of(stream):
        return getattr(stream, "ptr", stream)

    @classmethod
    def on_stream(cls, stream, like):
        """As TorchKind.on_stream()."""
        cuda = cls.cupy.cuda
        if stream is not None and not hasattr(stream, "ptr"):
            if not isinstance(stream, int):
                raise refused("TW0486", "stream", type(stream).__name__,
                              "a cupy.cuda.Stream or its address (int)")
            stream = cuda.ExternalStream(stream, like.device.id) if stream else cuda.Stream.null
        context = contextlib.ExitStack()
        context.enter_context(like.device)
        if stream is not None:
            context.enter_context(stream)
        return context

    @staticmethod
    def memory(x):
        return x.data.ptr, x.nbytes

    @classmethod
    def capturing(cls):
        return cls.cupy.cuda.get_current_stream().is_capturing()

    @classmethod
    def zeros(cls, size, like):
        with like.device:
            x = cls.cupy.empty(size, "uint8")
            x[:_ZEROED_BYTES] = 0
            return x

