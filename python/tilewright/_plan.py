# SPDX-License-Identifier: Apache-2.0
"""_plan.py  Plans: a kernel is chosen once, with its predicted time, for tensors or specs."""
from . import _tw
from ._arrays import Spec, SpecKind, kind_of, place_of, type_of_numbers
from ._errors import refused
from ._gemm import Call
from ._grouped import form_of, with_groups
from ._scaled import Scaled, quantized_shape, split_format
from ._weights import Prepared


def spec(shape, dtype, *, strides=None):
    """A tensor without data, for plan().

    Args:
        shape: (m, k), or with a batch in front.
        dtype: a type, or a format of quantize(), such as "e4m3:1x128" or "nvfp4".
        strides: in elements; C order without.

    Returns:
        Spec, or Scaled of specs where dtype is a format.
    """
    if isinstance(dtype, str) and (":" in dtype or dtype in ("mxfp8", "mxfp4", "nvfp4")):
        to, scaling, form, order = split_format(dtype, None, "torch")
        result, numbers, scale_shape, scale_strides, scale_numbers, _, _ = quantized_shape(
            Spec(shape, "bfloat16").tensor, to, scaling)
        level = Spec((1,), "float32") if form == "nvfp4" else None
        return Scaled(Spec(result, type_of_numbers(numbers)),
                      Spec(scale_shape, type_of_numbers(scale_numbers), scale_strides), level,
                      form, order, turned=False)
    return Spec(shape, dtype, strides)


def _as_spec(x, name="x"):
    """A spec of what has a shape and a type but no data, such as jax.ShapeDtypeStruct."""
    if isinstance(x, (tuple, list)):
        raise refused("TW0483", f"type of {name}", type(x).__name__, "an array or a spec",
                      "tilewright.spec((m, k), 'bf16') is a tensor without data")
    if x is None or isinstance(x, (Spec, Scaled, Prepared, str)):
        return x
    if not hasattr(x, "__dlpack__") or getattr(getattr(x, "device", None), "type", "") == "meta":
        if hasattr(x, "shape") and hasattr(x, "dtype"):
            strides = x.stride() if callable(getattr(x, "stride", None)) else None
            return Spec(x.shape, x.dtype, strides)
    return x


class Plan:
    """A kernel for one problem: its choice, its predicted time, and the call that runs it.

    Attributes:
        kernel: the name of the kernel (str).
        us: the predicted time in microseconds (float).
        terms: the parts of the prediction in microseconds (dict).
        why: what limits the time, and the plan that came second (str).
        hints: what would be faster, such as an aligned leading dimension (list of str).
        workspace_bytes: what a run on a GPU needs.
        device: the device that the plan is for (str).
        text: the plan as a line of JSON for `plan(..., text=)`, in another process too (str).
    """

    def __init__(self, made, call, out_dtype, form=None):
        self._made, self._call, self._out_dtype = made, call, out_dtype
        self._form = form  # of the sizes of groups
        self._record = self._prototype = None

    @property
    def record(self):
        """The record of `tilewright plan --json`, schema tilewright.plan/1 (dict)."""
        if self._record is None:
            import json
            self._record = json.loads(self._made.json(1))
        return self._record

    @property
    def kernel(self):
        return self.record["chosen"]["kernel"]

    @property
    def us(self):
        return self.record["chosen"]["predicted"]["us"]

    @property
    def terms(self):
        return self.record["chosen"]["terms_us"]

    @property
    def why(self):
        r = self.record
        text = f"{r['because']}; {r['limit']}"
        return f"{text}; second: {r['runner_up']}" if r.get("runner_up") else text

    @property
    def hints(self):
        return list(self.record["hints"])

    @property
    def device(self):
        return self.record["device"]

    @property
    def text(self):
        return self._made.text()

    @property
    def workspace_bytes(self):
        return self._made.workspace_bytes

    def candidates(self, n=0):
        """The n best plans, best first (0: all): dicts with kernel, predicted and terms_us."""
        import json
        return json.loads(self._made.json(n))["plans"]

    def __call__(self, a, b, groups=None, *, out=None, c=None, bias=None, scale_a=None,
                 scale_b=None, scale_out=None, stream=None, workspace=None, status=None,
                 row_weight=None, group_alpha=None, gather=None, scatter=None):
        """Runs the kernel on tensors of the plan's shapes, strides and types (TW0488 otherwise).

        Args:
            groups: of a plan with groups their sizes, in the form of the plan; the arguments from
                status on are those of grouped_gemm().

        Returns:
            The result, as gemm() returns it.
        """
        own = self._call
        kind = own.kind
        if kind is SpecKind:
            kind = kind_of(a.data if type(a) is Scaled else a)
        short = (kind.direct and stream is None and workspace is None
                 and groups is None and self._form is None and scale_out is None)
        if short and type(b) is not Prepared:
            x, of_x, level_x, y, of_y, level_y = a, scale_a, None, b, scale_b, None
            if type(a) is Scaled:
                x, of_x, level_x = a.data, a.scale, a.level
            if type(b) is Scaled:
                y, of_y, level_y = b.data, b.scale, b.level
            # The result of CUDA tensors that _tw reads directly; None of others.
            result = self._made.run_directly(
                (x, y, c, out, bias, of_x, of_y, level_x, level_y, self._prototype), own.words,
                own.options)
            if result is not None:
                return result
        call = own.again(a, b, c, bias, scale_a, scale_b, scale_out)
        if (groups is None) != (self._form is None):
            raise refused("TW0484", "groups", "not given" if groups is None else "given",
                          f"the {self._form} of the groups" if self._form else "not given: the "
                          "plan has no groups")
        if groups is not None:
            words = own.words
            with_groups(call, self._form, groups, words[8], words[9], words[10], status, row_weight,
                        group_alpha, gather, scatter)
        result = call.result(out, self._out_dtype if out is None else None, None, stream)
        call.kind.run(call, stream, workspace, self._made)
        if short and out is None and own.scale_word is None:
            self._prototype = call.kind.prototype(result)
        return result

    def __repr__(self):
        return f"<Plan {self.kernel}, {self.us:.2f} us on {self.record['device_name']}>"

    def _repr_html_(self):
        import html
        r = self.record
        rows = [("kernel", self.kernel), ("device", r["device_name"]),
                ("predicted time", f"{self.us:.2f} us"),
                ("problem", f"{r['m']} x {r['n']} x {r['k']}, {r['layout']}"), ("why", self.why)]
        rows += [("hint", hint) for hint in self.hints]
        rows += [(f"term: {name}", f"{value:.2f} us") for name, value in self.terms.items()
                 if name not in ("waves", "shared_memory") and value]
        return "<table>" + "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(str(b))}</td>"
                                   "</tr>" for a, b in rows) + "</table>"


def plan(a, b, *, device=None, out=None, out_dtype=None, c=None, alpha=1.0, beta=None, bias=None,
         activation=None, gate=None, scale_a=None, scale_b=None, scale_a_as=None, scale_b_as=None,
         scale_out=None, promote=128, invariant=False, ends=None, starts=None, sizes=None,
         rows=None, counts=None, axis=None, expected_size=0, row_weight=None, group_alpha=None,
         gather=None, choices=1, scatter=None, text=None):
    """Chooses a kernel without running it.

    Args:
        a, b, and the other tensors: arrays, `spec()`s, or anything with shape and dtype: no data is
            read. Tensors without data count as aligned to 256 bytes.
        device: the GPU that the plan is for, "h200", "b200" ... The default is the GPU of the
            arrays. For arrays in host memory and specs the default is "h200", and "b200" for
            block-scaled operands.
        ends, starts, sizes, rows, counts and the arguments after them: the arguments of
            grouped_gemm(), for a GEMM of groups. A plan does not read the sizes; it is made for
            groups of `expected_size`.
        text: `Plan.text` of an earlier plan, whose kernel and schedule this one takes. A text of
            another problem or device is refused (TW0499).
        The other arguments are those of gemm().

        p = tw.plan(x, w1.mT, ends=ends); h = p(x, w1.mT, ends)

    Returns:
        Plan.
    """
    a, b, c, bias = _as_spec(a, "a"), _as_spec(b, "b"), _as_spec(c, "c"), _as_spec(bias, "bias")
    if device is None and place_of(a.data if isinstance(a, Scaled) else a)[0] == 1:
        device = "b200" if isinstance(a, Scaled) and a.block_format else "h200"
    call = Call(a, b, c, bias, _as_spec(scale_a), _as_spec(scale_b), scale_a_as, scale_b_as,
                _as_spec(scale_out), alpha, beta, activation, gate, promote, invariant, device)
    form = None
    if any(x is not None for x in (ends, starts, sizes, rows, counts)):
        form, numbers = form_of(ends, starts, sizes, rows, counts)
        with_groups(call, form, numbers, axis, expected_size, choices, None, row_weight,
                    group_alpha, gather, scatter, _as_spec)
    else:
        for name, x in (("row_weight", row_weight), ("group_alpha", group_alpha),
                        ("gather", gather), ("scatter", scatter)):
            if x is not None:
                raise refused("TW0484", name, "given", "not given without groups")
    call.result(_as_spec(out), out_dtype, SpecKind)
    made = _tw.Plan(tuple(call.tensors), call.words, call.numbers_on(), text)
    return Plan(made, call, out_dtype, form)
