#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""command_lines_test.py  Random command lines of gemm, quantize and plan, with every option that
their help lists, on files of every type and weights of checkpoints: each ends with 0, 1 or 2, and
with a code if it was refused. No kernel of the library breaks a rule, no check fails, and a refused
run writes nothing.

  command_lines_test.py [ROUNDS [FIRST]]   so many command lines (default 60), from this one on
  TW_FUZZ_SECONDS, TW_FUZZ_SEED            as of the other tests of this folder

A finding is printed with its command line, and its files are kept: FIRST repeats it."""
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
# pylint: disable=wrong-import-position
from checkpoint_files import npy_content, safetensors_content  # noqa: E402

COMMAND = os.environ["TW_COMMAND"]
HANG_S = 1800
BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8,
        "s32": 32, "ue8m0": 8, "ue4m3": 8, "e2m1": 8}
DESCR = {"f16": "<f2", "bf16": "<V2", "f32": "<f4", "f64": "<f8", "e4m3": "<V1", "e5m2": "<f1",
         "s8": "|i1", "u8": "|u1", "s32": "<i4", "ue8m0": "<V1", "ue4m3": "<V1", "e2m1": "<V1"}
DTYPE = {"f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64", "e4m3": "F8_E4M3",
         "e5m2": "F8_E5M2", "s8": "I8", "u8": "U8", "s32": "I32", "ue8m0": "F8_E8M0",
         "ue4m3": "F8_E4M3"}
FLOATS = ("f32",) * 6 + ("bf16", "f16", "f64")  # types of scales and vectors
BLOCK = {"mxfp8": 32, "mxfp4": 32, "nvfp4": 16}
# Of each layout of `quantize --checkpoint` the types and scales that it has.
LAYOUTS = {"deepseek": (("e4m3", "128x128"),),
           "modelopt": (("e4m3", "tensor"), ("e4m3", "128x128"), ("nvfp4", "")),
           "compressed-tensors": (("e4m3", "tensor"), ("e4m3", "row"), ("e4m3", "128x128"),
                                  ("s8", "tensor"), ("s8", "row"), ("nvfp4", ""), ("mxfp4", ""))}
NUMBERS = {"f16": (0, 0x3C00, 0xBC00, 0x3800, 0x4200), "bf16": (0, 0x3F80, 0xBF80, 0x3F00, 0x4040),
           "f32": (0, 0x3F800000, 0xBF800000, 0x3F000000, 0x3DCCCCCD),
           "f64": (0, 0x3FF << 52, 0xBFF << 52, 0x3FE << 52, 0x3FB999999999999A),
           "e4m3": (0, 0x38, 0xB8, 0x30, 0x45), "e5m2": (0, 0x3C, 0xBC, 0x38, 0x42),
           "s8": (0, 1, 255, 7, 100), "u8": (0, 1, 255, 7, 100), "s32": (0, 1, 2**32 - 1, 7, 2**30),
           "ue8m0": (126, 127, 128, 120), "ue4m3": (0x38, 0x30, 0x45, 0x28),
           "e2m1": (0, 2, 10, 1, 5)}
SPECIAL = {"f16": (0x7C00, 0xFC00, 0x7E00, 0x7BFF, 1, 0x8000),
           "bf16": (0x7F80, 0xFF80, 0x7FC0, 0x7F7F, 1, 0x8000),
           "f32": (0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 1, 1 << 31),
           "f64": (0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0x7FF << 52) - 1, 1, 1 << 63),
           "e4m3": (0x7E, 0xFE, 0x7F, 1, 0x80), "e5m2": (0x7C, 0xFC, 0x7E, 0x7B, 1, 0x80),
           "s8": (127, 128), "u8": (255,), "s32": (2**31 - 1, 2**31), "ue8m0": (0, 254, 255),
           "ue4m3": (0, 0x7E, 0x7F, 0xB8), "e2m1": (7, 15, 8)}
WORDS = ("", "0", "1", "-1", "0.5", "1e30", "nan", "inf", "-inf", "1e-46", "1e400", "x", "row",
         "linear", "-", "--", "a b", "'", "\udcff", "\u00b5", "absent.npy", "no/such/d.npy")
EXTENTS = (1, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127, 128, 129, 160,
           200, 256, 257)


def options_of(verb):
    """Each option of the verb's help, and what follows it there: "" of a flag, "TEXT", "FLOAT" or
    "{word,word}"."""
    text = subprocess.run([COMMAND, verb, "--help"], capture_output=True, text=True,
                          check=True).stdout.split("Options:")[1]
    found = {}
    for names, rest in re.findall(r"^  (-\S+)((?:\s+(?:TEXT|FLOAT|INT|UINT|\{)\S*(?:\n      \S+,?)*"
                                  r"(?:\n      \S+\})?)?)", text, re.M):
        name = [x for x in names.split(",") if x.startswith("--")] or [names]
        found[name[0]] = re.sub(r"\s", "", rest)
    return found


class Line:
    """One command line and its files, all from one seed."""

    def __init__(self, seed, folder, verbs):
        self.rng = random.Random(seed)
        self.folder = folder
        self.files = 0
        self.verbs = verbs
        self.outputs = []

    def maybe(self, chance):
        return self.rng.random() < chance

    def any_of(self, items):
        return self.rng.choice(list(items))

    def path(self, name):
        """A file name, now and then one that is no UTF-8 or has a blank."""
        odd = self.any_of(("\udcff", " ", "\u00e4", ":", "%s")) if self.maybe(0.04) else ""
        return os.path.join(self.folder, odd + name)

    def output(self, name):
        kind = self.any_of((".npy",) * 20 + (".safetensors:y", ".safetensors", "", ".txt"))
        self.outputs.append(self.path(name + kind))
        return self.outputs[-1]

    def bytes_of(self, kind, count):
        pool = NUMBERS[kind] * 8 + (SPECIAL[kind] if self.maybe(0.12) else ())
        width = BITS[kind] // 8
        return b"".join(x.to_bytes(width, "little") for x in self.rng.choices(pool, k=count))

    def array(self, kind, shape, name=None):
        """A file with such an array: .npy in either order, or .safetensors."""
        if self.maybe(0.03):
            shape = tuple(max(0, x + self.any_of((-1, 1))) for x in shape)
        if self.maybe(0.02) and len(shape) > 1:
            shape = shape[::-1]
        count = 1
        for x in shape:
            count *= x
        self.files += 1
        path = self.path(name or f"in{self.files}")
        data = self.bytes_of(kind, count)
        if kind in DTYPE and self.maybe(0.2):
            name, parts = self.any_of(("", ":t")), 1
            if self.maybe(0.25):  # one of three
                name, parts = f":t[{self.any_of((0, 1, 2, 2, 3))}]", 3
                shape = (parts, *shape)
            path += ".safetensors"
            content = safetensors_content({"t": (DTYPE[kind], shape, data * parts)})
            address = path + name
        else:
            fortran = len(shape) < 3 and self.maybe(0.2)
            path += ".npy"
            content = npy_content(DESCR[kind], shape, data, fortran)
            address = path
        self.write(path, content)
        return address

    def write(self, path, content):
        """Now and then less than the content."""
        if self.maybe(0.01):
            content = content[:self.rng.randrange(len(content) + 1)]
        with open(path, "wb") as file:
            file.write(content)

    def weights(self):
        """A file with a weight (N, K) of two e2m1 to a byte and its scales, as checkpoints have
        them: U8, F4 or the blocks of gpt-oss; alone, or of several experts. Returns the addresses
        of both."""
        experts = self.any_of((0, 0, 2, 3))
        lead = (experts,) if experts else ()
        dtype, name, shape = self.any_of((("U8", "w.weight", (self.n, self.k // 2)),
                                          ("U8", "w.weight_packed", (self.n, self.k // 2)),
                                          ("F4", "w.weight", (self.n, self.k)),
                                          ("U8", "w_blocks", (self.n, self.k // 32, 16))))
        blocks = -(-self.k // BLOCK[self.format])
        of_scales = "w_scales" if name == "w_blocks" else "w.weight_scale"
        kind, as_dtype = ("ue4m3", "F8_E4M3") if self.format == "nvfp4" else (
            "ue8m0", self.any_of(("U8", "F8_E8M0")))
        if self.maybe(0.05):
            shape = shape[::-1]
        count = max(1, experts)
        tensors = {name: (dtype, lead + shape, self.rng.randbytes(
                       count * self.n * (self.k // 32 * 16 if len(shape) == 3 else self.k // 2))),
                   of_scales: (as_dtype, lead + (self.n, blocks),
                               self.bytes_of(kind, count * self.n * blocks))}
        self.files += 1
        path = self.path(f"in{self.files}.safetensors")
        self.write(path, safetensors_content(tensors))
        part = f"[{self.any_of((*range(experts),) * 5 + (experts,))}]"
        if not experts or self.batch and self.maybe(0.7):
            part = ""
        return f"{path}:{name}{part}", f"{path}:{of_scales}{part}"

    def vector(self, size):
        return self.array(self.any_of(FLOATS),
                          self.any_of(((size,),) * 8 + ((1, size), (size, 1), (size + 1,), ())))

    def scales(self, outer, k):
        """Scales of an operand, as some library stores them."""
        up = lambda x, y: -(-x // y)
        block = BLOCK.get(self.format, 128)
        wide = [(), (1,), (outer,), (outer, 1), (outer, up(k, 128)), (up(k, 128), outer),
                (up(outer, 128), up(k, 128)), (outer, up(up(k, 128), 4))]
        narrow = [(outer, up(k, block)), (up(outer, 128) * 128, up(up(k, block), 4) * 4),
                  (up(outer, 128) * up(up(k, block), 4) * 512,)]
        kinds = {"nvfp4": ("ue4m3",), "": FLOATS + ("ue8m0", "ue8m0", "s32", "s32")}
        kind = self.any_of(kinds.get(self.format, ("ue8m0",)))
        if self.maybe(0.1):
            kind = self.any_of(DESCR)
        fitting = narrow if self.format else wide
        shape = self.any_of(fitting if self.maybe(0.95) else wide + narrow + [(1, outer)])
        return self.array(kind, (2,) + shape if self.batch and self.maybe(0.4) else shape)

    def number(self):
        """A file of one."""
        return self.array(self.any_of(FLOATS), self.any_of(((), (), (1,), (1, 1), (2,))))

    def value(self, option, hint):
        """A value that may fit the option; WORDS now and then."""
        if self.maybe(0.03):
            return self.any_of(WORDS)
        words = re.search(r"\{(.*?)\}", hint)
        if words:
            return self.any_of(words[1].split(","))
        if option in ("--scale-a", "--scale-b"):
            return self.scales(self.m if option == "--scale-a" else self.n, self.k)
        if option in ("--scale-a-as", "--scale-b-as", "--scale-as"):
            return self.any_of(("linear", "32x4x4") if self.format and self.maybe(0.9) else
                               ("tensor", "row", "1x128", "128x128", "torch", "cublaslt", "linear",
                                "deepgemm", "flashinfer-mn", "torch:1x128", "cublaslt:128x128",
                                "32x4x4"))
        if option in ("--scale2-a", "--scale2-b"):
            return self.any_of(("1", "0.5", "0.01", "3e-5", "3000", self.number()))
        if option in ("--scale", "--scale2"):
            return self.any_of(("0.5", "0.01", "3", self.number()))
        if option == "--scale-d":
            return self.any_of(("amax-row", "amax-1x128", "0.5", "3", self.number()))
        if option in ("--bias", "--row-scale", "--col-scale"):
            rows = option == "--row-scale" or (option == "--bias" and self.maybe(0.2))
            return self.vector(self.m if rows else self.n)
        if option in ("--add", "--residual"):
            cols = self.n // 2 if self.gated else self.n
            shape = (self.m, cols)
            return self.array(self.any_of(("f32", "bf16", "f16")),
                              (2,) + shape if self.batch and self.maybe(0.6) else shape)
        if option in ("--alpha", "--beta"):
            return self.any_of(("1", "0", "-1", "0.5", "-0.37", "2", "1e30", "1e-40"))
        if option in ("--trace", "--timeline"):
            self.outputs.append(self.path({"--trace": "t.json", "--timeline": "t.svg"}[option]))
            return self.outputs[-1]
        if option.endswith("-out") or option == "--aux":
            return self.output(option.strip("-"))
        if option == "--epilogue":
            return self.any_of(("bias", "bias_gelu", "silu", "swiglu", "swiglu:interleaved",
                                "bias_relu_aux", "residual", "rowscale_colscale", "none"))
        if option in ("--lda", "--ldb", "--ldd", "--workspace", "--sms", "--batch"):
            return str(self.any_of((0, 1, 2, 3, 64, 128, 132, 257, 4096, 1 << 31, 1 << 40)))
        if option == "--device":
            return self.any_of(("h200", "b200", "h100_sxm", "a100"))
        if hint.startswith(("INT", "UINT", "FLOAT")):
            return str(self.any_of((0, 1, 2, 3, 4, 7)))
        return self.any_of(WORDS)

    def some(self, options, chance, pairs=None):
        """Options that are chosen at random, each with a value."""
        words = []
        for option, hint in options.items():
            needed = (pairs or {}).get(option)
            usual = 0.2 if needed in words else 0.002 if needed else 0.015
            if option == "--help" or not self.maybe(chance.get(option, usual)):
                continue
            words.append(option)
            if hint:
                words.append(self.value(option, hint))
        return words

    def draw(self):
        self.m, self.n, self.k = (self.any_of(EXTENTS) for _ in range(3))
        if self.maybe(0.04):
            setattr(self, self.any_of("mnk"), 0)
        self.batch, self.gated, self.format = self.maybe(0.15), self.maybe(0.1), ""
        if self.gated and self.maybe(0.9):
            self.n = max(16, self.n // 16 * 16)
        return getattr(self, self.any_of(("gemm",) * 12 + ("packed",) * 3 + ("quantize",) * 5 +
                                         ("plan",) * 3))()

    def gemm(self):
        options = dict(self.verbs["gemm"])
        kind = self.any_of(("wide", "wide", "fp8", "fp8", "s8", "scaled", "scaled", "scaling",
                            "blocks", "blocks", "wide blocks"))
        wide = ("bf16", "f16", "f32", "f64")
        types = {"wide": wide, "fp8": ("e4m3", "e5m2"), "s8": ("s8", "u8"),
                 "scaled": ("e4m3", "e4m3", "e5m2", "s8", "bf16"), "scaling": wide,
                 "blocks": ("e2m1",), "wide blocks": wide}[kind]
        if "blocks" in kind:
            self.format = self.any_of(("mxfp8", "mxfp4", "nvfp4"))
            types = ("e4m3", "e5m2") if types == ("e2m1",) and self.format == "mxfp8" else types
            self.k += self.k % 2 if self.maybe(0.9) else 0
        a, b = self.any_of(types), self.any_of(types)
        if self.maybe(0.8):
            b = a
        words, chance = [], {"--check": 0.4, "--json": 0.3, "--out-dtype": 0.25, "--alpha": 0.1,
                             "--family": 0.05, "--arch": 0.15, "--bias": 0.1, "--activation": 0.1,
                             "--scale-d": 0.08, "--hazards": 0.05}
        for option in ("--output", "--batch", "--gate", "--transpose-a", "--transpose-b",
                       "--device"):
            options.pop(option)
        # Options that another one is needed for come with it, but for a few.
        pairs = {"--scale-a-as": "--scale-a", "--scale-b-as": "--scale-b", "--bias-along": "--bias",
                 "--scale-d-type": "--scale-d", "--scale-d-power-of-two": "--scale-d",
                 "--scale-d-as": "--scale-d", "--scale-d-out": "--scale-d",
                 "--scale2-a-as": "--scale2-a", "--scale2-b-as": "--scale2-b"}
        if kind == "scaled":
            chance.update({"--scale-a": 0.9, "--scale-b": 0.8, "--scale-a-as": 0.3,
                           "--scale-b-as": 0.3, "--dtype": 0.1, "--dtype-b": 0.05})
        if kind == "scaling":
            chance.update({"--scaling-a": 0.8, "--scaling-b": 0.8, "--dtype": 0.5})
        if "blocks" in kind:
            chance.update({"--dtype": 0.0})
            words += ["--dtype", self.format]
            if self.maybe(0.85):
                options.pop("--arch")
                words += ["--arch", "sm100"]
        if kind == "blocks":
            second = 0.95 if self.format == "nvfp4" else 0.02
            chance.update({"--scale-a": 0.97, "--scale-b": 0.97, "--scale-a-as": 0.1,
                           "--scale-b-as": 0.1, "--scale2-a": second, "--scale2-b": second})
        shape_a, shape_b = (self.m, self.k), (self.k, self.n)
        for which, shape in (("a", shape_a), ("b", shape_b)):
            if self.maybe(0.3 if which == "a" else 0.6):
                words.append("--transpose-" + which)
                shape = shape[::-1]
            if self.batch and self.maybe(0.8):
                shape = (2,) + shape
            if which == "a":
                shape_a = shape
            else:
                shape_b = shape
        if self.batch:
            words.append("--batch")
        if self.gated:
            words += ["--gate", self.value("--gate", self.verbs["gemm"]["--gate"])]
        device = "emu" if self.maybe(0.97) else self.any_of(("auto", "gpu"))
        return (["gemm", self.array(a, shape_a), self.array(b, shape_b), "-o", self.output("d"),
                 "--device", device] + words + self.some(options, chance, pairs))

    def packed(self):
        """gemm with a weight of a checkpoint, two e2m1 to a byte."""
        options = dict(self.verbs["gemm"])
        self.format, self.gated = self.any_of(("mxfp4", "nvfp4")), False
        self.k = max(32, self.k // 32 * 32) if self.maybe(0.9) else self.k
        weight, scale = self.weights()
        x = self.array(self.any_of(("f32", "bf16", "f16", "f64")), (self.m, self.k))
        words = ["--transpose-b", "--scale-b", scale] + (["--batch"] if self.batch else [])
        if self.maybe(0.93):
            words += ["--dtype", self.format, "--arch", "sm100"]
        if self.maybe(0.8):
            words += ["--scale-b-as", "linear"]
        if self.maybe(0.95) == (self.format == "nvfp4"):
            words += ["--scale2-b", self.value("--scale2-b", "TEXT")]
            if self.maybe(0.4):
                words += ["--scale2-b-as", self.any_of(("scale", "reciprocal"))]
        for option in ("--output", "--device", "--gate", "--transpose-a", "--transpose-b",
                       "--batch", "--arch", "--dtype", "--scale-b", "--scale-b-as", "--scale2-b",
                       "--scale2-b-as"):
            options.pop(option)
        chance = {"--check": 0.4, "--json": 0.3, "--out-dtype": 0.25, "--scale2-a": 0.2,
                  "--scale-d": 0.08, "--bias": 0.1}
        return (["gemm", x, weight, "-o", self.output("d"), "--device", "emu"] + words +
                self.some(options, chance, {"--scale2-a-as": "--scale2-a"}))

    def quantize(self):
        self.batch = False
        options = dict(self.verbs["quantize"])
        options.pop("--output")
        to, words = self.value("--to", options.pop("--to")), []
        out, scaling = self.output("q"), ""
        if self.maybe(0.35):
            layout = self.any_of(LAYOUTS)
            words = ["--checkpoint", layout]
            options.pop("--checkpoint")
            if self.maybe(0.85):
                to, scaling = self.any_of(LAYOUTS[layout])
            if self.maybe(0.95):
                out = self.path("q.safetensors:y.weight")
                self.outputs.append(out)
        if scaling:
            words += ["--scaling", scaling]
            options.pop("--scaling")
        chance = {"--operand": 0.4, "--json": 0.3}
        if to in BLOCK:
            second = 0.3 if to == "nvfp4" else 0.01
            chance.update({"--scale-order": 0.3, "--scale2-out": second, "--scale2": second})
        else:
            chance.update({"--scaling": 0.95, "--scale-as": 0.2, "--scale-type": 0.2,
                           "--power-of-two": 0.3, "--scale": 0.1})
        if "--checkpoint" in words:
            chance.update({"--scale-as": 0.02, "--scale-order": 0.02, "--scale2-out": 0.02,
                           "--operand": 0.05, "--scaling": 0.02, "--scale-type": 0.05})
        return (["quantize", self.array(self.any_of(("f32", "f32", "bf16", "f16", "f64", "e4m3")),
                                        (self.m, self.k)),
                 out, "--to", to] + words + self.some(options, chance, {"--scale2-as": "--scale2"}))

    def plan(self):
        sizes = (1, 2, 3, 16, 64, 100, 4096, 65535, 2147483135, 2147483647, 1 << 40, 0, -1)
        return (["plan", *(str(self.any_of(sizes[:-5] if self.maybe(0.8) else sizes))
                           for _ in range(3))] + self.some(self.verbs["plan"],
                                                           {"--dtype": 0.5, "--out-dtype": 0.3,
                                                            "--json": 0.3, "--epilogue": 0.2,
                                                            "--device": 0.3, "--scale-d": 0.1}))


def complaint_about(line, words, done):
    """The fault in how the command ended, or ""."""
    out, err = done.stdout, done.stderr
    allowed = (0, 1, 2) if "gpu" not in words else (0, 1, 2, 77)
    if done.returncode not in allowed:
        return f"status {done.returncode}"
    for name, text in (("stdout", out), ("stderr", err)):
        try:
            text.decode()
        except UnicodeDecodeError:
            if name == "stderr" or "-" not in words:
                return f"{name} is no UTF-8"
    text = err.decode(errors="replace")
    if done.returncode == 2 and not re.search(r"tilewright: TW\d{4}: ", text):
        return "refused without a code"
    if done.returncode == 1 and "the check could judge too few elements" not in text:
        return "a kernel of the library is wrong, or its check"
    if "--json" in words and done.returncode != 77 and out:
        try:
            record = json.loads(out)
        except ValueError:
            return "stdout is no JSON record"
        if (done.returncode == 2) != ("error" in record):
            return "the record of --json and the status disagree"
    if done.returncode != 0:
        for path in line.outputs:
            path = re.sub(r":y(\.weight)?$", "", path)
            if os.path.exists(path) and not path.endswith((".json", ".svg")):
                return f"{path} was written"
    return ""


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    seconds = os.environ.get("TW_FUZZ_SECONDS")
    seed = os.environ.get("TW_FUZZ_SEED", "20261128")
    verbs = {verb: options_of(verb) for verb in ("gemm", "quantize", "plan")}
    for verb, least in (("gemm", 40), ("quantize", 10), ("plan", 25)):
        assert len(verbs[verb]) >= least, (verb, verbs[verb])
    end = time.monotonic() + float(seconds or 0)
    statuses, findings, i = {}, 0, first
    while (time.monotonic() < end) if seconds else (i < first + rounds):
        folder = tempfile.mkdtemp(prefix="tilewright-")
        line = Line(f"{seed} {i}", folder, verbs)
        words = line.draw()
        try:
            done = subprocess.run([COMMAND, *words], capture_output=True, cwd=folder,
                                  stdin=subprocess.DEVNULL, timeout=HANG_S, check=False)
            complaint = complaint_about(line, words, done)
            statuses[done.returncode] = statuses.get(done.returncode, 0) + 1
        except subprocess.TimeoutExpired:
            complaint = f"still runs after {HANG_S} s"
            done = None
        if complaint:
            findings += 1
            text = f"{complaint}; again: TW_FUZZ_SEED={seed} {sys.argv[0]} 1 {i}\n  tilewright "
            text += shlex.join(words)
            if done is not None:
                text += "\n  " + (done.stderr[-500:] or done.stdout[-500:]).decode(errors="replace")
            print(text.encode("utf-8", "backslashreplace").decode(), flush=True)
        else:
            shutil.rmtree(folder)
        i += 1
    total = sum(statuses.values())
    print(f"{total} command lines: " + ", ".join(f"{n} ended with {s}"
                                                 for s, n in sorted(statuses.items())))
    # Of many lines some are computed and some are refused: else the lines would be all of a kind.
    if total >= 50 and not total / 8 < statuses.get(0, 0) < total * 7 / 8:
        print("too few kinds of lines")
        findings += 1
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
