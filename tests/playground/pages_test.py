#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages_test.py  The playground in headless Chromium, opened from its files: type, hover, share,
undo, switch pages, run and stop a kernel, wrong input, 320 pixels, dark mode, and no request.

Exit status 77 without Chromium or without the pages (./dev playground builds them).
"""
import importlib.util
import json
import os
import pathlib
import random
import re
import time
import unittest

from page_case import PAGES, SITE, PageCase, main

FULL = os.environ.get("TW_EFFORT") == "full"  # ./dev test --full
# The middle of the cell whose text is the given one.
CELL = """(() => {
  const picture = byId('first').picture, p = picture.parts.data.panels[0];
  const at = p.texts.indexOf('%s'), columns = p.columns;
  const x = p.x + (at %% columns + 0.5) * p.w, y = p.y + (Math.floor(at / columns) + 0.5) * p.h;
  const place = new DOMPoint(x, y).matrixTransform(picture.svg.getScreenCTM());
  return [place.x, place.y];
})()"""
# Of each cell in sight: [its text, the number of other pixels than the fill in its middle, the fill
# at its corner, the colour that the class of its offset has].
DRAWN_CELLS = """(() => {
  const picture = byId('first').picture, p = picture.parts.data.panels[0], cells = [];
  for (const [canvas, [left, top]] of picture.sheet.tiles) {
    if (canvas.width === 0) continue;
    const copy = element('canvas', {width: canvas.width, height: canvas.height});
    const to = copy.getContext('2d', {willReadFrequently: true});
    to.drawImage(canvas, 0, 0);
    const all = to.getImageData(0, 0, copy.width, copy.height).data;
    for (let at = 0; at < p.texts.length; ++at) {
      const x = p.x + at % p.columns * p.w - left, y = p.y + Math.floor(at / p.columns) * p.h - top;
      if (x < 0 || y < 0 || x + p.w > copy.width || y + p.h > copy.height) continue;
      const pixel = (column, row) => {
        const i = 4 * (Math.floor(y + row) * copy.width + Math.floor(x + column));
        return all.slice(i, i + 3).join();
      };
      const fill = pixel(2, 2);
      let others = 0;
      for (let row = 4; row < p.h - 4; ++row)
        for (let column = 4; column < p.w - 4; ++column)
          if (pixel(column, row) !== fill) ++others;
      const wanted = picture.sheet.style('path', `f c${Number(p.texts[at]) % 8}`).fill;
      cells.push([p.texts[at], others, fill, wanted.replace(/[^0-9,]/g, '')]);
    }
  }
  return JSON.stringify(cells);
})()"""


class Pages(PageCase):
    # ---- layouts ----

    def test_typing_draws(self):
        self.open("index.html")
        self.type("(2,3):(3,1)")
        self.drawn("(2,3):(3,1)")
        self.assertIn("(2,3):(3,1)", self.browser.run(
            "document.querySelector('#first .frame svg').getAttribute('aria-label')"))

    def test_hover_shows_coordinate_and_offset(self):
        self.open("index.html", "e=(4,8):(8,1)")
        x, y = self.browser.run(CELL % 10)
        self.browser.mouse(x, y)
        self.wait("byId('info').textContent === '(1,2) → 10'")
        self.assertEqual(self.browser.run("document.querySelectorAll('#first .cursor').length"), 1)

    def test_keys_move_over_the_picture(self):
        self.open("index.html", "e=(4,8):(8,1)")
        self.browser.run("document.querySelector('#first .frame svg').focus()")
        for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
            self.browser.key(key)
        self.wait("byId('info').textContent === '(1,1) → 9'")

    def test_a_link_shows_the_shared_picture(self):
        self.open("index.html")
        self.type("Sw<3,3,3> o 0 o (8,64):(64,1)")
        self.drawn("Sw<3,3,3> o 0 o (8,64):(64,1)")
        fragment = self.browser.run("location.hash").lstrip("#")
        drawn = "JSON.stringify([...document.querySelectorAll('#first canvas')].map(" \
                "c => c.toDataURL()))"
        time.sleep(0.3)  # the parts that are out of sight
        picture = self.browser.run(drawn)
        self.open("index.html", fragment)
        self.drawn("Sw<3,3,3> o 0 o (8,64):(64,1)")
        time.sleep(0.3)
        self.assertEqual(self.browser.run(drawn), picture)

    def test_cells_have_their_text_and_colour(self):
        for dark in (False, True):
            with self.subTest(dark=dark):
                self.open("index.html", "e=(4,8):(8,1)", dark=dark)
                time.sleep(0.3)
                cells = json.loads(self.browser.run(DRAWN_CELLS))
                self.assertEqual(len(cells), 32)
                for text, others, fill, wanted in cells:
                    self.assertGreater(others, 3, text)
                    self.assertEqual(fill, wanted, text)
                self.assertEqual(len({fill for _, _, fill, _ in cells}), 8)

    def test_a_picture_follows_the_colours_of_the_system(self):
        self.open("index.html", "e=(4,8):(8,1)")
        light = json.loads(self.browser.run(DRAWN_CELLS))[0][2]
        self.browser.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark"}])
        time.sleep(0.3)
        for _, _, fill, wanted in json.loads(self.browser.run(DRAWN_CELLS)):
            self.assertEqual(fill, wanted)
            self.assertNotEqual(fill, light)

    def test_a_large_picture_is_few_elements(self):
        """Cells are not elements: 4,096 texts take a browser half a second. A part that comes into
        sight is drawn."""
        self.open("index.html", "e=(64,64):(64,1)")
        self.assertLess(self.count("*"), 500)
        time.sleep(0.5)
        drawn = {int(text) for text, *_ in json.loads(self.browser.run(DRAWN_CELLS))}
        self.assertIn(0, drawn)
        self.assertNotIn(4095, drawn)
        self.browser.run("document.querySelector('#first .frame').scrollLeft = 1e6;"
                         "scrollTo(0, document.body.scrollHeight)")
        time.sleep(0.5)
        cells = {int(text): others for text, others, *_ in
                 json.loads(self.browser.run(DRAWN_CELLS))}
        self.assertGreater(cells[4095], 3)

    def test_pictures_of_one_size_are_redrawn_in_place(self):
        self.open("index.html", "e=(8,8):(8,1)")
        self.browser.run("globalThis.kept = document.querySelector('#first canvas')")
        self.type("(8,8):(1,8)")
        self.drawn("(8,8):(1,8)")
        self.assertTrue(self.browser.run("kept === document.querySelector('#first canvas')"))
        time.sleep(0.3)
        for text, _, fill, wanted in json.loads(self.browser.run(DRAWN_CELLS)):
            self.assertEqual(fill, wanted, text)

    def test_undo_and_redo(self):
        self.open("index.html", "e=4:1")
        self.browser.run("const f = byId('expression'); f.value = '5:1';"
                         "f.dispatchEvent(new Event('input'))")
        self.drawn("5:1")
        self.browser.run("byId('undo').click()")
        self.drawn("4:1")
        self.browser.run("byId('redo').click()")
        self.drawn("5:1")

    def test_wrong_input_is_marked(self):
        self.open("index.html", "e=(4,8:(8,1)")
        self.wait("byId('message').textContent.startsWith('TW0101')")
        before = self.browser.run("byId('backdrop').firstChild.textContent")
        self.assertEqual(before, "(4,8")
        marked = self.browser.run("byId('backdrop').querySelector('mark').textContent")
        self.assertEqual(marked, ":")
        self.type("(4,8):(8,1)")
        self.drawn("(4,8):(8,1)")
        self.assertEqual(self.browser.run("document.querySelectorAll('#backdrop mark').length"), 0)

    def test_no_mark_if_the_message_repeats_another_notation(self):
        """Its position counts in our notation: in CuTe's the mark would be elsewhere."""
        self.open("index.html", "e=make_layout(make_shape(_4{}, _8{}) _2{})")
        self.wait("byId('message').textContent.startsWith('TW0101')")
        self.assertIn("^", self.browser.run("byId('message').textContent"))
        self.assertEqual(self.count("#backdrop mark"), 0)

    def test_operations_are_completed(self):
        self.open("index.html")
        self.wait("byId('operation').options.length > 20")
        self.type("zipped_d")
        self.wait("!byId('completions').hidden")
        self.browser.key("ArrowDown")
        self.browser.key("Enter")
        self.wait("byId('expression').value === 'zipped_divide('")

    def test_two_layouts_are_compared(self):
        self.open("index.html", "e=(2,2):(1,2)&other=(2,2):(2,1)")
        self.wait("byId('differences')?.textContent.startsWith('2 of 4')")
        self.assertEqual(self.browser.run("document.querySelectorAll('.difference').length"), 4)

    def test_two_layouts_are_side_by_side_on_a_wide_screen(self):
        places = """['first', 'second'].map(id => byId(id).getBoundingClientRect()).map(
                      r => [Math.round(r.x), Math.round(r.y)])"""
        for width in (1400, 800):
            self.open("index.html", "e=(2,2):(1,2)&other=(2,2):(2,1)", width=width)
            self.wait("byId('differences') !== null")
            (x, y), (other_x, other_y) = self.browser.run(places)
            self.assertEqual((other_x > x, other_y > y), (width > 1250, width < 1250))

    def test_a_slider_changes_the_extent(self):
        self.open("index.html", "e=(4,8):(8,1)")
        self.browser.run("const s = byId('slider-0'); s.value = 6;"
                         "s.dispatchEvent(new Event('input'))")
        self.drawn("(6,8):(8,1)")

    def test_every_example_is_drawn(self):
        self.open("index.html")
        failed = self.browser.run("""(async () => {
          const failed = [];
          for (const {title, state} of tilewrightExamples.flatMap(g => g.examples)) {
            document.body.dataset.drawn = '';
            location.hash = new URLSearchParams(state).toString();
            for (let i = 0; i < 3000 && document.body.dataset.drawn === ''; ++i)
              await new Promise(done => setTimeout(done, 20));
            if (document.body.dataset.drawn === 'refused' || document.body.dataset.drawn === '' ||
                !document.querySelector('#first .frame svg, #first .answer'))
              failed.push(`${title}: ${byId('message').textContent}`);
          }
          return JSON.stringify(failed);
        })()""")
        self.assertEqual(json.loads(failed), [])

    def test_the_copies(self):
        self.open("index.html", "e=(4,8):(8,1)")
        copied = self.browser.run("""(async () => {
          const all = {};
          copyText = async text => { all[wanted] = text; return 'copied'; };
          let wanted;
          for (const button of document.querySelectorAll('[data-copy]')) {
            wanted = button.dataset.copy;
            if (wanted === 'png') continue;
            byId('copied').textContent = '';
            button.click();
            while (byId('copied').textContent === '') await new Promise(d => setTimeout(d, 10));
          }
          return JSON.stringify(all);
        })()""")
        copied = json.loads(copied)
        self.assertIn("<svg", copied["svg"])
        self.assertIn("tikzpicture", copied["latex"])
        self.assertIn('"(4,8):(8,1)"_L', copied["cpp"])
        self.assertEqual(copied["command"], "tilewright layout '(4,8):(8,1)'")
        self.assertIn("index.html#e=", copied["link"])

    # ---- explain and plan ----

    @unittest.skipUnless("plan.html" in PAGES, "the module is not built")
    def test_a_plan(self):
        self.open("plan.html")
        self.wait("byId('plan-chosen').textContent.includes('TFLOP/s on NVIDIA H200')")
        self.assertGreater(self.browser.run("document.querySelectorAll('#terms .bar').length"), 5)
        self.assertEqual(self.browser.run("document.querySelectorAll('#roofline svg').length"), 1)
        self.browser.run("byId('m').value = 'many'; byId('m').dispatchEvent(new Event('input'))")
        self.wait("/^TW\\d{4}/.test(byId('plan-error').textContent)")
        self.assertIn("m=many", self.browser.run("location.hash"))
        self.wait("byId('explained').textContent.includes('TW0104')")
        self.wait("byId('occupied').textContent.length > 100")

    @unittest.skipUnless("plan.html" in PAGES, "the module is not built")
    def test_fields_make_the_words_of_a_combination(self):
        self.open("plan.html")
        self.wait("byId('explained').textContent.includes('works instead')")
        self.assertEqual(self.browser.run("byId('part-tile').value"), "192x192")
        self.browser.run("byId('part-smem').value = 'SW32';"
                         "byId('part-smem').dispatchEvent(new Event('input'))")
        self.wait("/^yes: /m.test(byId('explained').textContent)")
        self.assertIn("smem=SW32", self.browser.run("byId('explain').value"))
        self.browser.run("byId('explain').value = 'E0024';"
                         "byId('explain').dispatchEvent(new Event('input'))")
        self.assertEqual(self.browser.run("byId('part-tile').value"), "")
        self.wait("byId('explained').textContent.includes('E0024')")

    @unittest.skipUnless("plan.html" in PAGES, "the module is not built")
    def test_the_gemms_of_a_model(self):
        self.open("plan.html")
        model = {"hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
                 "num_key_value_heads": 8, "num_hidden_layers": 32}
        self.browser.run(f"byId('config').value = {json.dumps(json.dumps(model))};"
                         "byId('plan-model').click()")
        self.wait("byId('model-text').textContent.includes('gate_up')")
        self.browser.run("byId('config').value = '{'; byId('plan-model').click()")
        self.wait("/^TW\\d{4}/.test(byId('model-text').textContent)")
        self.browser.run("byId('config').value = '[]'; byId('plan-model').click()")
        self.wait("/^TW\\d{4}/.test(byId('model-text').textContent)")

    # ---- races ----

    def run_kernel(self, kernel, fault, more=""):
        self.open("race.html", f"kernel={kernel}&fault={fault}{more}")
        self.browser.run("byId('run').click()")
        return self.wait("document.body.dataset.ran", 600)

    @unittest.skipUnless("race.html" in PAGES, "the module is not built")
    def test_a_fault_is_found(self):
        self.assertEqual(self.run_kernel("double_buffer", "no-wgmma-fence"), "E0031")
        self.assertIn("wgmma_fence", self.browser.run("byId('diagnosis').textContent"))
        self.assertEqual(self.count(".source .reported"), 1)
        self.assertEqual(self.browser.run("document.querySelectorAll('#timeline svg').length"), 1)
        first = self.browser.run("byId('step').textContent")
        self.browser.run("byId('step-on').click()")
        self.assertNotEqual(self.browser.run("byId('step').textContent"), first)
        self.browser.run("byId('correct').click()")
        self.wait("document.body.dataset.ran === 'correct'")
        self.assertIn("no wgmma_fence", self.browser.run("byId('verdict').textContent"))

    @unittest.skipUnless("race.html" in PAGES, "the module is not built")
    def test_the_missing_fence_of_rung_6(self):
        self.assertEqual(self.run_kernel("ladder/06_persistent", "no-wgmma-fence"), "E0031")
        self.assertIn("wgmma_fence", self.browser.run("byId('diagnosis').textContent"))
        marked = "document.querySelector('.source .%s').textContent"
        self.assertIn("gemm<mma>(sA, sB, sums", self.browser.run(marked % "reported"))
        self.assertIn("set_to_zero(sums)", self.browser.run(marked % "earlier"))
        self.browser.run("byId('correct').click()")
        self.wait("document.body.dataset.ran === 'correct'", 600)
        self.assertIn("fence(sums)", self.browser.run(
            "document.querySelector('.source .planted').textContent"))

    @unittest.skipUnless("race.html" in PAGES, "the module is not built")
    def test_a_correct_kernel(self):
        self.assertEqual(self.run_kernel("take_turns", ""), "correct")

    @unittest.skipUnless("race.html" in PAGES, "the module is not built")
    def test_stop(self):
        self.open("race.html", "kernel=ladder/06_persistent&fault=&size=512")
        self.browser.run("byId('run').click()")
        self.browser.run("byId('stop').click()")
        self.wait("document.body.dataset.ran === 'stopped'")
        self.browser.run("byId('kernel').value = 'take_turns';"
                         "byId('kernel').dispatchEvent(new Event('input')); byId('run').click()")
        self.wait("document.body.dataset.ran === 'correct'")

    # ---- all pages ----

    def test_pages_are_switched(self):
        self.open("index.html")
        names = {"index.html": "layouts", "plan.html": "plan", "race.html": "race"}
        for page in [names[p] for p in reversed(PAGES)]:
            self.browser.run(f"document.querySelector('nav a[data-page={page}]').click()")
            self.wait(f"document.body?.dataset.page === '{page}' && document.body.dataset.drawn")

    def test_narrow_and_dark(self):
        for page in PAGES:
            for dark in (False, True):
                with self.subTest(page, dark=dark):
                    self.open(page, width=320, height=640, dark=dark)
                    self.assertLessEqual(
                        self.browser.run("document.documentElement.scrollWidth"), 320)
                    ground = self.browser.run("getComputedStyle(document.body).backgroundColor")
                    level = sum(map(int, re.findall(r"\d+", ground)[:3]))
                    self.assertEqual(level < 3 * 128, dark)

    def test_nothing_moves_while_a_page_loads(self):
        for page in PAGES:
            for width in (1280, 320):
                with self.subTest(page, width=width):
                    self.open(page, width=width)
                    time.sleep(1)
                    moved = self.browser.run("""new Promise(done => {
                      new PerformanceObserver(list => done(list.getEntries().reduce(
                        (sum, e) => sum + (e.hadRecentInput ? 0 : e.value), 0)))
                        .observe({type: 'layout-shift', buffered: true});
                      setTimeout(() => done(0), 500);
                    })""")
                    self.assertLess(moved, 0.01)

    def test_the_keyboard_reaches_everything_in_the_order_of_the_page(self):
        for page in PAGES:
            with self.subTest(page):
                self.open(page)
                tops, names = [], []
                for _ in range(self.count("a, button, input, select, textarea, summary") + 10):
                    for kind in ("rawKeyDown", "keyUp"):
                        self.browser.send("Input.dispatchKeyEvent", type=kind, key="Tab",
                                          code="Tab", windowsVirtualKeyCode=9)
                    name, at, outline = self.browser.run("""(() => {
                      const a = document.activeElement, all = [...document.querySelectorAll('*')];
                      return [a.id || a.textContent, all.indexOf(a),
                              getComputedStyle(a).outlineStyle];
                    })()""")
                    if at < (tops[-1] if tops else 0):
                        break  # round the page
                    self.assertEqual(outline, "solid", name)
                    tops.append(at)
                    names.append(name)
                self.assertGreater(len(names), 12)
                for wanted in {"index.html": ("menu", "expression", "view", "compare", "Link"),
                               "plan.html": ("m", "device", "part-tile", "explain", "regs"),
                               "race.html": ("kernel", "fault", "run", "source", "step-on")}[page]:
                    self.assertIn(wanted, names)

    def test_narrow_plans(self):
        """The whole page of plans at 320 pixels: tables scroll in their boxes, and the roofline is
        drawn for the width."""
        if "plan.html" not in PAGES:
            self.skipTest("the module is not built")
        for dark in (False, True):
            with self.subTest(dark=dark):
                self.open("plan.html", width=320, height=640, dark=dark)
                self.wait("byId('plan-chosen').textContent.includes('TFLOP/s')")
                self.wait("byId('explained').textContent.includes('TW0104')")
                self.wait("byId('occupied').textContent.length > 100")
                self.wait("document.querySelectorAll('#roofline svg').length")
                self.assertLessEqual(
                    self.browser.run("document.documentElement.scrollWidth"), 320)
                self.assertLessEqual(self.browser.run(
                    "document.querySelector('#roofline svg').getBoundingClientRect().right"), 320)
                self.assertEqual(self.browser.run(
                    "getComputedStyle(byId('explained')).whiteSpace"), "pre")

    # A page with an answer, not only as it opens.
    IN_USE = {"index.html": ("e=(2,2):(1,2)&other=(2,2):(2,1)", "", "byId('differences') !== null"),
              "plan.html": ("", "document.querySelectorAll('details').forEach(d => d.open = true)",
                            "byId('occupied').textContent.length > 100"),
              "race.html": ("kernel=double_buffer&fault=no-wgmma-fence", "byId('run').click()",
                            "document.body.dataset.ran")}

    def test_access(self):
        """No serious finding of axe-core, light and dark, wide and at 320 pixels."""
        found = importlib.util.find_spec("axe_core_python")
        if found is None:
            self.skipTest("no axe-core (pip install axe-core-python)")
        axe = pathlib.Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")
        for page in PAGES:
            fragment, action, ready = self.IN_USE[page]
            for dark, width in ((False, 1280), (True, 1280), (False, 320), (True, 320)):
                with self.subTest(page, dark=dark, width=width):
                    self.open(page, fragment, dark=dark, width=width)
                    self.browser.run(f"{action}; 0")
                    self.wait(ready, 600)
                    self.browser.run(axe + "; 0")
                    serious = json.loads(self.browser.run("""axe.run().then(r => JSON.stringify(
                        r.violations.filter(v => ['serious', 'critical'].includes(v.impact))
                          .map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))])))"""))
                    self.assertEqual(serious, [])

    def test_fragments_of_anybody(self):
        """300 strings (2,000 with TW_EFFORT=full): no script runs, no element is made of them, no
        page fails."""
        random.seed(20261129)
        nasty = ["<img src=x onerror=hit()>", "</script><script>hit()</script>", "javascript:hit()",
                 "%3Csvg/onload=hit()%3E", "&e=", "#", "%", "%zz", "%00", "\\u202e", "'\"><b>",
                 "__proto__=1", "constructor=1", "e=" + "(" * 300, "view=steps", "bits=0",
                 "e=" + "9" * 300 + ":1", "seed=-1", "kernel=ladder/<i>", "fault=<u>", "m=1e309",
                 "device=x", "explain=--help", "e=--help", "e=-o x", "access=;", "tile=)", "size=7"]
        keys = ["e", "view", "tile", "access", "other", "kernel", "fault", "seed", "m", "explain"]
        fragments = []
        while len(fragments) < (2000 if FULL else 300):
            parts = [random.choice(["", random.choice(keys) + "="]) + random.choice(nasty)
                     + "".join(chr(random.randrange(32, 0x2FF)) for _ in range(random.randrange(6)))
                     for _ in range(random.randrange(1, 4))]
            fragments.append("&".join(parts))
        share = {page: fragments[i::len(PAGES)] for i, page in enumerate(PAGES)}
        for page, of_page in share.items():
            self.open(page)
            found = self.browser.run("""(async fragments => {
              let hits = 0;
              globalThis.hit = () => { ++hits; };
              const wrong = [];
              addEventListener('error', e => wrong.push(e.message));
              addEventListener('unhandledrejection', e => wrong.push(String(e.reason)));
              for (const fragment of fragments) {
                history.replaceState(null, '', '#' + fragment);
                dispatchEvent(new HashChangeEvent('hashchange'));
                // Chromium ignores more than 200 changes of an address in 10 s.
                await new Promise(done => setTimeout(done, 60));
                const made = document.querySelectorAll(
                  'main img, main script, main iframe, main i, main u, main svg [onload]').length;
                if (made || hits) wrong.push(fragment);
              }
              await new Promise(done => setTimeout(done, 500));
              return JSON.stringify({hits, wrong: wrong.slice(0, 5)});
            })(%s)""" % json.dumps(of_page))
            self.assertEqual(json.loads(found), {"hits": 0, "wrong": []}, page)
        # The page still works after all of them.
        self.open("index.html", "e=4:1")
        self.drawn("4:1")

    def test_the_policy_forbids_the_network(self):
        for page in PAGES:
            text = (SITE / page).read_text(encoding="utf-8")
            self.assertIn("default-src 'none'", text)
            self.assertIn("connect-src 'none'", text)
            for found in re.findall(r"""(?:src|href)=["']([^"']*)["']""", text):
                self.assertFalse(re.match(r"(?:[a-z]+:)?//", found), f"{page}: {found}")
        for script in SITE.glob("*.js"):
            self.assertNotRegex(script.read_text(encoding="utf-8").split("tilewrightSources")[0],
                                r"\beval\(|new Function|fetch\(|XMLHttpRequest|innerHTML|WebSocket")
        self.open("index.html")
        refused = self.browser.run("""(async () => {
          try {
            await fetch('https://example.com/');
            return 'reached';
          } catch (e) {
            return 'refused';
          }
        })()""")
        self.assertEqual(refused, "refused")
        self.browser.problems.clear()  # of the attempt


if __name__ == "__main__":
    main()
