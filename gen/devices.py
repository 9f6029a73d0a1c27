#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the C++ source that embeds devices/*.json; the build runs it.

    gen/devices.py --out FILE [--folder devices]

A file describes one GPU; its name is the device's id. Its keys are exactly FACTS and one of
  "calibration": {section: {field: number}}, measured on it; the sections and fields are those of
                 include/tilewright/device/calibration.hpp, which the compiler checks;
  "like": the id of the device whose calibration is scaled by the facts.
Anything else is an error, which ends the build.
"""
import argparse
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INTEGERS = ["compute_capability", "sm_count", "sms_per_gpc", "sms_in_clusters_of_3",
            "sms_in_clusters_of_4", "max_smem_bytes_per_cta", "smem_bytes_per_clock",
            "mma_flop_per_clock", "l2_bytes"]
NUMBERS = ["max_clock_mhz", "dram_gb_per_s", "wgmma_ceiling_tflops", "dram_ceiling_gb_per_s"]
TEXTS = ["calibration_note", "tuning_table", "fallback_tuning_table"]
FACTS = ["name", "cuda_names", *INTEGERS, *NUMBERS, *TEXTS]


class Wrong(Exception):
    """A file that cannot be embedded, and why."""


def no_duplicates(pairs):
    found = {}
    for key, value in pairs:
        if key in found:
            raise Wrong(f"key {key!r} is there twice")
        found[key] = value
    return found


def checked(record):
    keys, calibrated = set(record), "calibration" in record
    needed = {*FACTS, "calibration" if calibrated else "like"}
    if missing := sorted(needed - keys):
        raise Wrong(f"keys are missing: {', '.join(missing)}")
    if unknown := sorted(keys - needed):
        raise Wrong(f"keys are unknown: {', '.join(unknown)}")
    for key in INTEGERS:
        if type(record[key]) is not int or record[key] < 1:
            raise Wrong(f"{key}: got {record[key]!r}, need a positive integer")
    for key in NUMBERS:
        if type(record[key]) not in (int, float) or not record[key] > 0:
            raise Wrong(f"{key}: got {record[key]!r}, need a positive number")
    for key in ("name", *TEXTS):
        if type(record[key]) is not str:
            raise Wrong(f"{key}: got {record[key]!r}, need a text")
    if type(record["cuda_names"]) is not list or not record["cuda_names"]:
        raise Wrong("cuda_names: need a list of the names that CUDA reports")
    for section, fields in record.get("calibration", {}).items():
        for field, value in fields.items():
            if type(value) not in (int, float) or not math.isfinite(value):
                raise Wrong(f"calibration.{section}.{field}: got {value!r}, need a number")
    return record


def read(folder):
    """{id: record} of all files, checked."""
    devices = {}
    for path in sorted(folder.glob("*.json")):
        try:
            devices[path.stem] = checked(json.loads(path.read_text(encoding="utf-8"),
                                                    object_pairs_hook=no_duplicates))
        except (Wrong, json.JSONDecodeError) as error:
            raise Wrong(f"{path}: {error}") from None
    for name, record in devices.items():
        like = record.get("like")
        if like is not None and "calibration" not in devices.get(like, {}):
            raise Wrong(f"{name}: like {like!r}, which is no device with a calibration")
    names = [n for record in devices.values() for n in record["cuda_names"]]
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise Wrong(f"two devices have the name {twice[0]!r}")
    if not devices:
        raise Wrong(f"{folder}: no *.json")
    return devices


def quoted(text):
    return json.dumps(text)  # the escapes of ASCII JSON are C++'s too


def number(x):
    return repr(float(x)) if type(x) is float else str(x)


def one(device_id, record):
    facts = [f".id = {quoted(device_id)}", f".name = {quoted(record['name'])}"]
    facts += [f".{key} = {number(record[key])}" for key in (*INTEGERS, *NUMBERS)]
    for key in TEXTS:
        facts.append(f".{key} = {quoted(record[key])}")
    text = "    {.facts = {" + ",\n               ".join(facts) + "},\n"
    text += "     .cuda_names = {" + ", ".join(map(quoted, record["cuda_names"])) + "},\n"
    if "like" in record:
        return text + f"     .like = {quoted(record['like'])}}},\n"
    return text + f"     .calibration = calibration_of_{device_id}}},\n"


def calibration_text(device_id, record):
    sections = [
        f"    .{section} = {{"
        + ",\n        ".join(f".{field} = {number(value)}" for field, value in fields.items())
        + "}" for section, fields in record["calibration"].items()]
    checks = "".join(
        f"static_assert(sizeof(calibration::{section}) == {len(fields)} * sizeof(double),\n"
        f"              \"devices/{device_id}.json: calibration.{section} lacks a field\");\n"
        for section, fields in record["calibration"].items())
    return (f"constexpr calibration calibration_of_{device_id}{{\n" + ",\n".join(sections) + "};\n"
            + checks)


def text_of(devices):
    calibrated = [(n, r) for n, r in devices.items() if "calibration" in r]
    scaled = [(n, r) for n, r in devices.items() if "calibration" not in r]
    return ("// Generated by gen/devices.py from devices/*.json\n"
            '#include "device/embedded.hpp"\n\n'
            '#pragma GCC diagnostic error "-Wmissing-field-initializers"\n\n'
            "namespace tw {\nnamespace {\n\n"
            + "\n".join(calibration_text(n, r) for n, r in calibrated)
            + "\n}  // namespace\n\n"
            "std::vector<embedded_device> embedded_devices() {\n  return {\n"
            + "".join(one(n, r) for n, r in calibrated + scaled)
            + "  };\n}\n\n}  // namespace tw\n")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--folder", type=pathlib.Path, default=ROOT / "devices")
    options.add_argument("--out", type=pathlib.Path, required=True)
    asked = options.parse_args()
    try:
        asked.out.write_text(text_of(read(asked.folder)), encoding="utf-8")
    except Wrong as error:
        print(f"devices.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
