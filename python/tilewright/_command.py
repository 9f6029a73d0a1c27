# SPDX-License-Identifier: Apache-2.0
"""_command.py  The console script `tilewright`: the verbs that need no files."""
import argparse
import json
import sys

import tilewright as tw
from tilewright import _tw


def _layout(given):
    if given.svg:
        print(_tw.layout_svg(given.expression))
    elif given.json:
        print(_tw.layout_json(given.expression))
    else:
        value = tw.layouts.evaluate(given.expression)
        print(int(value) if isinstance(value, bool) else value)


def _plan(given):
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
    parser = argparse.ArgumentParser(prog="tilewright", description=tw.__doc__.split("\n")[0])
    parser.add_argument("--version", action="version", version=tw.__version__)
    verbs = parser.add_subparsers(dest="verb", required=True)

    verb = verbs.add_parser("layout", help="evaluate or draw an expression of the layout algebra")
    verb.add_argument("expression")
    verb.add_argument("--json", action="store_true")
    verb.add_argument("--svg", action="store_true")
    verb.set_defaults(run=_layout)

    verb = verbs.add_parser("plan", help="the kernel for a GEMM and its predicted time")
    for extent in ("m", "n", "k"):
        verb.add_argument(extent, type=int)
    verb.add_argument("--format", default="bf16", help="bf16, e4m3:1x128, nvfp4 ...")
    verb.add_argument("--out-dtype")
    verb.add_argument("--device")
    verb.add_argument("--json", action="store_true")
    verb.set_defaults(run=_plan)

    verb = verbs.add_parser("explain", help="the page of an error code")
    verb.add_argument("code")
    verb.set_defaults(run=_explain)

    verb = verbs.add_parser("info", help="the version and the devices")
    verb.add_argument("--json", action="store_true")
    verb.set_defaults(run=_info)

    verb = verbs.add_parser("check", help="run a plugin's kernels in the emulator")
    verb.add_argument("plugin")
    verb.add_argument("--seeds", type=int, default=1)
    verb.add_argument("--reports", type=int, default=3)
    verb.set_defaults(run=_check)
    return parser


def main(arguments=None):
    """Returns the exit status: 0, 1 findings, 2 refused."""
    given = _parser().parse_args(arguments)
    try:
        return given.run(given) or 0
    except tw.TilewrightError as why:
        print(f"tilewright: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
