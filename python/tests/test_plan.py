# SPDX-License-Identifier: Apache-2.0
"""test_plan.py  Plans with and without data, the table of a model."""
import json

import numpy as np
import pytest

import tilewright as tw
from helpers import TYPES, check, f64, values


def test_a_plan_without_data():
    p = tw.plan(tw.spec((4096, 4096), "bf16"), tw.spec((14336, 4096), "bf16").T, device="h200")
    assert p.kernel.startswith("sm90_") and 300 < p.us < 1000 and p.device == "h200"
    assert sum(p.terms.values()) > 0 and "runner" not in p.why and isinstance(p.hints, list)
    assert p.kernel in repr(p) and "<table>" in p._repr_html_()
    all_plans = p.candidates()
    assert len(all_plans) > 3 and all_plans[0]["kernel"] == p.kernel
    assert [x["kernel"] for x in p.candidates(2)] == [x["kernel"] for x in all_plans[:2]]
    assert p.record["schema"] == "tilewright.plan/1"


def test_a_copy_of_the_plan_is_a_hint():
    """Nothing is copied in silence: rows of 254 bytes, which TMA cannot address."""
    odd = tw.plan(tw.spec((64, 127), "bf16"), tw.spec((64, 127), "bf16").T, device="h200")
    assert any("copied" in hint and hint.startswith("A:") for hint in odd.hints), odd.hints
    assert odd.workspace_bytes > 0
    even = tw.plan(tw.spec((64, 128), "bf16"), tw.spec((64, 128), "bf16").T, device="h200")
    assert not any("copied" in hint for hint in even.hints) and even.workspace_bytes == 0


@pytest.mark.parametrize("device", [d["id"] for d in tw.devices()["devices"]])
def test_every_device(device):
    p = tw.plan(tw.spec((64, 4096), "bf16"), tw.spec((4096, 4096), "bf16").T, device=device)
    assert p.us > 0


@pytest.mark.parametrize("form", ["e4m3:row", "e4m3:1x128", "nvfp4", "mxfp8", "int8:row"])
def test_formats(form):
    weights = "e4m3:128x128" if form == "e4m3:1x128" else form
    p = tw.plan(tw.spec((256, 1024), form), tw.spec((512, 1024), weights).T)
    assert p.us > 0 and p.device == ("b200" if form in ("nvfp4", "mxfp8") else "h200")
    assert p.record["sms"] > 100, "the whole device"


def test_options_reach_the_planner():
    a, b = tw.spec((256, 1024), "e4m3"), tw.spec((512, 1024), "e4m3").T
    for promote in (128, 64, 0, np.int64(0)):
        assert tw.plan(a, b, promote=promote).record["sums"]["promote_k"] == promote
    for invariant in (False, True):
        assert tw.plan(a, b, invariant=invariant).record["reproducible"] is invariant
    p = tw.plan(a, b, alpha=0.5, activation="silu")
    assert p.record["epilogue"] and p.us == pytest.approx(
        2e-6 * 256 * 512 * 1024 / p.record["chosen"]["predicted"]["tflops"])


def test_other_specs():
    class Abstract:
        shape, dtype = (128, 256), "float16"

    p = tw.plan(Abstract(), tw.spec((256, 64), np.float16))
    assert "f16" in p.kernel


@pytest.mark.parametrize("options", [{}, {"activation": "gelu"}, {"alpha": 0.5},
                                     {"out_dtype": "f32"}], ids=str)
def test_a_plan_runs(options):
    rng = np.random.default_rng(1)
    a, w = values(rng, (48, 128), "bfloat16"), values(rng, (64, 128), "bfloat16")
    p = tw.plan(a, w.T, **options)
    d = p(a, w.T)
    assert (d == tw.gemm(a, w.T, **options)).all()
    out = np.empty_like(d)
    assert p(a, w.T, out=out) is out and (out == d).all()


def test_a_plan_of_specs_runs_on_arrays():
    rng = np.random.default_rng(2)
    a, w = values(rng, (48, 128), "bfloat16"), values(rng, (64, 128), "bfloat16")
    p = tw.plan(tw.spec(a.shape, a.dtype), tw.spec(w.shape, w.dtype).T)
    check(p(a, w.T), f64(a), f64(w).T)


def test_a_plan_with_bias_and_c():
    rng = np.random.default_rng(3)
    a, b = values(rng, (48, 128), "bfloat16"), values(rng, (64, 128), "bfloat16").T
    bias, c = values(rng, (64,), "bfloat16"), values(rng, (48, 64), "bfloat16")
    p = tw.plan(a, b, bias=bias, c=c)
    check(p(a, b, bias=bias, c=c), f64(a), f64(b), plus=f64(bias) + f64(c))


@pytest.mark.parametrize("form", ["nvfp4", "e4m3:row", "e4m3:1x128"])
def test_a_plan_of_scaled(form):
    rng = np.random.default_rng(4)
    x, w = values(rng, (64, 256), "bfloat16"), values(rng, (128, 256), "bfloat16")
    qx = tw.quantize(x, form)
    qw = tw.quantize(w, "e4m3:128x128" if form == "e4m3:1x128" else form)
    p = tw.plan(qx, qw.T)
    assert (p(qx, qw.T) == tw.gemm(qx, qw.T)).all()


def test_a_text_makes_the_plan_again():
    rng = np.random.default_rng(5)
    a, w = values(rng, (48, 128), "bfloat16"), values(rng, (64, 128), "bfloat16")
    first = tw.plan(a, w.T)
    assert tw.plan(a, w.T, text=first.text).text == first.text
    edited = json.loads(first.text)
    edited["schedule"]["clusters"] -= 1  # not what plan() chooses
    p = tw.plan(a, w.T, text=json.dumps(edited))
    assert p.kernel == first.kernel and json.loads(p.text) == edited
    check(p(a, w.T), f64(a), f64(w).T)
    for text, code in (("no plan", "TW0498"), (tw.plan(a[:16], w.T).text, "TW0499")):
        with pytest.raises(tw.RefusedError) as caught:
            tw.plan(a, w.T, text=text)
        assert caught.value.code == code


def test_other_tensors_are_refused():
    a, b = np.ones((4, 8), TYPES["bfloat16"]), np.ones((8, 16), TYPES["bfloat16"])
    p = tw.plan(a, b)
    for x, y in ((a[:3], b), (a, b.T.copy().T), (a.astype(np.float16), b.astype(np.float16))):
        with pytest.raises(tw.RefusedError) as caught:
            p(x, y)
        assert caught.value.code == "TW0488", caught.value


CONFIG = {"hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
          "num_key_value_heads": 8, "num_hidden_layers": 32}


def test_the_plan_of_a_model(tmp_path):
    model = tw.plan_model(CONFIG, tokens=(1, 64), formats=("bf16", "e4m3:1x128"))
    assert len(model.rows) == 4 * 2 * 2
    names = {row.gemm for row in model.rows}
    assert names == {"qkv", "o", "gate_up", "down"}
    for row in model.rows:
        assert row.us > 0 and row.kernel
    assert model.us(tokens=64, format="bf16") > model.us(tokens=1, format="bf16") * 0.5
    assert "gate_up" in str(model) and "<table>" in model._repr_html_()
    for row in model.rows:
        assert row.plan.kernel == row.kernel and row.plan.us == pytest.approx(row.us)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    again = tw.plan_model(str(path), tokens=(1, 64), formats=("bf16", "e4m3:1x128"))
    assert [r.us for r in again.rows] == [r.us for r in model.rows]


def test_formats_that_a_device_lacks():
    model = tw.plan_model(CONFIG, tokens=(64,))
    assert {row.format for row in model.rows} == {"bf16", "e4m3:1x128"}
    assert list(model.left_out) == ["nvfp4"] and "TW0471" in model.left_out["nvfp4"]
    assert "left out: nvfp4: TW0471" in str(model) and "left out: nvfp4" in model._repr_html_()
    model = tw.plan_model(CONFIG, tokens=(64,), device="b200", formats=("nvfp4",))
    assert len(model.rows) == 4 and not model.left_out


def test_a_model_on_several_gpus():
    one = tw.plan_model(CONFIG, tokens=(64,), formats=("bf16",))
    four = tw.plan_model(CONFIG, tokens=(64,), formats=("bf16",), tp=4)
    assert four.us(tokens=64, format="bf16") < one.us(tokens=64, format="bf16")
    with pytest.raises(tw.RefusedError, match="tp"):
        tw.plan_model(CONFIG, tp=3)
    with pytest.raises(tw.RefusedError, match="hidden_size"):
        tw.plan_model({})
