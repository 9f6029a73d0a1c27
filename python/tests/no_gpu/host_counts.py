#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""host_counts.py  Instructions and microseconds of the host for a GEMM whose plan is remembered,
without a GPU: the CUDA runtime of cuda_runtime.c, and the tensors of torch_tensor.c.

    python host_counts.py BUILD            links and compiles in BUILD/no_gpu, prints microseconds
    python host_counts.py BUILD CALL N     makes N calls of one name, for valgrind

Instructions of a call: the difference of two runs by `valgrind --tool=callgrind`, divided by the
difference of N. The runtime's functions return at once, so that neither the driver's launch nor
torch's own functions are counted.
"""
import importlib.util
import os
import subprocess
import sys
import sysconfig
import time
import types

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, PYTHON)


def made(build):
    """The folder with the package on the runtime of no GPU."""
    import build as package
    import portable
    folder = os.path.join(os.path.abspath(build), "no_gpu")
    os.makedirs(os.path.join(folder, "c"), exist_ok=True)
    runtime, tensors = os.path.join(folder, "cuda_runtime.o"), os.path.join(folder,
                                                                          "torch_tensor.so")
    package.run([portable.CC, "-O2", "-fPIC", "-fvisibility=hidden", "-I/usr/local/cuda/include",
                 "-c", os.path.join(HERE, "cuda_runtime.c"), "-o", runtime])
    package.run([portable.CC, "-O2", "-shared", "-fPIC", "-I" + sysconfig.get_path("include"),
                 "-I" + os.path.join(package.SOURCE, "include"),
                 os.path.join(HERE, "torch_tensor.c"), "-o", tensors])
    words = [runtime if x.endswith("libcudart_static.a") else x
             for x in portable.link_of_library(build) if x != "-Wl,-z,defs"]
    library = os.path.join(folder, "c/libtilewright.so.0")
    words[words.index("-o") + 1] = library
    subprocess.run(words, cwd=build, check=True)
    stripped = package.module_command
    package.module_command = lambda *x: [w for w in stripped(*x) if w != "-Wl,-s"]  # for profiles
    return package.build(library, folder)


def stand_in(folder):
    """A module `torch` with tensors that are on CUDA device 0."""
    spec = importlib.util.spec_from_file_location("torch_tensor",
                                                  os.path.join(folder, "torch_tensor.so"))
    of_c = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(of_c)
    module = types.ModuleType("torch")
    module.Tensor, module.empty_like = of_c.Tensor, of_c.empty_like
    module.is_grad_enabled = of_c.is_grad_enabled
    numbers = {"bfloat16": (4, 16), "float32": (2, 32), "float8_e4m3fn": (10, 8), "uint8": (1, 8)}

    class Type(str):
        def __str__(self):
            return "torch." + str.__str__(self)

    def empty(shape, dtype="float32", device=None, strides=None):
        if strides is None:
            strides = [1]
            for n in reversed(shape[1:]):
                strides.insert(0, strides[0] * n)
        return module.Tensor(tuple(shape), tuple(strides), dtype, numbers[str.__str__(dtype)])

    for name in numbers:
        setattr(module, name, Type(name))
    module.empty = empty
    module.cuda = types.SimpleNamespace(is_current_stream_capturing=lambda: False, current_stream=
                                        lambda d: types.SimpleNamespace(cuda_stream=0))
    sys.modules["torch"] = module
    return module


def calls(torch):
    """(name, function) of each call."""
    import tilewright as tw

    def matrix(rows, cols, dtype):
        return torch.empty((rows, cols), dtype)

    m, n, k = 1024, 4096, 4096  # its kernels are in the smoke set
    a, b = matrix(m, k, torch.bfloat16), matrix(n, k, torch.bfloat16).T
    out = matrix(m, n, torch.bfloat16)
    x, v = matrix(m, k, torch.float8_e4m3fn), matrix(n, k, torch.float8_e4m3fn)
    rows = (tw.Scaled(x, matrix(m, 1, torch.float32), None, "e4m3:row", "row"),
            tw.Scaled(v, matrix(n, 1, torch.float32), None, "e4m3:row", "row").T)
    blocks = (tw.Scaled(x, matrix(k // 128, m, torch.float32).T, None, "e4m3:1x128", "torch:1x128"),
              tw.Scaled(v, matrix(n // 128, k // 128, torch.float32), None, "e4m3:128x128",
                        "torch:128x128").T)
    plan, plan_of_blocks = tw.plan(a, b), tw.plan(*blocks)
    of_specs = tw.plan(tw.spec((m, k), "bf16"), tw.spec((n, k), "bf16").T, device="h200")
    return {"gemm": lambda: tw.gemm(a, b), "gemm out": lambda: tw.gemm(a, b, out=out),
            "plan": lambda: plan(a, b), "plan out": lambda: plan(a, b, out=out),
            "plan of specs out": lambda: of_specs(a, b, out=out),
            "rows out": lambda: tw.gemm(*rows, out=out),
            "blocks": lambda: tw.gemm(*blocks), "blocks out": lambda: tw.gemm(*blocks, out=out),
            "blocks plan out": lambda: plan_of_blocks(*blocks, out=out)}


def main():
    folder = os.path.dirname(made(sys.argv[1])) if len(sys.argv) == 2 else os.path.join(
        os.path.abspath(sys.argv[1]), "no_gpu")
    sys.path.insert(0, folder)
    sys.setdlopenflags(os.RTLD_LAZY)  # functions that are never called are undefined
    torch = stand_in(folder)
    found = calls(torch)
    if len(sys.argv) == 4:
        call = found[sys.argv[2]]
        for _ in range(100 + int(sys.argv[3])):
            call()
        return
    for name, call in found.items():
        best = float("inf")
        for _ in range(30):
            begin = time.perf_counter()
            for _ in range(1000):
                call()
            best = min(best, time.perf_counter() - begin)
        print(f"{name:18} {best * 1e3:6.2f} us")


if __name__ == "__main__":
    main()
