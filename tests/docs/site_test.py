# SPDX-License-Identifier: Apache-2.0
# site_test.py  The HTML site: no dead link or anchor, nothing loaded from a network, each page is
#               reached from the first one, codes and decisions are found by its search, no picture
#               has text below 9 pixels, layouts can be changed in place, and in Chromium, if it is
#               found, pages are read with JavaScript and without. Skipped where mkdocs-material is
#               not installed (./dev site installs it for itself).
import glob
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse

SOURCE = os.environ["TW_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "gen"))
sys.path.insert(0, os.path.join(SOURCE, "tests/browser"))
import error_pages  # noqa: E402  pylint: disable=wrong-import-position
import pictures  # noqa: E402  pylint: disable=wrong-import-position
from devtools import Browser, find_chromium  # noqa: E402  pylint: disable=wrong-import-position
MKDOCS = os.path.join(SOURCE, "build-site/venv/bin/mkdocs")
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(x for x in (values.get("id"), values.get("name")) if x)
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in LOADED and values.get(LOADED[tag]) and values.get("rel") != "canonical":
            self.loaded.append(values[LOADED[tag]])


def complaints_of(site):
    """Dead links, resources of a network, and pages that no link leads to."""
    pages = {path: Page(path) for path in glob.glob(site + "/**/*.html", recursive=True)}
    reached, ahead = set(), [os.path.join(site, "index.html")]
    if ahead[0] not in pages:
        yield "no index.html"
        return

    def place(page, link):
        path = urllib.parse.unquote(link.partition("#")[0].partition("?")[0])
        there = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        return os.path.join(there, "index.html") if os.path.isdir(there) else there

    for page, content in pages.items():
        name = os.path.relpath(page, site)
        for link in content.links + content.loaded:
            if re.match(r"[a-z]+:", link):
                if link in content.loaded and not link.startswith("data:"):
                    yield f"{name} loads {link}"
                continue
            there, anchor = place(page, link), urllib.parse.unquote(link.partition("#")[2])
            if not os.path.exists(there):
                yield f"{name}: dead link {link}"
            elif "playground" in os.path.relpath(there, site).split(os.sep)[:-1]:
                pass  # its fragment is the state of a page
            elif anchor and there in pages and anchor not in pages[there].anchors | {"__search"}:
                yield f"{name}: no anchor {link}"
    while ahead:
        page = ahead.pop()
        if page in reached or page not in pages:
            continue
        reached.add(page)
        ahead += [place(page, link) for link in pages[page].links
                  if not re.match(r"[a-z]+:", link)]
    for page in sorted(set(pages) - reached):
        yield f"no link leads to {os.path.relpath(page, site)}"


def small_texts(pages):
    """Pictures whose text is too small on a page; drawn ones were checked when they were drawn."""
    for path in glob.glob(pages + "/**/*.svg", recursive=True):
        try:
            pictures.check_text(path)
        except RuntimeError as why:
            yield f"{os.path.relpath(path, pages)}: {why}"


def missing_from_search(site):
    with open(os.path.join(site, "search/search_index.json"), encoding="utf-8") as file:
        found = {entry["location"].partition("#")[0] for entry in json.load(file)["docs"]}
    pages = [os.path.relpath(page, SOURCE)[:-3]
             for page in glob.glob(SOURCE + "/docs/**/*.md", recursive=True)
             if "/errors/" not in page]
    pages += ["docs/errors/" + code for code, _ in error_pages.all_pages(SOURCE + "/docs/errors")]
    for page in pages:
        name = page + ".html"
        if name.replace("README.html", "index.html") not in found:
            yield f"the search does not find {name}"


def live_parts(site):
    """Layouts and planted faults have live parts if the playground is built, and only then."""
    built = os.path.exists(os.path.join(SOURCE, "build-playground/race.html"))
    for name, needed in (("docs/articles.html", 'class="live"'),
                         ("docs/tutorial/06_persistent.html", "playground/race.html#kernel=")):
        with open(os.path.join(site, name), encoding="utf-8") as file:
            if (needed in file.read()) != built:
                yield f"{name}: {needed} {'is missing' if built else 'without the playground'}"


READ_PAGES = ("index.html", "docs/articles.html", "docs/layouts.html", "docs/pictures.html",
              "docs/tutorial/06_persistent.html", "docs/errors/E0001.html")
# A page as a reader sees it: letters of the text, pictures that are drawn, links to other pages
# and whether they can be seen, the code blocks, the width.
SEEN = """JSON.stringify({
  letters: document.querySelector('article').innerText.length,
  drawn: [...document.querySelectorAll('article img')].map(i => i.naturalWidth > 0),
  links: [...document.querySelectorAll('nav a[href$=".html"]')].filter(
    a => a.getClientRects().length > 0).length,
  blocks: [...document.querySelectorAll('article pre')].filter(
    p => p.getClientRects().length > 0).length,
  wide: document.documentElement.scrollWidth > innerWidth})"""
# The point of the first summary, in sight.
SUMMARY = """(() => {
  const summary = document.querySelector('details.live summary');
  summary.scrollIntoView({block: 'center'});
  const r = summary.getBoundingClientRect();
  return [r.x + 9, r.y + r.height / 2];
})()"""


def within(browser, expression, limit_s=60):
    """Is the expression true in the first frame of the page, before the limit?"""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        frames = browser.send("Page.getFrameTree")["frameTree"].get("childFrames", [])
        for frame in frames[:1]:
            world = browser.send("Page.createIsolatedWorld", frameId=frame["frame"]["id"])
            if browser.send("Runtime.evaluate", expression=expression, returnByValue=True,
                            contextId=world["executionContextId"])["result"].get("value"):
                return True
        time.sleep(0.1)
    return False


def read_pages(site):
    """Pages read in Chromium: without scripts a page has the text, pictures, blocks and links that
    it has with them, and its frames say that they need JavaScript; with scripts they draw."""
    built = os.path.exists(os.path.join(site, "playground/race.html"))
    with Browser(find_chromium(), timeout_s=120) as browser:
        for name in READ_PAGES:
            path, seen = os.path.join(site, name), {}
            for scripts in (True, False):
                browser.open(path, scripts=scripts)
                seen[scripts] = json.loads(browser.run(SEEN))
                if not all(seen[scripts]["drawn"]) or seen[scripts]["wide"]:
                    yield f"{name}, scripts {scripts}: {seen[scripts]}"
                if built and name == "docs/articles.html":
                    browser.mouse(*browser.run(SUMMARY), click=True)
                    wanted = ("document.body.dataset.drawn" if scripts else
                              "document.querySelector('noscript').innerText.includes('JavaScript')")
                    if not within(browser, wanted):
                        yield f"{name}, scripts {scripts}: the frame of a layout is not drawn"
            without, usual = seen[False], seen[True]
            if without["letters"] < 0.95 * usual["letters"] or any(
                    without[key] < usual[key] for key in ("links", "blocks")):
                yield f"{name}: {without} without scripts, {usual} with them"
            browser.open(path, width=320, height=640, scripts=False)
            if json.loads(browser.run(SEEN))["wide"]:
                yield f"{name}: wider than 320 pixels without scripts"
        yield from (p for p in browser.problems if not p.startswith("request of blob:null/"))


def main():
    if not os.access(MKDOCS, os.X_OK):
        print("mkdocs-material is not installed: ./dev site")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        built = subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "gen/site.py"), folder,
                                "--mkdocs", MKDOCS], capture_output=True, text=True, check=False)
        if built.returncode != 0:
            print(built.stdout + built.stderr)
            return 1
        site = os.path.join(folder, "html")
        complaints = [*complaints_of(site), *missing_from_search(site), *live_parts(site),
                      *small_texts(os.path.join(folder, "pages"))]
        if find_chromium():
            complaints += read_pages(site)
        count = len(glob.glob(site + "/**/*.html", recursive=True))
    print("\n".join(complaints) or f"{count} pages")
    return 1 if complaints or count < 400 else 0


if __name__ == "__main__":
    sys.exit(main())
