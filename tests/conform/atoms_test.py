# SPDX-License-Identifier: Apache-2.0
"""atoms_test.py  Every row of atoms.jsonl.gz, as a query to `tilewright layout --jsonl`.

A question is the row's input fields; every other field of the row must come back: the same text
after normalising, or a layout that is the same function with a compatible profile (its offsets, or
their CRC, stand beside it). Prints the counts per op; any other difference is a failure.
"""
import collections
import gzip
import json
import os
import re
import subprocess
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
COMMAND = [os.environ["TW_COMMAND"], "layout", "--jsonl"]
COMMON_INPUTS = {"id", "op", "name"}
INPUTS = {"copy_atom_val": {"bits"}, "smem_atom": {"bits"},
          "smem_tile_to_shape": {"bits", "shape", "order"}, "gmma_desc": {"bits", "shape"},
          "umma_desc": {"bits", "shape"}, "tiled_mma_partition": {"thr", "tA", "tB", "tC"},
          "tiled_copy_partition": {"thr", "tensor"},
          "tma_params": {"bits", "gmem", "smem", "tiler"}}
IGNORED = {"cute_name"}  # the original spelling, for reference only


def ask(questions):
    text = "\n".join(json.dumps(q) for q in questions)
    done = subprocess.run(COMMAND, input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def normal(text):
    return re.sub(r"_(?=\d)", "", text).replace(" ", "") if isinstance(text, str) else text


def tree(text):
    """"(4,(2,1))" as nested tuples; a tuple of one is its element."""
    value = eval(re.sub(r"_(?=\d)", "", text), {"__builtins__": {}})  # digits, commas, parentheses
    def without_singles(t):
        if not isinstance(t, tuple):
            return t
        return without_singles(t[0]) if len(t) == 1 else tuple(map(without_singles, t))
    return without_singles(value)


def size(t):
    product = 1
    for leaf in [t] if isinstance(t, int) else map(size, t):
        product *= leaf
    return product


def compatible(a, b):
    """Coordinates of a are coordinates of b."""
    if isinstance(a, int):
        return a == size(b)
    return isinstance(b, tuple) and len(a) == len(b) and all(map(compatible, a, b))


def shape_of(text):
    found = re.fullmatch(r"(?:Sw<[^>]*> o -?\d+ o )?([\d,()_ ]+):[-\d,()_ @]+", text)
    return tree(found[1]) if found else None


def same_function(row, answer, field):
    """The layouts differ in text, their offsets do not, and one's coordinates are the other's."""
    beside = [field + suffix for suffix in ("_offs", "_n", "_crc32") if field + suffix in row]
    known = field + "_offs" in row or field + "_crc32" in row
    if not known or any(row[b] != answer.get(b) for b in beside):
        return False
    theirs, ours = shape_of(row[field]), shape_of(answer[field])
    if theirs is None or ours is None:
        return False
    return compatible(ours, theirs) or compatible(theirs, ours)


def differences(row, answer, inputs):
    """(fields that differ, fields that are the same function with another text)"""
    wrong, other_text = [], []
    for field, value in row.items():
        if field in inputs or field in IGNORED or normal(value) == normal(answer.get(field)):
            continue
        is_layout = isinstance(value, str) and isinstance(answer.get(field), str)
        (other_text if is_layout and same_function(row, answer, field) else wrong).append(field)
    return wrong, other_text


class Atoms(unittest.TestCase):
    def test_every_row(self):
        with gzip.open(os.path.join(HERE, "atoms.jsonl.gz"), "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.assertGreater(len(rows), 600)
        inputs = [COMMON_INPUTS | INPUTS.get(row["op"], set()) for row in rows]
        answers = ask({k: row[k] for k in row if k in keep} for row, keep in zip(rows, inputs))
        self.assertEqual(len(answers), len(rows))
        counts = collections.defaultdict(collections.Counter)
        failures = []
        for row, answer, keep in zip(rows, answers, inputs):
            self.assertEqual(answer["id"], row["id"])
            self.assertGreater(len(set(row) - keep - IGNORED), 0, "a row has a query")
            wrong, other_text = differences(row, answer, keep)
            counts[row["op"]]["rows"] += 1
            counts[row["op"]]["text" if not wrong and not other_text
                              else "function" if not wrong else "differs"] += 1
            if wrong:
                failures.append(f"{row['id']} {row['op']} {row['name']}: " + "; ".join(
                    f"{f} theirs {str(row[f])[:120]} ours {str(answer.get(f))[:120]}"
                    for f in wrong) + f" {answer.get('error', '')}")
        print(f"{'op':24} {'rows':>5} {'text':>5} {'function':>9} {'differs':>8}")
        total = collections.Counter()
        for op, c in counts.items():
            print(f"{op:24} {c['rows']:5} {c['text']:5} {c['function']:9} {c['differs']:8}")
            total += c
        print(f"{'all':24} {total['rows']:5} {total['text']:5} {total['function']:9} "
              f"{total['differs']:8}", flush=True)
        self.assertEqual(failures, [], f"{len(failures)} rows differ:\n" + "\n".join(failures))

    def test_the_comparison_can_fail(self):
        row = {"X": "(2,3):(1,2)", "X_offs": [0, 1, 2, 3, 4, 5], "n": 6}
        self.assertEqual(differences(row, dict(row), set()), ([], []))
        merged = {"X": "6:1", "X_offs": [0, 1, 2, 3, 4, 5], "n": 6}
        self.assertEqual(differences(row, merged, set()), ([], ["X"]))
        for wrong in ({**merged, "X_offs": [0, 1, 2, 3, 5, 4]}, {**merged, "X": "(3,2):(1,3)"},
                      {**row, "n": 7}, {"error": {"code": "TW0210"}}):
            self.assertNotEqual(differences(row, wrong, set())[0], [])

    def test_what_is_refused(self):
        """Names that mean nothing and questions that lack a field have a code."""
        c_of = "tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1))"
        expected = {
            "TW0210": {"op": "mma_atom", "name": "SM80_16x8x16_F32F16F16F32_XY"},
            "TW0211": {"op": "mma_atom", "name": "SM90_64x100x16_F32F16F16_SS"},
            "TW0212": {"op": "mma_atom", "name": "mma.sm90.m64n96k16"},
            "TW0214": {"op": "tiled_mma", "name": c_of.replace("(2,2,1)", "(2,2,1,1)")},
            "TW0217": {"op": "tiled_mma_partition", "name": c_of, "thr": 128, "tA": "(32,16)",
                       "tB": "(16,16)", "tC": "(32,16)"},
            "TW0218": {"op": "tmem_frg", "name": "1sm f32 ((96,64),1,1)"},
            "TW0220": {"op": "tiled_mma", "name": "SM80_16x8x16_F32F16F16F32_TN"},
            "TW0221": {"op": "tiled_mma_partition", "name": c_of, "thr": "5"},
            "TW0222": {"op": "umma_idesc", "name": "f16,f16,f32,M128,N64"},
            "TW0119": {"op": "no_such_op", "name": "SM80_16x8x16_F32F16F16F32_TN"},
            "TW0121": {"op": "composition", "name": "(4,8):(8,1)"}}
        answers = ask([{"id": code, **question} for code, question in expected.items()])
        for code, answer in zip(expected, answers):
            with self.subTest(code=code):
                self.assertEqual(answer["id"], code)
                self.assertEqual(answer.get("error", {}).get("code"), code)
        for question in ({"op": "tmem_frg", "name": "3sm f32 ((64,64),1,1)"},
                         {"op": "tmem_frg", "name": ""}, {"op": "umma_idesc", "name": ""}):
            self.assertEqual(ask([question])[0]["error"]["code"], "TW0222")


if __name__ == "__main__":
    unittest.main()
