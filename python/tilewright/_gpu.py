# SPDX-License-Identifier: Apache-2.0
"""_gpu.py  Arrays of torch and CuPy: allocation, the current stream, the workspace.

Imported with the first such array: torch or CuPy is loaded then.
"""
import os
import sys

from . import _tw
from ._errors import NO_DEVICE, error_of, refused
from ._types import DLPACK, NUMPY

_ZEROED_BYTES = 262144  # of a workspace, before its first use
_MOST_PLANS = 4096

# The process that used CUDA first: it cannot be used after a fork.
_process = None
_plans: dict = {}  # (problem, alignment of the addresses) -> _tw.Plan
_workspaces: dict = {}  # (library, device, stream) -> memory


def _check_process():
    global _process
    if _process is None:
        _process = os.getpid()
    elif _process != os.getpid():
        raise error_of(NO_DEVICE, "TW0506", "CUDA after a fork",
                       f"process {os.getpid()}, forked from {_process}",
                       "a process that is spawned", "multiprocessing.get_context('spawn')", "")


def _alignment(address):
    return (address & -address) & 0xFF if address & 0xFF else 256


class _Library:
    """The common part of the kinds of torch and CuPy."""

    @classmethod
    def run(cls, call, stream, workspace, plan=None):
        """Runs a call: in the emulator on host memory, else on a stream of the arrays' device."""
        like = call.a
        if not cls.on_gpu(like):
            if stream is not None or workspace is not None:
                raise refused("TW0484", "stream" if stream is not None else "workspace", "given",
                              "not given: the arrays are in host memory")
            arguments = tuple(call.tensors), call.words, call.options + (0, 0, 0)
            (plan.run if plan else _tw.gemm)(*arguments)
            return
        _check_process()
        number = cls.stream(like) if stream is None else cls.number_of(stream)
        if plan is None:
            plan = cls._plan(call)
        address = size = 0
        if workspace is not None:
            address, size = cls.memory(workspace)
        elif plan.workspace_bytes:
            workspace = cls._workspace(like, number, plan.workspace_bytes)
            address, size = cls.memory(workspace)
        plan.run(tuple(call.tensors), call.words, call.options + (number, address, size))

    @classmethod
    def _plan(cls, call):
        arrays = [x[0] if type(x) is tuple else x for x in call.tensors]
        key = (tuple(None if x is None else cls.facts(x) for x in arrays), call.words, call.options)
        plan = _plans.get(key)
        if plan is None:
            if len(_plans) >= _MOST_PLANS:
                _plans.clear()
            plan = _plans[key] = _tw.Plan(tuple(call.tensors), call.words,
                                          call.options + (0, 0, 0))
        return plan

    @classmethod
    def _workspace(cls, like, number, size):
        """Memory of the caller's allocator; while a graph is captured it is the graph's."""
        if cls.capturing():
            return cls.zeros(size, like)
        key = cls.name, cls.index(like), number
        memory = _workspaces.get(key)
        if memory is None or cls.memory(memory)[1] < size:
            memory = _workspaces[key] = cls.zeros(size, like)
        return memory


class TorchKind(_Library):
    name = "torch"
    torch = sys.modules.get("torch")

    @classmethod
    def tensor(cls, x, name):
        if x.requires_grad:
            raise refused("TW0484", name, "a tensor that requires a gradient",
                          "one without: gemm() has none", "x.detach() is a view")
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
    def stream(cls, like):
        return cls.torch.cuda.current_stream(like.device).cuda_stream

    @staticmethod
    def number_of(stream):
        return getattr(stream, "cuda_stream", stream)

    @staticmethod
    def memory(x):
        return x.data_ptr(), x.numel() * x.element_size()

    @staticmethod
    def facts(x):
        return tuple(x.shape), x.stride(), x.dtype, x.device, _alignment(x.data_ptr())

    @classmethod
    def capturing(cls):
        return cls.torch.cuda.is_current_stream_capturing()

    @classmethod
    def zeros(cls, size, like):
        x = cls.torch.empty(size, dtype=cls.torch.uint8, device=like.device)
        x[:_ZEROED_BYTES].zero_()
        return x

    @classmethod
    def quantize_room(cls, x, scaling, stream):
        if not cls.on_gpu(x):
            return 0, None
        _check_process()
        number = cls.stream(x) if stream is None else cls.number_of(stream)
        return number, cls.memory(cls.zeros(256, x)) if scaling == "tensor" else None


class CupyKind(_Library):
    name = "cupy"
    cupy = sys.modules.get("cupy")

    @classmethod
    def tensor(cls, x, name):
        numbers = DLPACK.get(x.dtype.name)
        if numbers is not None and numbers[0] > 2 and numbers[1] <= 16:  # of ml_dtypes
            return x.view("uint16" if numbers[1] == 16 else "uint8"), numbers
        return x

    @classmethod
    def empty(cls, shape, dtype, like):
        return cls.cupy.empty(tuple(shape), NUMPY[dtype])

    @classmethod
    def strided(cls, shape, strides, dtype, like):
        size = NUMPY[dtype].itemsize
        elements = 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else 0
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
    def stream(cls, like):
        return cls.cupy.cuda.get_current_stream().ptr

    @staticmethod
    def number_of(stream):
        return getattr(stream, "ptr", stream)

    @staticmethod
    def memory(x):
        return x.data.ptr, x.nbytes

    @staticmethod
    def facts(x):
        return x.shape, x.strides, x.dtype.name, x.device.id, _alignment(x.data.ptr)

    @classmethod
    def capturing(cls):
        return cls.cupy.cuda.get_current_stream().is_capturing()

    @classmethod
    def zeros(cls, size, like):
        x = cls.cupy.empty(size, "uint8")
        x[:_ZEROED_BYTES] = 0
        return x

    @classmethod
    def quantize_room(cls, x, scaling, stream):
        _check_process()
        number = cls.stream(x) if stream is None else cls.number_of(stream)
        return number, cls.memory(cls.zeros(256, x)) if scaling == "tensor" else None

