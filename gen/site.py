#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""site.py  Builds the pages as an HTML site of one folder: ./dev site

The pages are copied as they lie in the repository. What they link to comes along: a source file
becomes a page, a folder a list of its files, data are copied. The command draws the pictures. A
page lists the error codes. mkdocs then makes HTML of it, by the settings and the navigation of
mkdocs.yml. If the playground is built, the site has it in a folder, and layouts of the pages can be
changed in place (gen/live.py).

    site.py OUT [--mkdocs PROGRAM] [--command TILEWRIGHT] [--playground DIR]

OUT/html is the site, OUT/pages its sources.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import error_pages  # gen/error_pages.py
import live  # gen/live.py
import pictures  # gen/pictures.py

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**/*.md",
         "examples/own_kernel/README.md", "bench/README.md", "bench/results/README.md",
         "data/*/README.md")
ASSETS = ("docs/**/*.svg", "docs/**/*.html", "docs/site/*")
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".cu": "cpp", ".cuh": "cpp", ".h": "c", ".c": "c",
             ".py": "python", ".cmake": "cmake", ".txt": "text", ".def": "cpp"}
LINK = re.compile(r"`[^`]*`|<!--.*?-->|(\]\()([^)\s]+)(\))")  # or code or a comment, without links
FENCE = re.compile(r"^(```|~~~)")


def lines_outside_code(text):
    """(line, is it outside of fenced blocks?)"""
    inside = False
    for line in text.split("\n"):
        if FENCE.match(line.strip()):
            inside = not inside
            yield line, False
        else:
            yield line, not inside


class Site:
    def __init__(self, out):
        self.pages = out / "pages"
        self.made = set()     # files of OUT/pages, as paths of the repository
        self.dead = []
        self.live = None      # live.Live, if the site has the playground

    def pictures(self, command):
        """Draws the pictures of the pages."""
        for page in sorted(ROOT.glob("docs/**/*.md")):
            path = str(page.relative_to(ROOT))
            for picture, words in pictures.pictures_of(path, page.read_text(encoding="utf-8")):
                if picture not in self.made:
                    self.made.add(picture)
                    (self.pages / picture).parent.mkdir(parents=True, exist_ok=True)
                    pictures.draw(command, words, str(self.pages / picture), ROOT)

    def write(self, path, text):
        target = self.pages / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        self.made.add(path)

    def page(self, path, text=None):
        """A page of the repository, or this text; its links lead to files of the site."""
        if text is None:
            text = error_pages.link_to_page((ROOT / path).read_text(encoding="utf-8"))
        lines = [LINK.sub(lambda m: m[1] + self.target(path, m[2]) + m[3] if m[2] else m[0], line)
                 if free else line for line, free in lines_outside_code(text)]
        if self.live:
            to_playground = os.path.relpath("playground", os.path.dirname(path) or ".")
            lines = self.live.added_to(lines, to_playground)
        self.write(path, "\n".join(lines))

    def target(self, page, link):
        """The link of a page, to the page that the site has in the place of the file."""
        if re.match(r"[a-z]+:|#", link):
            return link
        name, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), name))
        there = ROOT / path
        if path in self.made:
            return link
        if path.startswith("..") or not there.exists():
            self.dead.append(f"{page}: {link}")
            return link
        if path.endswith((".md", ".svg", ".html")):
            return link
        if there.is_dir():
            new = self.folder(path)
        elif there.suffix in LANGUAGES:
            new = self.source(path)
        else:
            new = path
            if new not in self.made:
                self.made.add(new)
                (self.pages / new).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(there, self.pages / new)
        new = os.path.relpath(new, os.path.dirname(page) or ".")
        return new + ("#" + anchor if anchor else "")

    def source(self, path):
        new = path + ".md"
        if new not in self.made:
            code = (ROOT / path).read_text(encoding="utf-8").rstrip()
            fence = "`" * 4
            self.write(new, f"---\ntitle: {os.path.basename(path)}\nsearch:\n  exclude: true\n"
                            f"---\n\n# {path}\n\n{fence}{LANGUAGES[pathlib.Path(path).suffix]}\n"
                            f"{code}\n{fence}\n")
        return new

    def folder(self, path):
        if (ROOT / path / "README.md").exists():
            return path + "/README.md"
        new = path + "/index.md"
        if path == "docs/errors":  # errors() writes it
            return new
        if new not in self.made:
            self.made.add(new)
            rows = []
            for name in tracked(path):
                inside = os.path.relpath(name, path)
                link = self.target(new, inside)
                title = first_sentence(ROOT / name)
                rows.append(f"| [{inside}]({link}) | {title} |")
            self.write(new, f"# {path}\n\n| file | content |\n|---|---|\n" + "\n".join(rows) + "\n")
        return new

    def errors(self):
        """A page for each code, and the list of them."""
        pages, rows = error_pages.all_pages(ROOT / "docs/errors"), []
        self.made.update(f"docs/errors/{code}.md" for code, _ in pages)
        for code, text in pages:
            rows.append(f"| [{code}]({code}.md) | {text.split(': ', 1)[1].splitlines()[0]} |")
            self.page(f"docs/errors/{code}.md", text)
        self.write("docs/errors/index.md",
                   "# Error codes\n\n`tilewright explain CODE` prints a page. TW codes are "
                   "refusals, E codes diagnoses of the emulator.\n\n| code | name |\n|---|---|\n"
                   + "\n".join(rows) + "\n")


def tracked(folder):
    done = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    if done.returncode == 0 and done.stdout:
        return done.stdout.split()
    return sorted(str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob("*") if p.is_file())


def first_sentence(path):
    """The first line of the comment at the beginning of a source file."""
    if path.suffix not in LANGUAGES:
        return ""
    for line in path.read_text(encoding="utf-8").split("\n")[:6]:
        found = re.match(rf"(?://|#|\"\"\"|/\*) ?{re.escape(path.name)}  (.*)", line)
        if found:
            return found[1].strip().replace("|", "\\|")
    return ""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("out", type=pathlib.Path)
    options.add_argument("--mkdocs", default="mkdocs")
    options.add_argument("--command", type=os.path.abspath,
                         default=os.environ.get("TW_COMMAND", "build/bin/tilewright"))
    options.add_argument("--playground", type=pathlib.Path, default=ROOT / "build-playground")
    o = options.parse_args()
    out = o.out.resolve()
    shutil.rmtree(out / "pages", ignore_errors=True)
    site = Site(out)
    if (o.playground / "race.html").exists():
        site.live = live.Live(o.command)
    else:
        print("site: without the playground (./dev playground), so without live pictures")
    site.pictures(o.command)
    site.errors()
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            if path.parent.name != "errors":
                site.page(str(path.relative_to(ROOT)))
    for pattern in ASSETS:
        for path in sorted(ROOT.glob(pattern)):
            target = out / "pages" / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    if site.dead:
        print("\n".join(["dead links:", *site.dead]), file=sys.stderr)
        return 1
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace("docs_dir: .", f"docs_dir: {out / 'pages'}")
    (out / "mkdocs.yml").write_text(settings, encoding="utf-8")
    status = subprocess.run([o.mkdocs, "build", "--quiet", "--strict", "--clean", "-f",
                           out / "mkdocs.yml", "-d", out / "html"], check=False,
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}).returncode
    (out / "html/404.html").unlink(missing_ok=True)  # of a server; its links begin at the root
    if site.live:
        shutil.copytree(o.playground, out / "html/playground")
        print(f"site: {site.live.count} layouts and faults of pages are live")
    return status


if __name__ == "__main__":
    sys.exit(main())
