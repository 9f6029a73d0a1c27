# SPDX-License-Identifier: Apache-2.0
"""plans_test.py  The plans of some problems are the accepted ones: tests/golden/plans.json.

A change of the model, of the tile shapes or of the table of winners shows here, and nowhere else by
itself: review the difference, then accept it.

    python3 tests/golden/plans_test.py --accept     runs build/bin/tilewright, or TW_COMMAND
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests/golden/plans.json"
COMMAND = os.environ.get("TW_COMMAND", str(ROOT / "build/bin/tilewright"))


def plan_of(options):
    # Without the tuning results of this machine.
    done = subprocess.run([COMMAND, "plan", *options.split(), "--device", "h200", "--json",
                           "--top", "3", "--all-kernels"],
                          env={**os.environ, "TILEWRIGHT_TUNE": "off"},
                          capture_output=True, text=True, check=True)
    record = json.loads(done.stdout)
    return {"plan": options, "because": record["because"], "plans": [
        f'{p["kernel"]}{" transposed" if p["swapped"] else ""}, {p["clusters"]} clusters, '
        f'{p["shared_tiles"]} tiles shared by {p["sharers"]}: '
        f'{p["predicted"]["us"]:.1f} us' for p in record["plans"]]}


def main():
    accepted = json.loads(GOLDEN.read_text(encoding="utf-8"))
    found = [plan_of(entry["plan"]) for entry in accepted]
    if sys.argv[1:] == ["--accept"]:
        GOLDEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return 0
    different = 0
    for was, now in zip(accepted, found):
        if was != now:
            different += 1
            print(f"plan {was['plan']}:\n  accepted {was}\n  found    {now}")
    if different:
        print(f"{different} of {len(found)} plans differ; if that is meant: "
              "python3 tests/golden/plans_test.py --accept")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
