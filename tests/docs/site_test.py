# SPDX-License-Identifier: Apache-2.0
# site_test.py  The HTML site has a page for each page of the tutorial, with its pictures. Skipped
#               where mkdocs-material is not installed (./dev site installs it for itself).
import glob
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ["TW_SOURCE_DIR"]


def mkdocs():
    own = os.path.join(SOURCE, "build-site/venv/bin/mkdocs")
    return own if os.access(own, os.X_OK) else None


def main():
    if mkdocs() is None:
        print("mkdocs-material is not installed: ./dev site")
        return 77
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([mkdocs(), "build", "--quiet", "-f", os.path.join(SOURCE, "mkdocs.yml"),
                        "-d", folder], check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
        for page in glob.glob(os.path.join(SOURCE, "docs/tutorial/*.md")):
            name = os.path.basename(page).replace("README.md", "index.md")[:-3] + ".html"
            path = os.path.join(folder, "tutorial", name)
            if not os.path.exists(path):
                complaints.append(f"no page {name}")
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for picture in re.findall(r'<img[^>]*src="([^":]+\.svg)"', text):
                if not os.path.exists(os.path.join(folder, "tutorial", picture)):
                    complaints.append(f"{name}: no picture {picture}")
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
