# SPDX-License-Identifier: Apache-2.0
"""tuning_test.py  gen/tuning.py and gen/devices.py refuse files that cannot be embedded."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["TW_SOURCE_DIR"])
sys.path.insert(0, str(ROOT / "gen"))
sys.dont_write_bytecode = True
import devices  # noqa: E402
import tuning  # noqa: E402

NAMES = tuning.launched_names()
KERNEL = "sm90_bf16_bf16_tn_128x128x64_1x1_s6"
ROW = {"m": "64", "n": "256", "k": "512", "batch": "1", "ab": "bf16", "d": "bf16", "layout": "TN",
       "scales": "", "promote": "", "kernel": KERNEL, "shared_tiles": "0", "sharers": "0",
       "us": "7.01", "start": "early"}


def table(folder, *rows, columns=tuning.COLUMNS):
    path = pathlib.Path(folder) / "h200.csv"
    lines = [",".join(columns)] + [",".join(r[c] for c in columns) for r in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class Tables(unittest.TestCase):
    def refused(self, text, *rows, columns=tuning.COLUMNS):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(tuning.Wrong, text):
                tuning.read(table(folder, *rows, columns=columns), NAMES)

    def test_a_good_table_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = tuning.read(table(folder, ROW, {**ROW, "n": "257", "start": ""}), NAMES)
        self.assertEqual([r["n"] for r in rows], ["256", "257"])

    def test_unknown_kernels_are_refused_with_their_line(self):
        self.refused(r"h200.csv:3: unknown kernel 'sm90_x'", ROW,
                     {**ROW, "n": "257", "kernel": "sm90_x"})
        # A number of columns that no launch chooses.
        self.refused("unknown kernel", {**ROW, "kernel": KERNEL.replace("128x128", "128x120")})

    def test_a_kernel_of_other_types_is_refused(self):
        self.refused("is not for bf16 to f32", {**ROW, "d": "f32"})

    def test_order_and_repetition_are_refused(self):
        self.refused("twice or out of order", ROW, ROW)
        self.refused("twice or out of order", {**ROW, "m": "65"}, ROW)

    def test_wrong_cells_are_refused(self):
        for column, cell in (("m", "0"), ("m", "-1"), ("k", "1.5"), ("layout", "TX"),
                             ("scales", "row"), ("scales", "row:all"), ("promote", "128"),
                             ("us", "0"), ("us", "fast"), ("start", "soon"), ("sharers", "")):
            with self.subTest(column=column, cell=cell):
                self.refused("h200.csv:2: ", {**ROW, column: cell})

    def test_other_columns_are_refused(self):
        self.refused("columns are not", ROW, columns=tuning.COLUMNS[::-1])

    def test_launches_choose_columns(self):
        narrow = [n for n in NAMES if "_dm_256x184x64" in n]
        self.assertTrue(narrow)
        self.assertEqual(tuning.f16_twin(ROW, NAMES), KERNEL.replace("bf16", "f16"))
        self.assertEqual(tuning.f16_twin({**ROW, "kernel": narrow[0]}, NAMES), "")

    def test_a_table_without_a_device_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            table(folder, ROW)
            (pathlib.Path(folder) / "a.json").write_text(
                '{"tuning_table": "", "fallback_tuning_table": ""}', encoding="utf-8")
            out = pathlib.Path(folder) / "out.cpp"
            with self.assertRaisesRegex(tuning.Wrong, "is the tuning table of no device"):
                tuning.embed(out, pathlib.Path(folder), pathlib.Path(folder))
            (pathlib.Path(folder) / "a.json").write_text(
                '{"tuning_table": "h201", "fallback_tuning_table": "h200"}', encoding="utf-8")
            with self.assertRaisesRegex(tuning.Wrong, "has the tuning table h201"):
                tuning.embed(out, pathlib.Path(folder), pathlib.Path(folder))
            self.assertFalse(out.exists())

    def test_exported_rows_of_a_device_are_added(self):
        with tempfile.TemporaryDirectory() as folder:
            exported = pathlib.Path(folder) / "export.csv"
            rows = [{**ROW, "device": "NVIDIA H200", "m": "63"},
                    {**ROW, "device": "NVIDIA H200", "us": "6.00"},
                    {**ROW, "device": "NVIDIA A100", "us": "1.00"}]
            columns = ["device", *tuning.COLUMNS]
            exported.write_text("\n".join(",".join(r[c] for c in columns) for r in
                                          [dict(zip(columns, columns)), *rows]) + "\n")
            table(folder, ROW)
            tuning.FOLDER = pathlib.Path(folder)
            with contextlib.redirect_stdout(io.StringIO()):
                tuning.add("h200", [exported])
            found = tuning.read(pathlib.Path(folder) / "h200.csv", NAMES)
        self.assertEqual([(r["m"], r["us"]) for r in found], [("63", "7.01"), ("64", "6.00")])


class Devices(unittest.TestCase):
    RECORD = json.loads((ROOT / "devices/h200.json").read_text(encoding="utf-8"))

    def refused(self, text, record, name="h200"):
        with tempfile.TemporaryDirectory() as folder:
            content = record if isinstance(record, str) else json.dumps(record)
            (pathlib.Path(folder) / f"{name}.json").write_text(content, encoding="utf-8")
            with self.assertRaisesRegex(devices.Wrong, text):
                devices.read(pathlib.Path(folder))

    def test_missing_and_unknown_keys_are_refused(self):
        for key in devices.FACTS:
            with self.subTest(key=key):
                self.refused(f"keys are missing: {key}",
                             {k: v for k, v in self.RECORD.items() if k != key})
        self.refused("keys are unknown: sms", {**self.RECORD, "sms": 1})
        self.refused("keys are unknown: like", {**self.RECORD, "like": "h100"})

    def test_wrong_values_are_refused(self):
        for key, value in (("sm_count", 0), ("sm_count", 1.5), ("l2_bytes", "50 MB"),
                           ("dram_gb_per_s", -1), ("name", 7), ("cuda_names", [])):
            with self.subTest(key=key):
                self.refused(f"{key}: ", {**self.RECORD, key: value})
        self.refused("gemm.launch_us: got None",
                     {**self.RECORD, "calibration": {"gemm": {"launch_us": None}}})

    def test_keys_and_names_are_there_once(self):
        self.refused("'name' is there twice", '{"name": "a", "name": "b"}')
        like = {k: v for k, v in self.RECORD.items() if k != "calibration"}
        self.refused("like 'h201', which is no device", {**like, "like": "h201"})

    def test_a_field_that_a_section_lacks_does_not_compile(self):
        text = devices.text_of(devices.read(ROOT / "devices"))
        fields = len(self.RECORD["calibration"]["gemm"])
        self.assertIn(f"sizeof(calibration::gemm) == {fields} * sizeof(double)", text)


if __name__ == "__main__":
    unittest.main()
