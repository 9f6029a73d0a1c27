# SPDX-License-Identifier: Apache-2.0
"""_command.py  The console script `tilewright`: the verbs that the C library has."""
import argparse
import json
import sys

import tilewright as tw
from tilewright import _tw
from tilewright._errors import refused

# Verbs of the command that `./dev build` makes, which is not in this package, and what to use here.
_BUILT = {"gemm": "tilewright.gemm() multiplies arrays", "quantize": "use tilewright.quantize()",
          "prepare": "use tilewright.prepare()"}
_BUILT.update(dict.fromkeys(("banks", "bench", "completion", "ladder", "man", "occupancy",
                             "playground", "profile", "roofline", "selftest", "stages", "tune"),
                            ""))


def _layout(given):
    if given.svg:
        print(_tw.layout_svg(given.expression))
    elif given.json:
        print(_tw.layout_json(given.expression))
    else:
        value = tw.layouts.evaluate(given.expression)
        print(int(value) if isinstance(value, bool) else value)


def _plan(given):
    if given.model:
        made = tw.plan_model(given.model, tokens=[int(x) for x in given.tokens.split(",")],
                             device=given.device or "h200", tp=given.tp)
        print(json.dumps([row._asdict() for row in made.rows]) if given.json else made)
        return
    weights = given.format.replace(":1x128", ":128x128")
    p = tw.plan(tw.spec((given.m, given.k), given.format),
                tw.spec((given.n, given.k), weights).T, device=given.device,
                out_dtype=given.out_dtype)
    if given.json:
        print(json.dumps(p.record))
        return
    print(f"{p.kernel}\n{p.us:.2f} us predicted on {p.record['device_name']}\n{p.why}")
    for hint in p.hints:
        print(f"hint: {hint}")


def _explain(given):
    print(tw.explain(given.code))


def _info(given):
    found = tw.devices()
    if given.json:
        print(json.dumps(found))
        return
    print(f"tilewright {tw.__version__}")
    for device in found["devices"]:
        print(f"{device['id']:12} {device['name']}")


def _check(given):
    reports = [run() for run in tw.emu.load(given.plugin).runs(seeds=given.seeds)]
    bad = [report for report in reports if not report]
    for report in bad[:given.reports]:
        print(report)
    print(f"{len(reports)} runs, {len(bad)} with findings")
    return 1 if bad else 0


def _parser():
    parser = argparse.ArgumentParser(
        prog="tilewright", description=tw.__doc__.split("\n")[0],
        epilog=f"The command that `./dev build` makes also has {', '.join(sorted(_BUILT))}.")
    parser.add_argument("--version", action="version", version=tw.__version__)
    verbs = parser.add_subparsers(dest="verb", required=True)

    verb = verbs.add_parser("layout", help="evaluate or draw an expression of the layout algebra")
    verb.add_argument("expression", help="such as 'zipped_divide((4,8):(8,1), (2,4))'")
    verb.add_argument("--json", action="store_true")
    verb.add_argument("--svg", action="store_true")
    verb.set_defaults(run=_layout)

    verb = verbs.add_parser("plan", help="the kernel for a GEMM and its predicted time")
    for extent, what in (("m", "rows of A and D"), ("n", "columns of D, rows of the weights"),
                         ("k", "columns of A and of the weights")):
        verb.add_argument(extent, type=int, nargs="?", help=what)
    verb.add_argument("--model", help="instead of m, n, k: config.json of a transformer")
    verb.add_argument("--tokens", default="1,64,4096", help="of --model, numbers of tokens")
    verb.add_argument("--tp", type=int, default=1, help="of --model, GPUs that share a layer")
    verb.add_argument("--format", default="bf16", help="bf16, e4m3:1x128, nvfp4 ...")
    verb.add_argument("--out-dtype", help="the type of D; bfloat16 of 8-bit floats")
    verb.add_argument("--device", help="h200, b200 ...; `tilewright info` lists them")
    verb.add_argument("--json", action="store_true")
    verb.set_defaults(run=_plan)

    verb = verbs.add_parser("explain", help="the page of an error code")
    verb.add_argument("code", help="TW0451, E0024 ...")
    verb.set_defaults(run=_explain)

    verb = verbs.add_parser("info", help="the version and the devices")
    verb.add_argument("--json", action="store_true")
    verb.set_defaults(run=_info)

    verb = verbs.add_parser("check", help="run a plugin's kernels in the emulator")
    verb.add_argument("plugin", help="a library of tilewright.emu.build()")
    verb.add_argument("--seeds", type=int, default=1, help="orders of the threads for each run")
    verb.add_argument("--reports", type=int, default=3, help="reports that are printed at most")
    verb.set_defaults(run=_check)
    return parser


def main(arguments=None):
    """Returns the exit status: 0, 1 findings, 2 refused."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    try:
        if words and words[0] in _BUILT:
            made = "`./dev build` in the sources makes the command that has it"
            raise refused("TW0615", "verb", words[0], "layout, plan, explain, info or check",
                          "; ".join(x for x in (_BUILT[words[0]], made) if x))
        given = parser.parse_args(["--help"] if words[:1] == ["help"] else words)
        if given.verb == "plan" and not given.model and given.k is None:
            parser.error("plan: m, n and k, or --model FILE")
        return given.run(given) or 0
    except OSError as why:
        print(f"tilewright: {why}", file=sys.stderr)
        return 2
    except tw.TilewrightError as why:
        print(f"tilewright: {why}", file=sys.stderr)
        return 2
