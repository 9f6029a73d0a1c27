# SPDX-License-Identifier: Apache-2.0
"""lint_test.py  A good tree passes gen/lint.py; one wrong line per rule is refused by that rule."""
import os
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "gen"))
import headers_alone  # noqa: E402  pylint: disable=wrong-import-position
import lint  # noqa: E402

lint.words.PENDING = ()

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
GOOD_PAGE = ("# Codes\n\n## TW0199\n**a title**\n\nx\n\n### Example\nx\n\n"
             "### What to do\nx\n")
DIAGNOSIS_PAGE = ("# Codes\n\n## E0199\n**a title**\n\nx\n\n### Example\n```cpp\nwrong\n```\n\n"
                  '### What to do\n```cpp\nright\n```\nPTX ISA, "fence".\n')


def header(name, body=""):
    return f"{SPDX}// {name}  A title.\n#pragma once\n{body}"


GOOD = {
    "include/tilewright/base/elem.hpp": header("elem.hpp"),
    "include/tilewright/layout/shape.hpp": header(
        "shape.hpp", '#include "tilewright/base/elem.hpp"\nchar const* c = "TW0199";\n'),
    "include/tilewright/arch/select.hpp": header(
        "select.hpp", '#if 1\n#include "tilewright/arch/cuda/all.hpp"\n#else\n'
                      '#include "tilewright/arch/emu/all.hpp"\n#endif\n'),
    "include/tilewright/kernel/gemm.hpp": header(
        "gemm.hpp", '#include "tilewright/arch/select.hpp"\n// asm and threadIdx in a comment\n'
                    "__global__ void f();\n"),
    "docs/errors/TW01.md": GOOD_PAGE,
    "docs/errors/E01.md": DIAGNOSIS_PAGE,
    "src/emu/hazard.cpp": SPDX + '// hazard.cpp  A title.\nchar const* c = "E0199";\n',
    "tests/hazard/shape_test.cpp":
        SPDX + '// shape_test.cpp  A test.\nvoid f() { expect({"E0199", "x"}, g); }\n',
    "tests/layout/shape_test.cpp": SPDX + "// shape_test.cpp  A test.\n// TW0199\nint  x = 1;\n",
    "README.md": "```cpp\nint x = 1;\n```\n",
    "include/tilewright/tilewright.hpp": header("tilewright.hpp", "".join(
        f'#include "tilewright/{path}.hpp"\n' for path in (
            "layout/shape", "base/bad", "base/good", "base/big", "extra/bad", "kernel/gemm",
            "kernel/bad", "pipeline/bad", "atom/bad"))),
    **{f"tools/trace/{i}.json": "{}\n" for i in range(40)},
}

# rule: (file, text) that this rule must refuse when it is put into the good tree
BAD = {
    "folders": [
        ("include/tilewright/base/bad.hpp",
         header("bad.hpp", '#include "tilewright/layout/shape.hpp"\n')),
        ("include/tilewright/extra/bad.hpp", header("bad.hpp")),
        ("include/tilewright/kernel/bad.hpp",
         header("bad.hpp", '#include "tilewright/arch/cuda/all.hpp"\n')),
        ("include/tilewright/arch/emu/bad.hpp",
         header("bad.hpp", '#include "tilewright/arch/cuda/all.hpp"\n')),
        ("tools/io/bad.cpp", SPDX + "// bad.cpp  A title.\n"
                                    '#include "tilewright/arch/cuda/all.hpp"\n'
                                    '#include "tilewright/arch/emu/all.hpp"\n'),
        ("src/layout/bad.cpp", SPDX + '// bad.cpp  A title.\n#include "emu/machine/machine.hpp"\n'),
        ("src/dispatch/bad.cpp", SPDX + '// bad.cpp  A title.\n#include "tools/io.hpp"\n'),
    ],
    "title": [
        ("include/tilewright/base/bad.hpp", "// bad.hpp  No licence.\n#pragma once\n"),
        ("include/tilewright/base/bad.hpp", SPDX + "// other.hpp  Another name.\n#pragma once\n"),
        ("include/tilewright/base/bad.hpp", SPDX + "// bad.hpp  No include guard.\n"),
        ("gen/bad.py", "print()\n"),
    ],
    "preprocessor": [
        ("include/tilewright/base/bad.hpp", header("bad.hpp", "#ifdef __CUDACC__\n#endif\n")),
        ("src/base/bad.cpp", SPDX + "// bad.cpp  A title.\n#define TW_MORE 1\n"),
    ],
    "kernels": [
        ("include/tilewright/kernel/bad.hpp", header("bad.hpp", 'void f() { asm("x"); }\n')),
        ("include/tilewright/pipeline/bad.hpp", header("bad.hpp", "int i = threadIdx.x;\n")),
        ("include/tilewright/atom/bad.hpp", header("bad.hpp", "void f() { __syncthreads(); }\n")),
        ("include/tilewright/kernel/bad.hpp",
         header("bad.hpp", "void f() {\n  if (lane_id() == 0) g(warp_id());\n}\n")),
        ("include/tilewright/kernel/bad.hpp",
         header("bad.hpp", "struct s { [[no_unique_address]] t x; };\n")),
    ],
    "size": [
        ("src/base/bad.cpp", SPDX + "// bad.cpp  A title.\n" + "\n" * 500),
        ("src/base/bad.cpp", SPDX + "// bad.cpp  A title.\n// " + "x" * 98 + "\n"),
    ],
    "words": [("docs/map.md", "see /wor" "k/main\n"), ("src/notes.md", "TO" "DO: later\n")],
    "codes": [
        ("src/base/bad.cpp", SPDX + '// bad.cpp  A title.\nauto c = "TW0198";\n'),
        ("docs/errors/E00.md", DIAGNOSIS_PAGE.replace("E0199", "E0009")),
        ("docs/errors/TW02.md", GOOD_PAGE),
        ("docs/errors/TW01.md", GOOD_PAGE.replace("**a title**\n", "")),
        ("docs/errors/TW01.md", GOOD_PAGE.replace("### Example", "### Examples")),
        ("docs/errors/TW0198.md", GOOD_PAGE.replace("TW0199", "TW0198")),
        ("tests/layout/shape_test.cpp", SPDX + "// shape_test.cpp  No code.\nint x = 1;\n"),
    ],
    "diagnoses": [
        ("docs/errors/E01.md", DIAGNOSIS_PAGE.replace("```cpp\nright\n```", "")),
        ("docs/errors/E01.md", DIAGNOSIS_PAGE.replace("PTX ISA, ", "")),
        ("tests/hazard/shape_test.cpp",
         SPDX + "// shape_test.cpp  Names E0199.\nvoid f() { see(E0199); }\n"),
    ],
    "contents": [("include/tilewright/base/other.hpp", header("other.hpp"))],
    "snippets": [("docs/map.md", "```cpp\nint never_compiled;\n```\n")],
    "links": [("docs/map.md", "[layouts](layout.md)\n"),
              ("docs/map.md", "[a](errors/TW01.md#tw0198)\n"),
              ("docs/map.md", "The example is `kernel/none.hpp`.\n")],
    "paths": [
        ("src/base/bad.cpp", SPDX + "// bad.cpp  As in base/none" ".hpp.\n"),
        ("src/base/bad.cpp", SPDX + "// bad.cpp  A title.\nint x = 1;  // see none" ".cpp\n"),
        ("gen/bad.py", SPDX.replace("//", "#") + "# As tests/none" ".py does.\n"),
    ],
    "sentences": [
        ("docs/map.md", "The rows are those " "of A.\n"),
        ("docs/map.md", "It is refused " "where it does not fit.\n"),
        ("docs/map.md", "A vector is " "no matrix.\n"),
        ("src/base/bad.cpp", SPDX + "// bad.cpp  Stores w" "hat a kernel computes.\n"),
        ("src/base/bad.cpp", SPDX + "// bad.cpp  A title.\n// Of " "a tile it has the rows.\n"),
    ],
    "rooms": [
        ("tools/io/bad.cpp", SPDX + '// bad.cpp  A title.\n#include "tools/command/verbs.hpp"\n'),
        ("tools/command/plan/bad.cpp",
         SPDX + '// bad.cpp  A title.\n#include "tools/command/gemm/gemm_run.hpp"\n'),
        ("tools/command/bad.cpp",
         SPDX + '// bad.cpp  A title.\n#include "tools/command/gemm/gemm_run.hpp"\n'),
        ("tools/command/plan/bad.cpp", SPDX + '// bad.cpp  A title.\n#include "bench/lab.hpp"\n'),
        ("ladder/bad.hpp", header("bad.hpp", '#include "tools/io/npy.hpp"\n')),
        ("tools/bad.cpp", SPDX + "// bad.cpp  A title.\n"),
        ("src/emu/host/bad.cpp", SPDX + '// bad.cpp  A title.\n#include "emu/run/guard.hpp"\n'),
        ("src/emu/host/bad.cpp", SPDX + '// bad.cpp  A title.\n#include "emu/launch.hpp"\n'),
        ("src/emu/other/bad.cpp", SPDX + "// bad.cpp  A title.\n"),
        ("src/dispatch/plan/bad.cpp",
         SPDX + '// bad.cpp  A title.\n#include "dispatch/moe/moe.hpp"\n'),
    ],
    "files": [("tools/trace/41.json", "{}\n")],
    "terms": [
        ("docs/map.md", "Runs on the c" "ard.\n"),
        ("docs/map.md", "The pit" "ch of A.\n"),
        ("src/base/bad.cpp", SPDX + "// bad.cpp  A strip" " of D.\n"),
        ("src/base/bad.cpp", SPDX + '// bad.cpp  A title.\nchar const* c = "pit" "ch of A";\n'
         .replace('" "', "")),
        ("gen/bad.py", SPDX.replace("//", "#") + '"""Nobo' 'dy."""\n'),
        ("dev", SPDX.replace("//", "#") + "# One in place" " of two.\n"),
    ],
}


def complaints(tree):
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return lint.lint(root)


class Lint(unittest.TestCase):
    def test_a_good_tree_passes(self):
        self.assertEqual(complaints(GOOD), [])

    def test_each_rule_refuses_its_bad_files(self):
        rules = set(lint.FILE_RULES) | set(lint.TREE_RULES)
        self.assertEqual(rules, set(BAD), "each rule has a bad tree")
        for rule, cases in BAD.items():
            for path, text in cases:
                with self.subTest(rule=rule, path=path, text=text[:200]):
                    self.assertEqual({found[2] for found in complaints({**GOOD, path: text})},
                                     {rule})

    def test_terms_in_code_are_no_complaint(self):
        for path, text in (
                ("docs/map.md", "`pit" "ch_elems`, `car" "d`\n```\nthe car" "d\n```\n"),
                ("docs/map.md", "The inner pro" "duct, --pit" "ch and x.pit" "ch_elems.\n"),
                ("src/base/good.cpp", SPDX + "// good.cpp  A title.\nint strip" " = 1;\n")):
            self.assertEqual(complaints({**GOOD, path: text}), [])

    def test_a_folder_may_have_as_many_sentences_as_were_accepted(self):
        bad = {"docs/map.md": "A vector is " "no matrix.\n"}
        for count, rules in ((0, {"sentences"}), (1, set()), (2, set())):
            table = {"gen/sentences.txt": f"# counts\n    {count} docs\n"}
            self.assertEqual({found[2] for found in complaints({**GOOD, **bad, **table})}, rules)

    def test_comments_may_name_files_of_the_tree(self):
        for name in ("base/good" ".hpp", "include/tilewright/base/good" ".hpp", "good" ".hpp",
                     "NAME/none" ".hpp", "*_none" ".hpp"):
            text = SPDX + f"// good.cpp  See {name}.\nchar const* c = \"none.hpp\";\n"
            tree = {**GOOD, "include/tilewright/base/good.hpp": header("good.hpp"),
                    "src/base/good.cpp": text}
            self.assertEqual(complaints(tree), [], name)

    def test_generated_files_may_be_long(self):
        text = SPDX + "// Generated by gen/x.py\n#pragma once\n" + "\n" * 900 + "//" + "x" * 200
        self.assertEqual(complaints({**GOOD, "include/tilewright/base/big.hpp": text}), [])

    def test_a_header_that_needs_another_is_refused(self):
        with tempfile.TemporaryDirectory() as root:
            folder = os.path.join(root, "include/tilewright/base")
            os.makedirs(folder)
            base = '#include "tilewright/base/good.hpp"\n'
            for name, body in (("good", "#include <string>\n"), ("bad", "std::string s;\n"),
                               ("more", base + "inline std::string s;\n"),
                               ("worse", base + "inline std::vector<int> s;\n")):
                with open(os.path.join(folder, name + ".hpp"), "w", encoding="utf-8") as file:
                    file.write(header(name + ".hpp", body))
            found = lint.lint_headers(root, None, None)
        self.assertEqual([path for path, *_ in found],
                         [f"include/tilewright/base/{name}.hpp" for name in ("bad", "worse")])

    def test_a_header_that_follows_the_common_one_is_refused(self):
        with tempfile.TemporaryDirectory() as root:
            for path, body in ((headers_alone.COMMON, "#include <vector>\n"),
                               ("tilewright/base/good.hpp", "inline std::vector<int> v;\n"),
                               ("tilewright/base/bad.hpp", "inline std::string s;\n")):
                os.makedirs(os.path.dirname(os.path.join(root, "include", path)), exist_ok=True)
                if path != headers_alone.COMMON:
                    body = f'#include "{headers_alone.COMMON}"\n' + body
                with open(os.path.join(root, "include", path), "w", encoding="utf-8") as file:
                    file.write(header(os.path.basename(path), body))
            found = lint.lint_headers(root, None, None)
        self.assertEqual([path for path, *_ in found], ["include/tilewright/base/bad.hpp"])

    def test_a_source_includes_headers_in_the_order_of_their_includes(self):
        below = {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"a", "b", "c"}, "e": {"x"}}
        chains = headers_alone.chains_of(below)
        self.assertEqual(sorted(sum(chains, [])), sorted(below))
        self.assertEqual(len(chains), 3)  # b and c do not include each other, e stands alone
        for chain in chains:
            for number, header in enumerate(chain):
                self.assertLessEqual(set(chain[:number]), below[header])


if __name__ == "__main__":
    unittest.main()
