#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trial_test.py  The first steps of a new user in the playground, with mouse and keyboard: a layout
of an article is pasted and shared, and the missing fence of rung 6 is found.
"""
from page_case import PageCase, main

# As docs/articles.md has it of the first article: several lines, comments, a declaration.
PASTED = """auto layout_nested = make_layout(
    make_shape(_4{}, make_shape(_2{}, _4{})),    // (4, (2, 4))
    make_stride(_8{}, make_stride(_4{}, _1{}))   // (8, (4, 1))
);"""
LINE = ("auto layout_nested = make_layout( make_shape(_4{}, make_shape(_2{}, _4{})), "
        "make_stride(_8{}, make_stride(_4{}, _1{})) );")


class Trial(PageCase):
    def test_a_layout_of_an_article_is_pasted_and_shared(self):
        self.open("index.html")
        self.click("#expression")
        self.browser.run("byId('expression').select()")
        self.browser.send("Input.insertText", text=PASTED)
        self.drawn("(4,(2,4)):(8,(4,1))")
        self.assertEqual(self.browser.run("byId('message').textContent"), "")
        self.click("[data-copy=link]")
        self.wait("byId('copied').textContent === 'Link: copied'")
        self.open("index.html", self.browser.run("location.hash.slice(1)"))
        self.drawn("(4,(2,4)):(8,(4,1))")
        self.assertEqual(self.browser.run("byId('expression').value"), PASTED)
        self.browser.run("copyText = async text => { globalThis.copied = text; return 'copied'; }")
        self.click("[data-copy=command]")
        self.assertEqual(self.wait("globalThis.copied"), f"tilewright layout '{LINE}'")

    def test_two_statements_are_refused_with_the_first(self):
        self.open("index.html")
        self.browser.run("byId('expression').select()")
        self.browser.send("Input.insertText", text=f"auto a = Shape<_4,_8>{{}};\n{PASTED}")
        self.wait("byId('message').textContent.includes('one at a time: auto a = Shape<_4,_8>{}')")

    def test_the_missing_fence_of_rung_6_is_found(self):
        self.open("index.html")
        self.click("nav a[data-page=race]")
        self.wait("document.body?.dataset.page === 'race' && document.body.dataset.drawn")
        for field, value in (("kernel", "ladder/06_persistent"), ("fault", "no-wgmma-fence")):
            self.browser.run(f"byId('{field}').value = '{value}';"
                             f"byId('{field}').dispatchEvent(new Event('input'))")
        self.click("#run")
        self.wait("document.body.dataset.ran", 600)
        self.assertIn("E0031 missing-wgmma-fence",
                      self.browser.run("byId('verdict').textContent"))
        self.assertTrue(self.browser.run("""(() => {  // the reported line is in sight in its box
          const line = document.querySelector('.source .reported').getBoundingClientRect();
          const box = byId('source').getBoundingClientRect();
          return line.top >= box.top && line.bottom <= box.bottom;
        })()"""))
        self.click("#correct")
        self.wait("document.body.dataset.ran === 'correct'", 600)
        self.assertIn("fence(sums)",
                      self.browser.run("document.querySelector('.source .planted').textContent"))


if __name__ == "__main__":
    main()
