#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures_test.py  Pages of pictures in headless Chromium: no message on the console, no request,
hovering a thread marks exactly its cells, hovering a cell marks its owners, keys and taps work.

The cells that must be marked are computed here, from the shapes and strides of the layouts.
Exit status 77 without Chromium (Debian: apt-get install chromium).
"""
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from devtools import Browser, find_chromium  # noqa: E402

MARKS = """[...document.querySelectorAll('#paper .mark:not(.cursor)')].map(
    r => [+r.dataset.panel, +r.dataset.row, +r.dataset.column])"""
CENTRE = """(([i, row, column]) => {
  const p = JSON.parse(document.getElementById('data').textContent).panels[i];
  const svg = document.querySelector('#paper svg');
  const at = () => new DOMPoint(p.x + (column + 0.5) * p.w, p.y + (row + 0.5) * p.h)
    .matrixTransform(svg.getScreenCTM());
  scrollBy(0, at().y - innerHeight / 3);
  document.getElementById('paper').scrollLeft += at().x - innerWidth / 2;
  return [at().x, at().y];
})(%s)"""


def offset(index, leaves):
    """A layout's offset: leaves (extent, stride), the first one fastest."""
    total = 0
    for extent, stride in leaves:
        total += index % extent * stride
        index //= extent
    return total


def page(folder, name, *arguments):
    path = os.path.join(folder, name + ".html")
    subprocess.run([os.environ["TW_COMMAND"], "layout", *arguments, "--print", "html", "-o", path],
                   check=True)
    return path


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tilewright-pictures-")
        cls.browser = Browser(find_chromium())

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def tearDown(self):
        self.assertEqual(self.browser.problems, [])
        self.browser.problems.clear()

    def open(self, name, *arguments, **how):
        path = page(self.folder.name, name, *arguments)
        return self.browser.open(path, **how)

    def marks(self):
        found = [tuple(m) for m in self.browser.run(MARKS)]
        self.assertEqual(len(found), len(set(found)), "a cell is marked twice")
        return set(found)

    def hover_cell(self, *cell, click=False):
        self.browser.mouse(*self.browser.run(CENTRE % list(cell)), click=click)

    def hover_thread(self, thread, click=False):
        x, y = self.browser.run(f"""(b => {{ b.scrollIntoView({{block: 'center'}});
            const r = b.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})
            (document.querySelector('[data-owner="{thread}"]'))""")
        self.browser.mouse(x, y, click=click)

    def text(self):
        return self.browser.run("document.getElementById('info').textContent")

    # The accumulator of mma.sync m16n8: (thread, value) -> place in a column-major 16 x 8 tile.
    TV = "((4,8),(2,2)):((32,1),(16,8))"
    TV_LEAVES = [(4, 32), (8, 1), (2, 16), (2, 8)]

    def cells_of_thread(self, thread):
        """In the tile (panel 0), and its row of the thread table (panel 1)."""
        at = [offset(thread + 32 * v, self.TV_LEAVES) for v in range(4)]
        return {(0, i % 16, i // 16) for i in at} | {(1, thread, v) for v in range(4)}

    def test_threads_and_owners(self):
        self.open("tv", self.TV, "--tv", "(16,8)")
        for thread in range(32):
            self.hover_thread(thread)
            self.assertEqual(self.marks(), self.cells_of_thread(thread))
        self.assertIn("thread 31", self.text())
        for thread, value in ((0, 0), (5, 2), (18, 1), (31, 3)):
            i = offset(thread + 32 * value, self.TV_LEAVES)
            self.hover_cell(0, i % 16, i // 16)
            self.assertEqual(self.marks(), self.cells_of_thread(thread))
            on = self.browser.run("[...document.querySelectorAll('#owners .on')]"
                                  ".map(b => +b.dataset.owner)")
            self.assertEqual(on, [thread])
            self.assertIn(f"({i % 16},{i // 16}): T{thread} V{value}", self.text())
            self.hover_cell(1, thread, value)
            self.assertEqual(self.marks(), self.cells_of_thread(thread))
        self.browser.mouse(2, 2)
        self.assertEqual(self.marks(), set())

    def test_cells_with_several_owners(self):
        self.open("shared", "(4,2):(0,1)", "--tv", "(2,2)")  # four threads hold both values
        self.hover_cell(0, 0, 0)
        everything = {(0, 0, 0), (0, 1, 0)} | {(1, t, v) for t in range(4) for v in range(2)}
        self.assertEqual(self.marks(), everything)
        self.hover_cell(0, 1, 1)  # no thread's cell
        self.assertEqual(self.marks(), set())

    def test_pins_keys_and_taps(self):
        self.open("keys", self.TV, "--tv", "(16,8)", width=420, height=800)
        self.hover_thread(7, click=True)
        self.browser.mouse(2, 2)
        self.assertEqual(self.marks(), self.cells_of_thread(7), "a click pins")
        self.browser.key("Escape")
        self.assertEqual(self.marks(), set(), "Escape lets go")
        self.browser.run("document.querySelector('#paper svg').focus({preventScroll: true})")
        for name in ("ArrowDown", "ArrowDown", "ArrowRight"):  # the first key shows cell (0,0)
            self.browser.key(name)
        self.assertEqual(self.marks(), self.cells_of_thread(4))
        self.assertIn("(1,1): T4 V1", self.text())
        self.browser.key("Enter")
        self.browser.run("document.activeElement.blur()")
        self.assertEqual(self.marks(), self.cells_of_thread(4))
        self.browser.key("Escape")
        x, y = self.browser.run(CENTRE % [0, 3, 2])
        self.browser.send("Emulation.setTouchEmulationEnabled", enabled=True)
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            self.browser.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self.browser.run("new Promise(done => setTimeout(done, 100))")
        self.browser.send("Emulation.setTouchEmulationEnabled", enabled=False)
        self.assertEqual(self.marks(), self.cells_of_thread(13), "a tap pins")
        wide = self.browser.run("document.documentElement.scrollWidth")
        self.assertLessEqual(wide, 420, "the page is wider than a phone")

    def test_a_thread_of_an_mma(self):
        self.open("mma", "mma.sm80.m16n8k16.f32.f16.f16")
        a = [(4, 32), (8, 1), (2, 16), (2, 8), (2, 128)]  # PTX ISA, "mma.m16n8k16": A, B, C
        b = [(4, 16), (8, 1), (2, 8), (2, 64)]
        for thread in (0, 6, 31):
            self.hover_thread(thread)
            in_a = [offset(thread + 32 * v, a) for v in range(8)]
            in_b = [offset(thread + 32 * v, b) for v in range(4)]
            in_c = [offset(thread + 32 * v, self.TV_LEAVES) for v in range(4)]
            self.assertEqual(self.marks(), {(0, i // 8, i % 8) for i in in_b} |
                             {(1, i % 16, i // 16) for i in in_a} |
                             {(2, i % 16, i // 16) for i in in_c})

    def test_fields_of_a_descriptor(self):
        self.open("fields", "tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (64,64))",
                  "--descriptor", "wgmma")
        self.hover_cell(1, 2, 0)  # the stride: bits 32 to 45, in the second row
        self.assertEqual(self.marks(), {(1, 2, 0)} | {(0, 1, c) for c in range(2, 16)})

    def test_tiles_of_a_divide(self):
        self.open("divide", "zipped_divide((4,8):(8,1), (2,4))", "--steps", dark=True)
        data = self.browser.run("JSON.parse(document.getElementById('data').textContent)")
        last = len(data["panels"]) - 1
        self.hover_thread(2)  # rows 0 and 1, columns 4 to 7; column 2 of the zipped divide
        marks = self.marks()
        self.assertEqual({m for m in marks if m[0] == 0},
                         {(0, r, c) for r in (0, 1) for c in range(4, 8)})
        self.assertEqual({m for m in marks if m[0] == last}, {(last, r, 2) for r in range(8)})

    def test_128x256(self):
        took = self.open("large", "tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (128,256))",
                         width=1700, height=1000)
        self.assertLess(took, 5)
        for row, column in ((0, 0), (77, 130), (127, 255)):
            plain = offset(row, [(8, 64), (16, 512)]) + offset(column, [(64, 1), (4, 8192)])
            swizzled = plain ^ (plain >> 3 & 0b111000)
            self.hover_cell(0, row, column)
            self.assertEqual(self.marks(), {(0, row, column)})
            self.assertIn(f"({row},{column}) → {swizzled}", self.text())
        for _ in range(9):  # enlarged, the cells on screen show their texts
            self.browser.run("document.querySelector('[data-zoom=\"1.25\"]').click()")
        self.browser.run("scrollTo(0, 0); document.getElementById('paper').scrollLeft = 0")
        self.browser.run("new Promise(done => setTimeout(done, 300))")
        shown = self.browser.run(
            "[...document.querySelectorAll('#paper svg > g:last-of-type text')]"
            ".map(t => t.textContent)")
        self.assertIn("65", shown)
        self.assertLess(len(shown), 8000)

    def test_broadcast(self):
        self.open("broadcast", "(4,8):(0,1)")
        self.hover_cell(0, 1, 5)
        self.assertEqual(self.marks(), {(0, r, 5) for r in range(4)})

    def test_svg_alone(self):
        path = os.path.join(self.folder.name, "a.svg")
        subprocess.run([os.environ["TW_COMMAND"], "layout", "Sw<1,0,1> o 0 o (2,4):(4,1)",
                        "--print", "svg", "-o", path], check=True)
        self.browser.open(path)
        hints = self.browser.run("[...document.querySelectorAll('path title')]"
                                 ".map(t => t.textContent)")
        self.assertEqual(hints[6], "(1,2) → 7")
        self.assertEqual(len(hints), 8)


if __name__ == "__main__":
    if find_chromium() is None:
        print("Chromium is not installed")
        sys.exit(77)
    start = time.monotonic()
    done = unittest.main(exit=False)
    print(f"{time.monotonic() - start:.1f} s")
    sys.exit(not done.result.wasSuccessful())
