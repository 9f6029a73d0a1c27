#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the performance model of a device to the trials in data/trials/DEVICE.csv.gz.

    gen/fit_model.py DEVICE [--evaluator build/bin/model_evaluator] [--from DEVICE2] [--write]
                     [--prior STRENGTH] [--section NAME] [--only-report]

Prints the regret of devices/DEVICE.json as it is and as fitted, and of two fits to one half of the
problems each for the other half. Regret: the time of the plan with the shortest predicted time over
that of the fastest plan, of those that were measured, as a geometric mean over problems.

Minimised are the differences between the logarithms of predicted and measured times, where plans
count less the slower they are than the fastest of their problem, and a difference of more than 10 %
counts linearly. STRENGTH (default 0.02) draws each constant to its value in devices/DEVICE.json (or
in that of --from, with DRAM rates scaled by the data sheets), which keeps those that the trials do
not determine. --section fits the constants of one section (gemm, types, scales, gemv) alone, to the
plans whose predicted times depend on them. Constants of early starts, L2 cache hints and tile
orders are limits, not rates: they are not fitted. --write puts the constants into
devices/DEVICE.json. Needs numpy and scipy.
"""
import argparse
import datetime
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy
import scipy.optimize

import trials as trial_file  # gen/trials.py

ROOT = pathlib.Path(__file__).resolve().parent.parent
FITTED = ["gemm", "types", "scales", "gemv"]  # sections
FIXED = {"gemm.kept_operand_bytes", "gemm.clock_ghz",  # a limit; a scale of all others
         "types.fp8", "types.int8", "types.tf32", "types.f16_sums",  # rates of wgmma alone
         "scales.amax_clocks", "scales.division_clocks", "scales.launch_us"}  # in no trial
HALF_WEIGHT = 0.15  # a plan that is slower by so much counts half
LINEAR = 0.1


class Model:
    """The C++ model: predicted times of the trials for any constants."""

    def __init__(self, evaluator, device, trials, constants):
        with tempfile.NamedTemporaryFile("w", suffix=".tsv") as lines:
            for problem, kernel, swapped, shared, sharers in trials:
                lines.write(f"{problem}\t{kernel}\t{swapped}\t{shared}\t{sharers}\n")
            lines.flush()
            self.process = subprocess.Popen([evaluator, device, lines.name, str(constants)],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.known = numpy.frombuffer(self.read(len(trials)), dtype=numpy.uint8) == 1

    def read(self, size):
        data = self.process.stdout.read(size)
        if len(data) != size:
            raise SystemExit("fit_model.py: the evaluator has ended; its message is above")
        return data

    def us(self, constants):
        self.process.stdin.write(struct.pack(f"<{len(constants)}d", *constants))
        self.process.stdin.flush()
        return numpy.frombuffer(self.read(8 * int(self.known.sum())))


class Trials:
    """Measured times, and where the plans of each problem are."""

    def __init__(self, keys, us):
        self.us = us
        names = {}
        self.problem = numpy.array([names.setdefault(k[0], len(names)) for k in keys])
        self.names = list(names)
        best = numpy.full(len(names), numpy.inf)
        numpy.minimum.at(best, self.problem, us)
        self.best = best
        slower = us / best[self.problem] - 1
        self.weight = 1 / (1 + slower / HALF_WEIGHT)

    def planned(self, predicted):
        """Of each problem: the plan that is predicted to be fastest."""
        order = numpy.lexsort((predicted, self.problem))
        return order[numpy.unique(self.problem[order], return_index=True)[1]]

    def regrets(self, predicted):
        """Of each problem: time of the planned plan over the best time."""
        return self.us[self.planned(predicted)] / self.best


def mean_regret(regrets):
    return float(numpy.exp(numpy.log(regrets).mean()))


def fit(model, trials, start, free, strength, chosen):
    """Constants that fit the chosen trials; `free` are the indices of those that change."""
    count = chosen.sum()

    def constants_of(x):
        constants = start.copy()
        scale = numpy.maximum(numpy.abs(start[free]), 0.05)  # shares of power may be zero or less
        constants[free] = start[free] + x * scale
        return constants

    def residuals(x):
        error = numpy.log(numpy.maximum(model.us(constants_of(x)), 1e-3) / trials.us)[chosen]
        error = error * numpy.sqrt(trials.weight[chosen])
        return numpy.concatenate([error, strength * numpy.sqrt(count / len(free)) * x])

    found = scipy.optimize.least_squares(
        residuals, numpy.zeros(len(free)), loss="soft_l1", f_scale=LINEAR, bounds=(-0.9, 9),
        diff_step=1e-3, max_nfev=30)
    return constants_of(found.x)


def names_of(calibration):
    return [f"{section}.{field}" for section, fields in calibration.items() for field in fields]


def rounded(x):
    return float(f"{x:.3g}") if abs(x) < 1000 else float(f"{x:.4g}")


def report(title, model, trials, constants, chosen=None):
    predicted = model.us(constants)
    regrets = trials.regrets(predicted)
    of = numpy.ones(len(regrets), bool) if chosen is None else chosen
    error = numpy.log(predicted / trials.us)
    near = trials.us < 1.2 * trials.best[trials.problem]
    print(f"{title}: regret {mean_regret(regrets[of]):.4f} of {of.sum()} problems, largest "
          f"{regrets[of].max():.2f}; predicted over measured {numpy.exp(error[near].mean()):.3f}, "
          f"standard deviation {error[near].std():.3f}")
    return mean_regret(regrets[of])


def report_formats(trials, predicted):
    """Of each operand format: errors of the predicted times of the planned plans, and regret."""
    first = trials.planned(predicted)
    error = predicted[first] / trials.us[first] - 1
    formats = numpy.array([format_of(name) for name in trials.names])
    for found in sorted(set(formats)):
        of = formats == found
        print(f"  {found:24} {of.sum():4} problems: error {abs(error[of]).mean():.3f} in the mean, "
              f"{error[of].mean():+.3f} with its sign, {abs(error[of]).max():.3f} at most; regret "
              f"{mean_regret(trials.regrets(predicted)[of]):.4f}")


def format_of(problem):
    """Operand type of a problem, and rows and K of a block with a scale; K of 0 is all of it."""
    scales = re.findall(r" s[ab]=\w+,(\d+),(\d+)", problem)
    return " ".join([re.search(r" a=(\w+)", problem)[1], *("x".join(s) for s in scales)])


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("device")
    options.add_argument("--evaluator", default=str(ROOT / "build/bin/model_evaluator"))
    options.add_argument("--from", dest="source", help="device whose constants the fit starts from")
    options.add_argument("--prior", type=float, default=0.02)
    options.add_argument("--section", choices=FITTED)
    options.add_argument("--only-report", action="store_true")
    options.add_argument("--worst", type=int, default=0, help="problems to list")
    options.add_argument("--write", action="store_true")
    asked = options.parse_args()

    path = ROOT / "devices" / f"{asked.device}.json"
    source = ROOT / "devices" / f"{asked.source or asked.device}.json"
    calibration = json.loads(source.read_text(encoding="utf-8"))["calibration"]
    names = names_of(calibration)
    start = numpy.array([float(v) for fields in calibration.values() for v in fields.values()])
    of, to = (json.loads(p.read_text(encoding="utf-8")) for p in (source, path))
    dram = to["dram_gb_per_s"] / of["dram_gb_per_s"]
    start *= numpy.array([dram if "dram_bytes" in n or "copy_bytes" in n else 1 for n in names])
    free = numpy.array([i for i, name in enumerate(names)
                        if name.split(".")[0] in ([asked.section] if asked.section else FITTED)
                        and name not in FIXED])

    measured = trial_file.read(asked.device)
    keys = list(measured)
    model = Model(asked.evaluator, asked.device, keys, len(start))
    keys = [k for k, known in zip(keys, model.known) if known]
    trials = Trials(keys, numpy.array([measured[k] for k in keys]))
    print(f"{asked.device}: {len(keys)} of {len(measured)} trials have plans of this version, of "
          f"{len(trials.names)} problems")
    report("as it is", model, trials, start)
    report_formats(trials, model.us(start))
    if asked.worst:
        regrets = trials.regrets(model.us(start))
        for i in numpy.argsort(-regrets)[:asked.worst]:
            print(f"  {regrets[i]:.3f}  {trials.names[i]}")
    if asked.only_report:
        return 0

    others = start.copy()
    others[free] *= 1.1
    used = model.us(others) != model.us(start)  # plans whose time depends on free constants
    half = numpy.array([zlib.crc32(name.encode()) % 2 == 0 for name in trials.names])
    for own in (half, ~half):
        constants = fit(model, trials, start, free, asked.prior, used & own[trials.problem])
        report("fitted to the other half", model, trials, constants, ~own)
    constants = fit(model, trials, start, free, asked.prior, used)
    constants[free] = [rounded(x) for x in constants[free]]
    regret = report("fitted", model, trials, constants)
    for name, was, now in zip(names, start, constants):
        if was != now:
            print(f"  {name:42} {was:>12.5g} {now:>12.5g}")
    if not asked.write:
        return 0
    record = json.loads(path.read_text(encoding="utf-8"))
    record.pop("like", None)
    new = dict(zip(names, constants.tolist()))
    record["calibration"] = {
        section: {field: was if new[f"{section}.{field}"] == was else new[f"{section}.{field}"]
                  for field, was in fields.items()}
        for section, fields in calibration.items()}
    record["calibration_note"] = (
        f"fitted {datetime.date.today()} to {len(keys)} plans of {len(trials.names)} problems in "
        f"data/trials/{asked.device}.csv.gz; regret {regret:.3f}")
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
