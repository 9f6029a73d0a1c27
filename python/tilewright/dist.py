# SPDX-License-Identifier: Apache-2.0
"""dist.py  GEMMs over the ranks of a group: an exchange before the GEMM or after it.

    g = tilewright.dist.Group()                 # of torch.distributed's processes
    y = g.all_gather_matmul(x, w.T)             # rows of x from all ranks, this rank's columns of w
    z = g.matmul_reduce_scatter(y, v.T)         # this rank's rows of the sum over the ranks

Calls on tensors of torch have gradients, and may be in torch.compile (tilewright.torch_dist).
"""
import contextlib
import itertools
import json
import mmap
import os
import sys
import tempfile
import weakref

from . import _tw
from ._arrays import type_of_numbers
from ._errors import refused
from ._gemm import Call
from ._scaled import Scaled
from ._types import type_name

__all__ = ["CallPlan", "Group"]

_WORKSPACE_BYTES = 64 << 20
_operations = {"all_gather_matmul": "all-gather", "matmul_reduce_scatter": "reduce-scatter",
               "matmul_all_reduce": "all-reduce"}
_numbers = itertools.count()
# By name: torch's operators take a word.
_groups: weakref.WeakValueDictionary[str, "Group"] = weakref.WeakValueDictionary()


class CallPlan:
    """The plan of a call of a group on this rank. str() has it in words.

    Attributes:
        path: the path that the call takes (str).
        why: why it takes the path (str).
        steps: the acts of this rank in words (list of str).
        times: of each path a dict: "us", predicted, None if the model does not know it;
            "measured_us" by `tilewright tune --ranks`, or None; "limit".
        by_nccl: whether NCCL's collectives serve the call (bool).
        record: of schema tilewright.group_plan/1 (dict).
    """

    def __init__(self, text, record):
        self._text, self.record = text, record
        self.path, self.why = record["chosen"], record["why"]
        self.steps, self.by_nccl = record["steps"], record["by_nccl"]
        self.times = {t["path"]: {k: t[k] for k in ("us", "measured_us", "limit")}
                      for t in record["paths"]}

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<CallPlan {self.path}: {self.why}>"


class Group:
    """A rank of a group, through which GEMMs exchange their operands or results.

    The processes of torch.distributed call it at once with equal arguments. With the backend nccl
    tensors are on the GPU of the process, and NCCL 2.28 or later gives the memory that the GPUs
    share; with gloo tensors are in host memory, the processes share a file of /dev/shm, and the
    emulator multiplies: all ranks are then on one host. Set NCCL_NVLS_ENABLE=0 before torch's first
    call of NCCL: the group needs no multicast objects.

    Args:
        process_group: of torch.distributed; None: the default group.
        gathered_bytes: of a receive buffer. A rank has two. A call that needs more is refused with
            the size (TW0902).
        timeout: seconds that a call waits for another rank.
        path: "serial", "two-pieces", "pieces", "direct" or "gated": how calls are cut
            (docs/several-gpus.md); None: by the number of rows.

    Attributes:
        rank, ranks: the number of this rank, and of all.
    """

    def __init__(self, process_group=None, *, gathered_bytes=64 << 20, timeout=300.0,
                 path=None):
        import torch.distributed as dist
        if not dist.is_initialized():
            raise refused("TW0903", "process_group", "no process group",
                          "torch.distributed.init_process_group() before",
                          "Group.local() needs none")
        self.rank, self.ranks = dist.get_rank(process_group), dist.get_world_size(process_group)
        self.path, self.process_group = path, process_group
        self._register()
        if "nccl" in dist.get_backend(process_group):
            self._group = _of_nccl(process_group, self.ranks, gathered_bytes, timeout)
            return
        first = dist.get_global_rank(process_group, 0) if process_group is not None else 0
        size = _tw.group_arena_bytes(gathered_bytes, False)
        name = [_new_file(size * self.ranks) if self.rank == 0 else None]
        dist.broadcast_object_list(name, src=first, group=process_group)
        self._open(name[0], size, gathered_bytes, timeout)
        dist.barrier(group=process_group)
        if self.rank == 0:
            os.unlink(name[0])

    @classmethod
    def local(cls, ranks, *, gathered_bytes=64 << 20, timeout=300.0, path=None):
        """Ranks of this process, in host memory: each is called in a thread.

        Returns:
            A list of `ranks` groups. A call returns when the rank's result is there, and waits for
            the other ranks.
        """
        size = _tw.group_arena_bytes(gathered_bytes, False)
        name = _new_file(size * max(ranks, 1))
        groups = []
        for rank in range(ranks):
            g = object.__new__(cls)
            g.rank, g.ranks, g.path = rank, ranks, path
            g._register()
            groups.append(g)
            g._open(name, size, gathered_bytes, timeout)
        os.unlink(name)
        return groups

    @classmethod
    def shared(cls, file, rank, ranks, *, gathered_bytes=64 << 20, timeout=300.0, path=None):
        """A rank of processes of this host that share a file, without torch.

        Args:
            file: the path of an empty file, which all ranks open, for instance in /dev/shm. The
                file grows to the size of all arenas, and may be removed when all ranks have made
                their groups.
            rank: the number of this rank, from 0.
            ranks: how many ranks the group has.
        """
        g = object.__new__(cls)
        g.rank, g.ranks, g.path = rank, ranks, path
        g._register()
        size = _tw.group_arena_bytes(gathered_bytes, False)
        with open(file, "r+b") as opened:
            if os.fstat(opened.fileno()).st_size < size * ranks:
                os.truncate(file, size * ranks)
        g._open(file, size, gathered_bytes, timeout)
        return g

    process_group = None

    def _register(self):
        self.name = f"group {next(_numbers)}"
        _groups[self.name] = self

    def _open(self, name, size, gathered_bytes, timeout):
        import numpy
        with open(name, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), size * self.ranks)
        start = numpy.frombuffer(self._memory, numpy.uint8).ctypes.data
        self._group = _tw.Group(self.rank, [start + r * size for r in range(self.ranks)], False,
                                gathered_bytes, timeout)

    def all_gather_matmul(self, x, w, *, rows=None, **options):
        """act(X w + bias) with X = the rows of x of all ranks.

        Args:
            x: (rows of this rank, k).
            w: (k, n of this rank); weights (n, k) are passed as `w.T`. Or a list of them, such as
                the weights of q, k and v: x is gathered once. bias, out and scale_b are then lists
                too, or None.
            rows: of each rank, a list; without it all have equally many rows.
            out: (rows of all ranks, n), written.
            out_dtype, bias, alpha, activation, gate, scale_a, scale_b, scale_a_as, scale_b_as,
            promote, invariant, device, stream, workspace: as of gemm(). scale_a: of x.
            path: another one than the group's.

        Returns:
            (rows of all ranks, n), of x's kind of array; a list of them for a list of w.
        """
        rows_of_out = sum(rows) if rows is not None else _rows(x) * self.ranks
        return self._run("all-gather", x, w, rows, rows_of_out, **options)

    def matmul_reduce_scatter(self, x, w, *, rows=None, **options):
        """Rows of act(the sum of x w over the ranks + bias).

        Args:
            x: (m, k of this rank).
            w: (k of this rank, n).
            rows: of each rank, a list; without it as even as possible, the first ranks have more.
            float32_partials: partial results travel as float32 (twice the bytes of bfloat16).
            The other arguments: as of all_gather_matmul().

        Returns:
            (rows of this rank, n).
        """
        return self._run("reduce-scatter", x, w, rows, self._own_rows(_rows(x), rows), **options)

    def matmul_all_reduce(self, x, w, **options):
        """act(the sum of x w over the ranks + bias).

        Args:
            x: (m, k of this rank).
            w: (k of this rank, n).
            The other arguments: as of matmul_reduce_scatter(), without rows.

        Returns:
            (m, n), equal on all ranks.
        """
        return self._run("all-reduce", x, w, None, _rows(x), **options)

    def _own_rows(self, m, rows):
        if rows is not None:
            return rows[self.rank]
        return m // self.ranks + (1 if self.rank < m % self.ranks else 0)

    def _run(self, operation, x, w, rows, rows_of_out, **options):
        of_torch = _of_torch(x, w, options)
        if of_torch is not None:
            return of_torch.differentiable(self, operation, x, w, rows, options)
        return self._compute(operation, x, w, rows, rows_of_out, **options)

    def _compute(self, operation, x, w, rows, rows_of_out, *, out=None, bias=None, scale_b=None,
                 stream=None, workspace=None, path=None, float32_partials=False, **options):
        many = isinstance(w, (list, tuple))
        count = len(w) if many else 1
        if many and (operation != "all-gather" or count == 0):
            raise refused("TW0904", "w", f"a list of {count}",
                          "one or more, of all_gather_matmul; one of the other operations")
        given = [[v] * count if not many else _list_of(v, count, name)
                 for v, name in ((w, "w"), (out, "out"), (bias, "bias"), (scale_b, "scale_b"))]
        calls, results, places = [], [], None
        for w_, out_, bias_, scale in zip(*given):
            call, result = _call(x, w_, rows_of_out, out_, bias_, scale, stream=stream, **options)
            if places is None:
                places = _places(call.kind, call.a, stream, workspace)
            calls.append((tuple(call.tensors), call.words, call.options + places))
            results.append(result)
        self._group.gemm(operation, path or self.path, rows, bool(float32_partials), *calls[0],
                         calls[1:])
        return results if many else results[0]

    def explain(self, operation, x, w, *, rows=None, path=None, float32_partials=False, out=None,
                bias=None, scale_b=None, stream=None, workspace=None, **options):
        """The plan of a call on this rank. Nothing is sent, and no rank waits.

        Args:
            operation: "all_gather_matmul", "matmul_reduce_scatter" or "matmul_all_reduce".
            x, w: of the operation; w is one tensor.
            The other arguments: as of the operation.

        Returns:
            CallPlan: path, reason, steps, predicted and measured times.

        Raises:
            RefusedError: as the call, of its rows and its path.
        """
        if operation not in _operations:
            raise refused("TW0486", "operation", repr(operation), ", ".join(_operations))
        word = _operations[operation]
        m = _rows(x)
        if word == "all-gather":
            rows_of_out = sum(rows) if rows is not None else m * self.ranks
        elif word == "all-reduce":
            rows_of_out = m
        else:
            rows_of_out = self._own_rows(m, rows)
        call, _ = _call(x, w, rows_of_out, out, bias, scale_b, stream=stream, **options)
        places = _places(call.kind, call.a, stream, workspace)
        text, record = self._group.explain(word, path or self.path, rows, bool(float32_partials),
                                           tuple(call.tensors), call.words,
                                           call.options + places)
        return CallPlan(text, json.loads(record))

    def check(self):
        """Raises RefusedError if a rank was late (TW0905), has another problem (TW0901), or if the
        group is broken (TW0906). Results of CUDA tensors are right if it returns after their
        stream has been synchronised."""
        self._group.check()

    def abort(self):
        """Ends the waits of all ranks, from any thread. Later calls are refused (TW0906)."""
        self._group.abort()

    def close(self):
        """Ends this rank's part in the group, after its calls. Ranks that wait for it are
        refused."""
        self._group.close()

    def __del__(self):
        group = self.__dict__.get("_group")
        if group is not None:
            group.close()  # before the memory of its arenas is unmapped


def _of_torch(x, w, options):
    """The module of torch's operators, if the call has gradients or is traced; else None."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor):
        return None
    lists = [v if isinstance(v, (list, tuple)) else [v] for v in (w, options.get("bias"))]
    tensors = [t for t in (x, *lists[0], *lists[1]) if isinstance(t, torch.Tensor)]
    if torch.compiler.is_compiling() or (
            torch.is_grad_enabled() and any(t.requires_grad for t in tensors)):
        from . import torch_dist
        return torch_dist
    return None


def _list_of(value, count, name):
    if value is None:
        return [None] * count
    if not isinstance(value, (list, tuple)) or len(value) != count:
        raise refused("TW0904", name, type(value).__name__, f"a list of {count}, as w is")
    return list(value)


def _call(x, w, rows_of_out, out, bias, scale_b, *, out_dtype=None, alpha=1.0, activation=None,
          gate=None, scale_a=None, scale_a_as=None, scale_b_as=None, promote=128, invariant=False,
          device=None, stream=None):
    call = Call(x, w, None, bias, scale_a, scale_b, scale_a_as, scale_b_as, None, alpha, None,
                activation, gate, promote, invariant, device)
    kind = call.kind
    if out is None:
        shape, numbers = call.shape()[:2]
        dtype = (type_of_numbers(numbers) if out_dtype is None
                 else type_name(out_dtype, "out_dtype"))
        with (kind.on_stream(stream, call.a) if hasattr(kind, "on_stream")
              else contextlib.nullcontext()):
            out = kind.empty((rows_of_out, shape[-1]), dtype, call.a)
    elif out_dtype is not None:
        raise refused("TW0484", "out_dtype", str(out_dtype), "not given if out is")
    else:
        kind.check_written(out, "out")
    call.tensors[3] = kind.tensor(out, "out")
    return call, out


def _rows(x):
    return int((x.data if isinstance(x, Scaled) else x).shape[0])


def _new_file(size):
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    handle, name = tempfile.mkstemp(prefix="tilewright-", dir=folder)
    os.truncate(handle, size)
    os.close(handle)
    return name


def _places(kind, like, stream, workspace):
    """Stream, workspace and its bytes, as _tw takes them."""
    if not getattr(kind, "on_gpu", lambda x: False)(like):
        if stream is not None or workspace is not None:
            raise refused("TW0484", "stream" if stream is not None else "workspace", "given",
                          "not given: the arrays are in host memory")
        return 0, 0, 0
    number = kind.stream(like) if stream is None else kind.number_of(stream)
    memory = workspace
    if memory is None:
        memory = kind._workspace(like, stream, _WORKSPACE_BYTES, True)
    return (number, *kind.memory(memory))


def _of_nccl(process_group, ranks, gathered_bytes, timeout):
    import torch
    import torch.distributed as dist
    group = process_group if process_group is not None else dist.group.WORLD
    device = torch.device("cuda", torch.cuda.current_device())
    # NCCL's communicator is made by the first call on a device.
    dist.all_reduce(torch.zeros(1, device=device), group=group)
    torch.cuda.synchronize(device)
    backend = group._get_backend(device)
    comm = getattr(backend, "_comm_ptr", None)
    if comm is None:
        raise refused("TW0908", "process group", f"torch {torch.__version__} without the address "
                      "of its communicator", "torch 2.7 or later")
    return _tw.Group(comm=comm(), ranks=ranks, library=None, bytes=gathered_bytes,
                     timeout_s=timeout)
