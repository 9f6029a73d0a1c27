# SPDX-License-Identifier: Apache-2.0
"""_model.py  plan_model(): the GEMMs of a transformer layer, with their predicted times."""
import html
import json
import os
from collections import namedtuple

from ._errors import RefusedError, refused
from ._plan import plan, spec

PlanRow = namedtuple("PlanRow", "gemm tokens n k format us tflops kernel plan")


class ModelPlan:
    """The plans of a model.

    Attributes:
        rows: a PlanRow for each GEMM, number of tokens and format: gemm, tokens (M), n, k, format,
            us (predicted microseconds), tflops, kernel, plan.
        layers: the number of layers (int).
        device: the device (str).
        left_out: the formats that the device has no kernels for, with the refusal (dict).
    """

    def __init__(self, rows, layers, device, left_out):
        self.rows, self.layers, self.device, self.left_out = rows, layers, device, left_out

    def us(self, *, tokens, format):
        """The predicted time of the GEMMs of all layers in microseconds."""
        found = [row.us for row in self.rows if row.tokens == tokens and row.format == format]
        if not found:
            raise refused("TW0484", "tokens and format", f"{tokens}, {format}", "those of a row")
        return self.layers * sum(found)

    def _cells(self):
        yield ("GEMM", "tokens", "N", "K", "format", "us", "TFLOP/s", "kernel")
        for r in self.rows:
            yield (r.gemm, str(r.tokens), str(r.n), str(r.k), r.format, f"{r.us:.2f}",
                   f"{r.tflops:.0f}", r.kernel)

    def __str__(self):
        cells = list(self._cells())
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        return "\n".join("  ".join(x.ljust(w) for x, w in zip(row, widths)).rstrip()
                         for row in cells)

    __repr__ = __str__

    def _repr_html_(self):
        rows = ("".join(f"<td>{html.escape(x)}</td>" for x in row) for row in self._cells())
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _config(config):
    if isinstance(config, (str, os.PathLike)):
        with open(config, encoding="utf-8") as file:
            config = json.load(file)
    if hasattr(config, "to_dict"):
        config = config.to_dict()
    return config


def _extent(config, name, default=None):
    value = config.get(name, default)
    if not isinstance(value, int) or value < 1:
        raise refused("TW0484", name, str(value), "a positive integer in the configuration")
    return value


def _divided(value, tp, name):
    if value % tp:
        raise refused("TW0484", "tp", str(tp), f"a divisor of {name}, {value}")
    return value // tp


def layer_gemms(config, tp):
    """(name, N, K, options) of each GEMM of a layer on one of tp GPUs."""
    hidden = _extent(config, "hidden_size")
    inter = _extent(config, "intermediate_size")
    heads = _extent(config, "num_attention_heads")
    kv = config.get("num_key_value_heads") or heads
    size = config.get("head_dim") or hidden // heads
    own, own_kv = _divided(heads, tp, "num_attention_heads"), max(kv // tp, 1)
    own_inter = _divided(inter, tp, "intermediate_size")
    return [("qkv", (own + 2 * own_kv) * size, hidden, {}),
            ("o", hidden, own * size, {}),
            ("gate_up", 2 * own_inter, hidden, {"activation": "silu", "gate": "split"}),
            ("down", hidden, own_inter, {})]


def plan_model(config, *, tokens=(1, 64, 4096), formats=("bf16", "e4m3:1x128", "nvfp4"),
               device="h200", tp=1):
    """The kernels and predicted times of the GEMMs of a transformer's layers.

    The GEMMs are those of attention with a fused projection of Q, K and V, and of a feed-forward
    network with SwiGLU. Formats that the device has no kernel for are left out of the rows.

    Args:
        config: a dict with hidden_size, intermediate_size, num_attention_heads,
            num_key_value_heads, num_hidden_layers and, where it differs, head_dim; an object whose
            to_dict() has these; or the path of such a JSON file.
        tokens: numbers of tokens, M of the GEMMs.
        formats: of both operands; with "e4m3:1x128" the weights are "e4m3:128x128".
        device: the GPU.
        tp: the number of GPUs that share a layer.

    Returns:
        ModelPlan.
    """
    config = _config(config)
    rows, left_out = [], {}
    for form in formats:
        try:
            rows += _rows_of(form, layer_gemms(config, tp), tokens, device)
        except RefusedError as why:
            if why.code != "TW0471":  # no kernel on this device
                raise
            left_out[form] = str(why)
    return ModelPlan(rows, _extent(config, "num_hidden_layers", 1), device, left_out)


def _rows_of(form, gemms, tokens, device):
    weights, rows = form.replace(":1x128", ":128x128"), []
    for name, n, k, options in gemms:
        for m in tokens:
            p = plan(spec((m, k), form), spec((n, k), weights).T, device=device, **options)
            tflops = 2e-6 * m * n * k / p.us
            rows.append(PlanRow(name, m, n, k, form, p.us, tflops, p.kernel, p))
    return rows
