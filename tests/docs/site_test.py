# SPDX-License-Identifier: Apache-2.0
# site_test.py  The HTML site: no dead link or anchor, nothing loaded from a network, each page is
#               reached from the first one, codes and decisions are found by its search, no picture
#               has text below 9 pixels, layouts can be changed in place. Skipped where
#               mkdocs-material is not installed (./dev site installs it for itself).
import glob
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

SOURCE = os.environ["TW_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "gen"))
import pictures  # noqa: E402  pylint: disable=wrong-import-position
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
    for page in (glob.glob(SOURCE + "/docs/**/*.md", recursive=True)):
        name = os.path.relpath(page, SOURCE)[:-3] + ".html"
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
        count = len(glob.glob(site + "/**/*.html", recursive=True))
    print("\n".join(complaints) or f"{count} pages")
    return 1 if complaints or count < 400 else 0


if __name__ == "__main__":
    sys.exit(main())
