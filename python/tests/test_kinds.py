# SPDX-License-Identifier: Apache-2.0
"""test_kinds.py  The code for arrays of torch, with a stand-in for torch: tensors in host memory.
It shows how tensors are read and allocated; torch itself is in test_torch.py."""
import sys
import types

import numpy as np
import pytest

import tilewright as tw
from helpers import TYPES
from test_process import passes


@pytest.fixture
def torch(monkeypatch):
    """A module with the parts of torch that _gpu.py uses. After the test _gpu.py is imported anew,
    with torch itself, or it is the module from before."""
    module = types.ModuleType("torch")

    class Type(str):
        def __str__(self):
            return "torch." + str.__str__(self)

    for name in TYPES:
        setattr(module, name, Type(name))

    class Tensor:
        def __init__(self, array, dtype, requires_grad=False):
            self.array, self.dtype, self.requires_grad = array, dtype, requires_grad
            self.shape, self.ndim, self.is_cuda = array.shape, array.ndim, False
            self.device = types.SimpleNamespace(type="cpu", index=None)

        @property
        def T(self):
            return Tensor(self.array.T, self.dtype)

        def view(self, dtype):
            return Tensor(self.array.view(TYPES[str.__str__(dtype)]), dtype)

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return (1, 0)

    module.Tensor, module.is_grad_enabled = Tensor, lambda: True
    module.empty_like = lambda x: Tensor(np.empty_like(x.array), x.dtype)
    module.empty = lambda shape, dtype, device: Tensor(
        np.empty(shape, TYPES[str.__str__(dtype)]), dtype)
    module.empty_strided = lambda shape, strides, dtype, device: Tensor(
        np.lib.stride_tricks.as_strided(np.zeros(4096, TYPES[str.__str__(dtype)]), shape, [
            s * TYPES[str.__str__(dtype)]().itemsize for s in strides]), dtype)
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.delitem(sys.modules, "tilewright._gpu", raising=False)
    monkeypatch.delattr(tw, "_gpu", raising=False)
    yield module
    from tilewright import _arrays
    _arrays.KINDS.pop(Tensor, None)
    sys.modules.pop("tilewright._gpu", None)
    vars(tw).pop("_gpu", None)


def test_the_stand_in_leaves_nothing():
    """A process that has run a test with the stand-in multiplies tensors of torch itself."""
    passes(f"""
        import importlib.util, pytest, sys
        options = ["-q", "-p", "no:cacheprovider", "-k", "results_are_of_the_kind"]
        assert pytest.main([*options, {__file__!r}]) == 0
        assert "torch" not in sys.modules and "tilewright._gpu" not in sys.modules
        if importlib.util.find_spec("torch"):
            import torch
            import tilewright as tw
            x = torch.ones(4, 8, dtype=torch.float16)
            d = tw.gemm(x, x.T)
            assert type(d) is torch.Tensor and (d == 8).all()
        """, head="")


def test_results_are_of_the_kind(torch):
    a = torch.Tensor(np.ones((4, 8), np.float16), torch.float16)
    w = torch.Tensor(np.ones((16, 8), np.float16), torch.float16)
    d = tw.gemm(a, w.T)
    assert isinstance(d, torch.Tensor) and d.dtype == "float16" and (d.array == 8).all()
    out = torch.empty((4, 16), torch.float32, None)
    assert tw.gemm(a, w.T, out=out) is out and (out.array == 8).all()
    assert (tw.plan(a, w.T)(a, w.T).array == 8).all()


def test_float8_is_read_as_bytes(torch):
    a = torch.Tensor(np.ones((4, 16), TYPES["float8_e4m3fn"]), torch.float8_e4m3fn)
    d = tw.gemm(a, a.T, out_dtype="float32")
    assert d.dtype == "float32" and (d.array == 16).all()


def test_quantised(torch):
    x = torch.Tensor(np.ones((4, 64), np.float32), torch.float32)
    q = tw.quantize(x, "e4m3:row")
    assert isinstance(q.data, torch.Tensor) and isinstance(q.scale, torch.Tensor)
    assert q.scale.shape == (4, 1)


def test_gradients_are_refused(torch):
    a = torch.Tensor(np.ones((4, 8), np.float16), torch.float16, requires_grad=True)
    with pytest.raises(tw.RefusedError, match="gradient"):
        tw.gemm(a, a.T)
    with pytest.raises(tw.RefusedError, match="stream"):
        tw.gemm(torch.Tensor(a.array, torch.float16), torch.Tensor(a.array.T, torch.float16),
                stream=1)
