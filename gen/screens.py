#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""screens.py  docs/pictures/playground_*.png anew, of the pages in build-playground/ (./dev
playground), in headless Chromium. No text of them is below 9 pixels on a page of 720.
"""
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/browser"))
from devtools import Browser, find_chromium  # noqa: E402
from pictures import LEAST_PIXELS, PAGE_PIXELS  # noqa: E402

PIXELS = 1.5  # of the file, for a pixel of the page of 720
# Name: page and fragment, width and height of the window, an action, when it is ready.
SCREENS = {
    "layouts": ("index.html#e=Sw<3,0,3> o 0 o (8,8):(8,1)&view=steps", 720, 1070, "0",
                "document.body.dataset.drawn"),
    "race": ("race.html#kernel=ladder/06_persistent&fault=no-wgmma-fence", 990, 800,
             "byId('run').click()", "document.body.dataset.ran"),
    "plan": ("plan.html", 900, 790, "0",
             "document.querySelectorAll('#roofline svg').length && "
             "byId('plan-chosen').textContent.includes('TFLOP/s')"),
}
# Of the texts in sight.
LEAST_FONT = """Math.min(
  ...[...document.querySelectorAll('body *')].filter(e => e.getClientRects().length &&
      e.getBoundingClientRect().top < innerHeight &&
      [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .map(e => parseFloat(getComputedStyle(e).fontSize)),
  ...(byId('first')?.picture.sheet.drawing.items ?? []).filter(i => i.text)
    .map(i => i.group.font))"""


def take(browser, page, width, height, action, ready, path):
    """Writes the picture; throws RuntimeError if a text of it is too small."""
    browser.open(ROOT / "build-playground" / page, width=width, height=height)
    scale = PIXELS * PAGE_PIXELS / width
    browser.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=scale, mobile=False)
    until = time.monotonic() + 300
    for script, awaited in (("0", "document.body.dataset.drawn"), (action, ready)):
        browser.run(script + "; 0")
        while not browser.run(f"Boolean({awaited})"):
            if time.monotonic() > until:
                raise RuntimeError(f"{page}: not in 300 s: {awaited}")
            time.sleep(0.05)
    time.sleep(1)  # the rest of the canvases is drawn
    least = browser.run(LEAST_FONT) * PAGE_PIXELS / width
    if least < LEAST_PIXELS:
        raise RuntimeError(f"{page}: text of {least:.1f} pixels on a page of {PAGE_PIXELS}")
    browser.screenshot(path)
    print(f"{path.relative_to(ROOT)}: text of {least:.1f} pixels and more")


def main():
    with Browser(find_chromium(), timeout_s=300) as browser:
        for name, (page, width, height, action, ready) in SCREENS.items():
            path = ROOT / f"docs/pictures/playground_{name}.png"
            take(browser, page, width, height, action, ready, path)


if __name__ == "__main__":
    main()
