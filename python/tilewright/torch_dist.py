# SPDX-License-Identifier: Apache-2.0
"""torch_dist.py  GEMMs over ranks inside of torch programs: gradients, torch.compile, two modules.

    up = ColumnParallelLinear(1024, 4096, group)     # rows of x from all ranks, columns of weight
    down = RowParallelLinear(4096, 1024, group)      # its sum over the ranks, rows of this rank
    y = down(torch.relu(up(x)))

The methods of tilewright.dist.Group use the operators tilewright::all_gather_matmul and
tilewright::matmul_over_ranks if a tensor requires a gradient or a program is compiled. The gradient
of an input is the other operation; the gradient of a weight gathers the rows again.
"""
import torch

from ._errors import refused
from .dist import _groups

__all__ = ["ColumnParallelLinear", "RowParallelLinear"]

_library = torch.library.Library("tilewright", "FRAGMENT")
_TAGS = (torch.Tag.pt2_compliant_tag,)
_OPTIONS = ("str group, int[]? rows=None, ScalarType? out_dtype=None, float alpha=1.0, "
            "str? path=None, bool invariant=False, str? device_name=None")
_library.define(f"all_gather_matmul(Tensor x, Tensor[] w, Tensor?[] bias, *, {_OPTIONS}) "
                "-> Tensor[]", tags=_TAGS)
_library.define(f"matmul_over_ranks(Tensor x, Tensor w, Tensor? bias, *, bool scatter, {_OPTIONS}, "
                "bool float32_partials=False) -> Tensor", tags=_TAGS)


def _group(name):
    group = _groups.get(name)
    if group is None:
        raise refused("TW0906", "group", f"{name!r}, which was destroyed", "a group")
    return group


def _own_rows(group, m, rows):
    if rows is not None:
        return rows[group.rank]
    return m // group.ranks + (1 if group.rank < m % group.ranks else 0)


def _all_gather_matmul(x, w, bias, *, group, rows=None, out_dtype=None, alpha=1.0, path=None,
                       invariant=False, device_name=None):
    g = _group(group)
    m = sum(rows) if rows is not None else x.shape[0] * g.ranks
    return g._compute("all-gather", x, list(w), rows, m, bias=list(bias), out_dtype=out_dtype,
                      alpha=alpha, path=path, invariant=invariant, device=device_name)


def _matmul_over_ranks(x, w, bias, *, scatter, group, rows=None, out_dtype=None, alpha=1.0,
                       path=None, invariant=False, device_name=None, float32_partials=False):
    g = _group(group)
    m = _own_rows(g, x.shape[0], rows) if scatter else x.shape[0]
    return g._compute("reduce-scatter" if scatter else "all-reduce", x, w, rows, m, bias=bias,
                      out_dtype=out_dtype, alpha=alpha, path=path, invariant=invariant,
                      device=device_name, float32_partials=float32_partials)


def _fake_all_gather_matmul(x, w, bias, *, group, rows=None, out_dtype=None, **options):
    m = sum(rows) if rows is not None else x.shape[0] * _group(group).ranks
    return [x.new_empty((m, w_.shape[1]), dtype=out_dtype or x.dtype) for w_ in w]


def _fake_matmul_over_ranks(x, w, bias, *, scatter, group, rows=None, out_dtype=None, **options):
    m = _own_rows(_group(group), x.shape[0], rows) if scatter else x.shape[0]
    return x.new_empty((m, w.shape[1]), dtype=out_dtype or x.dtype)


for _name, _function, _fake in (
        ("all_gather_matmul", _all_gather_matmul, _fake_all_gather_matmul),
        ("matmul_over_ranks", _matmul_over_ranks, _fake_matmul_over_ranks)):
    _library.impl(_name, _function, "CompositeExplicitAutograd")
    torch.library.register_fake(f"tilewright::{_name}", _fake, lib=_library)
_gather = torch.ops.tilewright.all_gather_matmul.default
_reduce = torch.ops.tilewright.matmul_over_ranks.default


def _all_rows(x, options):
    """The rows of x of all ranks: their GEMM with the identity, which is exact."""
    one = torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
    return _gather(x, [one], [None], **options)[0]


def _common(options):
    return {k: options[k] for k in ("group", "rows", "path", "invariant", "device_name")
            if k in options}


def _gather_setup(ctx, inputs, keyword_only_inputs, output):
    ctx.options = keyword_only_inputs
    x, w, bias = inputs
    ctx.count, ctx.biases = len(w), [b is not None for b in bias]
    ctx.save_for_backward(x, *w)


def _gather_backward(ctx, grads):
    x, *w = ctx.saved_tensors
    o, common = ctx.options, _common(ctx.options)
    alpha = o.get("alpha", 1.0)
    m = sum(o["rows"]) if o.get("rows") is not None else x.shape[0] * _group(o["group"]).ranks
    g = [x.new_zeros((m, w_.shape[1])) if g_ is None else g_.to(x.dtype).contiguous()
         for g_, w_ in zip(grads, w)]
    # The sum over all w of one rank, then over the ranks.
    dx = _reduce(torch.cat(g, 1), torch.cat([w_.T for w_ in w], 0), None, scatter=True,
                 alpha=alpha, out_dtype=x.dtype, float32_partials=True, **common)
    whole = _all_rows(x, common)
    dw = [alpha * (whole.T.float() @ g_.float()).to(w_.dtype) for g_, w_ in zip(g, w)]
    # torch takes a list without tensors as one operand.
    db = ([g_.float().sum(0) if b else None for g_, b in zip(g, ctx.biases)] if any(ctx.biases)
          else None)
    return dx, dw, db


def _reduce_setup(ctx, inputs, keyword_only_inputs, output):
    ctx.options = keyword_only_inputs
    x, w, bias = inputs
    ctx.bias = bias is not None
    ctx.save_for_backward(x, w)


def _reduce_backward(ctx, g):
    x, w = ctx.saved_tensors
    o, common = ctx.options, _common(ctx.options)
    alpha = o.get("alpha", 1.0)
    g = g.to(x.dtype).contiguous()
    if o["scatter"]:
        rows = o.get("rows")
        if rows is None:  # as even as possible, which a gather does not assume
            count, m = _group(o["group"]).ranks, x.shape[0]
            common["rows"] = [m // count + (1 if r < m % count else 0) for r in range(count)]
        dx = _gather(g, [w.T], [None], alpha=alpha, out_dtype=x.dtype, **common)[0]
        g = _all_rows(g, common)
    else:  # the gradient is equal on all ranks
        dx = (alpha * (g.float() @ w.T.float())).to(x.dtype)
    dw = (alpha * (x.T.float() @ g.float())).to(w.dtype)
    return dx, dw, g.float().sum(0) if ctx.bias else None


torch.library.register_autograd("tilewright::all_gather_matmul", _gather_backward,
                                setup_context=_gather_setup, lib=_library)
torch.library.register_autograd("tilewright::matmul_over_ranks", _reduce_backward,
                                setup_context=_reduce_setup, lib=_library)


def _biases(bias, w):
    """A bias of each w. torch differentiates no list of tensors and None: zeros stand for None."""
    given = [None] * len(w) if bias is None else list(bias)
    like = next((b for b in given if b is not None), None)
    if like is None or len(given) != len(w):
        return given
    return [like.new_zeros(w_.shape[1]) if b is None else b for b, w_ in zip(given, w)]


def differentiable(group, operation, x, w, rows, options):
    """The call of a group by torch's operators."""
    options = {k: v for k, v in options.items() if v is not None}
    known = {"bias", "out_dtype", "alpha", "path", "invariant", "device", "float32_partials"}
    if x.dtype not in (torch.float16, torch.bfloat16, torch.float32) or set(options) - known:
        got = ", ".join(sorted(set(options) - known)) or str(x.dtype)
        raise refused("TW0484", "gradient or trace of a group's GEMM", f"with {got}",
                      "float16, bfloat16 or float32; bias, alpha and out_dtype",
                      "an activation of torch after it; x.detach() is a view without a gradient")
    bias = options.pop("bias", None)
    if "device" in options:
        options["device_name"] = options.pop("device")
    options.update(group=group.name, rows=rows)
    if operation != "all-gather":
        return _reduce(x, w, bias, scatter=operation == "reduce-scatter", **options)
    options.pop("float32_partials", None)
    if not isinstance(w, (list, tuple)):
        return _gather(x, [w], [bias], **options)[0]
    return _gather(x, list(w), _biases(bias, w), **options)


class _Parallel(torch.nn.Module):
    def __init__(self, out_features, in_features, group, bias, of_bias, device, dtype):
        super().__init__()
        self.group = group
        self.weight = torch.nn.Parameter(
            torch.empty(out_features, in_features, device=device, dtype=dtype))
        torch.nn.init.kaiming_uniform_(self.weight, a=5 ** 0.5)
        self.bias = (torch.nn.Parameter(torch.zeros(of_bias, device=device, dtype=torch.float32))
                     if bias else None)


def _part(extent, group, name):
    if extent % group.ranks:
        raise refused("TW0903", name, str(extent), f"a multiple of the {group.ranks} ranks")
    return extent // group.ranks


class ColumnParallelLinear(_Parallel):
    """y = x weight^T + bias for the rows of all ranks, and this rank's columns of y.

    Args:
        in_features, out_features: of the whole layer; out_features is a multiple of the ranks.
        group: tilewright.dist.Group.
        bias: with a bias of this rank's columns.
        device, dtype: of the parameters; the bias is float32.

    Attributes:
        weight: (out_features / ranks, in_features).

    forward(x): x (rows of this rank, in_features) -> (rows of all ranks, out_features / ranks). All
    ranks have equally many rows.
    """

    def __init__(self, in_features, out_features, group, bias=True, *, device=None, dtype=None):
        n = _part(out_features, group, "out_features")
        super().__init__(n, in_features, group, bias, n, device, dtype)

    def forward(self, x):
        """(rows of this rank, in_features) -> (rows of all ranks, out_features / ranks)."""
        return self.group.all_gather_matmul(x, self.weight.T, bias=self.bias)


class RowParallelLinear(_Parallel):
    """y = the sum over the ranks of x weight^T, plus bias.

    Args:
        in_features, out_features: of the whole layer; in_features is a multiple of the ranks.
        group: tilewright.dist.Group.
        bias: with a bias, equal on all ranks, which is added once.
        scatter: y has this rank's rows; else all rows, equal on all ranks, and the gradient of y is
            expected to be equal on all ranks.
        device, dtype: of the parameters; the bias is float32.

    Attributes:
        weight: (out_features, in_features / ranks).

    forward(x): x (rows, in_features / ranks) -> (rows of this rank, or rows, out_features).
    """

    def __init__(self, in_features, out_features, group, bias=True, *, scatter=True, device=None,
                 dtype=None):
        super().__init__(out_features, _part(in_features, group, "in_features"), group, bias,
                         out_features, device, dtype)
        self.scatter = scatter

    def forward(self, x):
        """(rows, in_features / ranks) -> (rows of this rank, or rows, out_features)."""
        multiply = (self.group.matmul_reduce_scatter if self.scatter
                    else self.group.matmul_all_reduce)
        return multiply(x, self.weight.T, bias=self.bias)
