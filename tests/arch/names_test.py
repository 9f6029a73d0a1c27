# SPDX-License-Identifier: Apache-2.0
"""names_test.py  Both backends declare exactly the names of arch/names.def, and gen/check_names.py
notices when one does not."""
import glob
import os
import re
import shutil
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "gen"))
import check_names  # noqa: E402

ARCH = os.path.join(ROOT, "include/tilewright/arch")


class Names(unittest.TestCase):
    def changed(self, path, old, new):
        """The differences after one replacement in a copy of the folder."""
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "arch")
            shutil.copytree(ARCH, copy)
            with open(os.path.join(copy, path), encoding="utf-8") as file:
                text = file.read()
            self.assertIn(old, text)
            with open(os.path.join(copy, path), "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
            return check_names.differences(copy)

    def test_backends_agree(self):
        self.assertEqual(check_names.differences(ARCH), [])

    def test_table_is_not_empty(self):
        self.assertGreater(len(check_names.table(ARCH)), 40)

    def test_names_of_one_architecture_are_refused_elsewhere(self):
        """A function of sm_90a or sm_100f alone begins with the check of arch/cuda/target.hpp."""
        with open(os.path.join(ARCH, "names.def"), encoding="utf-8") as file:
            rows = re.findall(r'^X\((\w+),[^()]*"(sm_90a|sm_100f)"\)$', file.read(), re.M)
        self.assertGreaterEqual(len(rows), 5)
        headers = ""
        for path in glob.glob(os.path.join(ARCH, "cuda/*.hpp")):
            with open(path, encoding="utf-8") as file:
                headers += re.sub(r"^namespace detail \{.*?^\}  // namespace", "", file.read(),
                                  flags=re.S | re.M)
        for name, target in rows:
            needs = f"detail::need_{target.replace('_', '')}<Target>();"
            bodies = re.findall(rf"^TW_DEVICE [^;{{]*?\b{name}\([^;{{]*\{{\n  (\S*)$", headers,
                                re.M)
            self.assertTrue(bodies or f"struct {name}" in headers, name)
            self.assertEqual(set(bodies) - {needs}, set(), name)

    def test_missing_function(self):
        self.assertEqual(self.changed("cuda/sync.hpp", "void cta_sync(", "void cta_sink("),
                         ["arch/cuda lacks cta_sync", "names.def lacks cta_sink of arch/cuda"])

    def test_missing_member(self):
        self.assertIn("arch/emu lacks mbarrier::expect_tx",
                      self.changed("emu/mbarrier.hpp", "void expect_tx(", "void expect("))

    def test_row_too_few(self):
        self.assertEqual(self.changed("names.def", "X(dsmem,", "Y(dsmem,"),
                         ["names.def lacks dsmem of arch/cuda",
                          "names.def lacks dsmem of arch/emu"])

    def test_row_too_many(self):
        self.assertIn("names.def lacks lane_id of arch/cuda",
                      self.changed("names.def", "X(lane_id,", "X(warp_id,"))


if __name__ == "__main__":
    unittest.main()
