# SPDX-License-Identifier: Apache-2.0
"""page_case.py  A test that drives pages of the playground in headless Chromium."""
import contextlib
import json
import os
import pathlib
import sys
import time
import unittest

ROOT = pathlib.Path(os.environ["TW_SOURCE_DIR"])
SITE = pathlib.Path(os.environ.get("TW_PLAYGROUND", ROOT / "build-playground"))
sys.path.insert(0, str(ROOT / "tests/browser"))
from devtools import Browser, PageLeft, find_chromium  # noqa: E402

PAGES = tuple(page for page in ("index.html", "plan.html", "race.html")
              if (SITE / page).exists())


class PageCase(unittest.TestCase):
    """One browser for all tests; a console error or a request fails a test."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(find_chromium(), timeout_s=300)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        self.browser.problems.clear()

    def tearDown(self):
        # A worker's code is a blob that the page has made: the only "request" there may be.
        self.assertEqual([p for p in self.browser.problems
                          if not p.startswith("request of blob:null/")], [])

    def open(self, page, fragment="", **how):
        # Another address first: a new fragment alone would not load the page again.
        self.browser.send("Page.navigate", url="about:blank")
        address = f"{SITE / page}" + (f"#{fragment}" if fragment else "")
        self.browser.open(address, **how)
        self.wait("document.body.dataset.drawn")

    def wait(self, expression, limit_s=120):
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            # While another page is loaded, the answer of the page before it is lost.
            with contextlib.suppress(PageLeft):
                if value := self.browser.run(expression):
                    return value
            time.sleep(0.05)
        self.fail(f"not in {limit_s} s: {expression}; the page says "
                  f"{self.browser.run('document.body.innerText')[:600]}")

    def count(self, selector):
        return self.browser.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    def type(self, text):
        """Replaces the expression as a person does: selected, then typed."""
        self.browser.run("byId('expression').focus(); byId('expression').select()")
        for letter in text:
            self.browser.send("Input.insertText", text=letter)

    def drawn(self, title):
        self.wait(f"document.querySelector('#first h2')?.textContent === {json.dumps(title)}")

    def click(self, selector):
        """Clicks in the middle of the element, in sight."""
        self.browser.mouse(*self.browser.run(f"""(() => {{
          const element = document.querySelector({json.dumps(selector)});
          element.scrollIntoView({{block: 'center'}});
          const r = element.getBoundingClientRect();
          return [r.x + r.width / 2, r.y + r.height / 2];
        }})()"""), click=True)


def main():
    """Runs the tests; exit status 77 without Chromium or without the pages (./dev playground)."""
    if find_chromium() is None or not (SITE / "index.html").exists():
        print(f"skipped: no Chromium, or no pages in {SITE} (./dev playground)")
        sys.exit(77)
    unittest.main()
