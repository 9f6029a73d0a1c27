# SPDX-License-Identifier: Apache-2.0
"""_model.py  plan_model(): the GEMMs of a transformer layer, with their predicted times."""
import html
import json
import os
from collections import namedtuple

from . import _tw
from ._errors import refused
from ._plan import plan as plan_gemm
from ._plan import spec


class PlanRow(namedtuple("PlanRow", "gemm tokens n k format us tflops kernel gated device")):
    """One GEMM of a model, for one number of tokens and one format."""
    __slots__ = ()

    @property
    def plan(self):
        """The Plan of this GEMM, which runs it."""
        weights = self.format.replace(":1x128", ":128x128")
        options = {"activation": "silu", "gate": "split"} if self.gated else {}
        return plan_gemm(spec((self.tokens, self.k), self.format),
                         spec((self.n, self.k), weights).T, device=self.device, **options)


class ModelPlan:
    """The plans of a model.

    Attributes:
        rows: a PlanRow for each GEMM, number of tokens and format: gemm, tokens (M), n, k, format,
            us (predicted microseconds), tflops, kernel, gated (SwiGLU), device, plan.
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
        lines = ["  ".join(x.ljust(w) for x, w in zip(row, widths)).rstrip() for row in cells]
        return "\n".join(lines + self._notes())

    def _notes(self):
        return [f"left out: {form}: {why}" for form, why in self.left_out.items()]

    __repr__ = __str__

    def _repr_html_(self):
        rows = ("".join(f"<td>{html.escape(x)}</td>" for x in row) for row in self._cells())
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>" + "".join(
            f"<p>{html.escape(note)}</p>" for note in self._notes())


def _config_text(config):
    """The configuration as JSON."""
    if isinstance(config, (str, os.PathLike)):
        with open(config, encoding="utf-8") as file:
            return file.read()
    if hasattr(config, "to_dict"):
        config = config.to_dict()
    return json.dumps(config, default=str)


def plan_model(config, *, tokens=(1, 64, 4096), formats=("bf16", "e4m3:1x128", "nvfp4"),
               device="h200", tp=1):
    """The kernels and predicted times of the GEMMs of a transformer's layers.

    The GEMMs are those of attention with a fused projection of Q, K and V, and of a feed-forward
    network with SwiGLU. Formats that the device has no kernel for are left out of the rows.
    `tilewright plan --model` prints the same.

    Args:
        config: a dict with hidden_size, intermediate_size, num_attention_heads,
            num_key_value_heads, num_hidden_layers and, where it differs, head_dim; an object whose
            to_dict() has these; or the path of such a JSON file.
        tokens: numbers of tokens, M of the GEMMs; or one.
        formats: of both operands, or one of them; with "e4m3:1x128" the weights are "e4m3:128x128".
        device: the GPU.
        tp: the number of GPUs that share a layer.

    Returns:
        ModelPlan.
    """
    tokens = [tokens] if isinstance(tokens, int) else tokens
    formats = [formats] if isinstance(formats, str) else formats
    request = {"tokens": list(tokens), "formats": list(formats), "device": device, "tp": tp}
    made = json.loads(_tw.plan_model(_config_text(config), json.dumps(request)))
    rows = [PlanRow(r["gemm"], r["tokens"], r["n"], r["k"], r["format"], r["us"], r["tflops"],
                    r["kernel"], r["gated"], device) for r in made["rows"]]
    return ModelPlan(rows, made["layers"], device,
                     {x["format"]: x["why"] for x in made["left_out"]})
