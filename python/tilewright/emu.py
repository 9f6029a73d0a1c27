# SPDX-License-Identifier: Apache-2.0
"""emu.py  Own kernels in the emulator: compile one, run it over shapes, schedules and seeds.

    plugin = emu.load(emu.build("gemm.cpp"))
    report = plugin["own_gemm"].run((128, 128, 64), schedule="lazy", seed=2)
    assert report, report                          # prints the diagnoses

    @pytest.mark.parametrize("run", emu.load("own_gemm.so").runs(seeds=2), ids=str)
    def test_own_gemm(run):
        report = run()
        assert report, report

A kernel is a C++ source with a harness, `tilewright/arch/emu/plugin.hpp` of the headers in
`emu.include_dir()`; the command `tilewright check` runs the same files.
"""
import ctypes
import glob
import os
import re
import shutil
import subprocess
from collections import namedtuple

from ._errors import TilewrightError, refused

_i32, _i64, _u32, _u64 = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint32, ctypes.c_uint64
_ABI = 4  # plugin_abi of plugin.hpp


class _Shape(ctypes.Structure):
    _fields_ = [("extent", _i64 * 4)]


class _Bug(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("what", ctypes.c_char_p)]


class _Request(ctypes.Structure):
    _fields_ = [("shape", _Shape), ("bug", _i32), ("policy", _i32), ("random_warps", _i32),
                ("max_reports", _i32), ("seed", _u64), ("proxy_on_path", _i32),
                ("provenance", _i32), ("bank_conflicts", _i32), ("sms", _i32),
                ("live_clusters", _i32), ("tensor_fences", _i32),
                ("time_limit_seconds", ctypes.c_double), ("record", ctypes.c_void_p)]


_Diagnosis = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p,
                              ctypes.c_char_p, ctypes.c_int)
_Wrong = ctypes.CFUNCTYPE(None, ctypes.c_void_p, _i64, _i64, ctypes.c_char_p)
_Counted = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_Failed = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class _Answer(ctypes.Structure):
    _fields_ = [("to", ctypes.c_void_p), ("diagnosis", _Diagnosis), ("wrong", _Wrong),
                ("counted", _Counted), ("failed", _Failed)]


_Run = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Request), ctypes.POINTER(_Answer))


class _Kernel(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("extent_names", ctypes.c_char_p), ("shapes", _i32),
                ("bugs", _i32), ("shape", ctypes.POINTER(_Shape)), ("bug", ctypes.POINTER(_Bug)),
                ("run", _Run)]


class _Plugin(ctypes.Structure):
    _fields_ = [("abi", _u32), ("statistics_bytes", _u32), ("on_gpu", _i32), ("kernels", _i32),
                ("kernel", ctypes.POINTER(_Kernel))]


# Of each schedule: when asynchronous work completes, and whether the order of warps is random.
SCHEDULES = {"eager": (0, 0), "lazy": (1, 0), "random": (2, 0), "random-warps": (2, 1)}

Finding = namedtuple("Finding", "code kind text times")
Finding.__doc__ = "A diagnosis: its code (explain(code) is the page), kind, text, how many times."


class Report:
    """The findings of one run; true without any.

    Attributes:
        findings: list of Finding.
        wrong: the number of wrong elements of the result; compared: of so many.
        failed: why the harness gave up (str); empty if it did not.
        run: the Run.
    """

    def __init__(self, run):
        self.run, self.findings, self.wrong, self.compared = run, [], 0, 0
        self.first_wrong = self.failed = ""

    def __bool__(self):
        return not (self.findings or self.wrong or self.failed)

    @property
    def codes(self):
        """The codes of the findings, without repetition (list of str)."""
        return list(dict.fromkeys(x.code for x in self.findings))

    def __str__(self):
        lines = [f"{self.run}: " + ("no findings" if self else "findings")]
        lines += [f"{x.code} {x.kind}, {x.times} times\n{x.text}" for x in self.findings]
        if self.wrong:
            lines.append(f"{self.wrong} of {self.compared} elements are wrong; {self.first_wrong}")
        if self.failed:
            lines.append(f"the harness failed: {self.failed}")
        return "\n".join(lines)

    __repr__ = __str__


class Run:
    """One run of a kernel: call it for the Report. str() is its name, for tests."""

    def __init__(self, kernel, shape, schedule, seed, bug, options):
        self.kernel, self.shape, self.schedule = kernel, shape, schedule
        self.seed, self.bug, self._options = seed, bug, options

    def __call__(self):
        return self.kernel._run(self, **self._options)

    def __str__(self):
        bug = f" {self.bug}" if self.bug else ""
        extents = "x".join(map(str, self.shape))
        return f"{self.kernel.name} {extents} {self.schedule} {self.seed}{bug}"

    __repr__ = __str__


class Kernel:
    """A kernel of a plugin.

    Attributes:
        name: its name. extent_names: the names of the extents of a shape, such as ("M", "N", "K").
        shapes: the shapes that run by default. bugs: names of planted faults and what they are.
    """

    def __init__(self, plugin, face):
        self._plugin, self._face = plugin, face  # the plugin stays loaded
        self.name = face.name.decode()
        self.extent_names = tuple(face.extent_names.decode().split(","))
        count = len(self.extent_names)
        self.shapes = [tuple(face.shape[i].extent[:count]) for i in range(face.shapes)]
        self.bugs = {face.bug[i].name.decode(): face.bug[i].what.decode()
                     for i in range(face.bugs)}

    def run(self, shape=None, *, schedule="eager", seed=1, bug=None, **options):
        """Runs the kernel once.

        Args:
            shape: the extents; the first of `shapes` without.
            schedule: "eager", "lazy", "random" or "random-warps".
            seed: of data and schedule; a run repeats exactly.
            bug: the name of a planted fault that is switched on.
            time_limit_seconds: processor time (60), after which the run is E0058.
            proxy_on_path, provenance, bank_conflicts, sms, live_clusters, max_reports: as the
                options of `tilewright check`.

        Returns:
            Report.
        """
        return self._checked(shape or self.shapes[0], schedule, seed, bug, options)()

    def runs(self, shapes=None, *, schedules=tuple(SCHEDULES), seeds=1, bug=None, **options):
        """Runs over shapes x schedules x seeds: a list of Run, for pytest.mark.parametrize."""
        return [self._checked(shape, schedule, seed, bug, options)
                for shape in (shapes or self.shapes) for schedule in schedules
                for seed in range(1, seeds + 1)]

    def _checked(self, shape, schedule, seed, bug, options):
        shape = tuple(int(x) for x in shape)
        if len(shape) != len(self.extent_names):
            raise refused("TW0481", f"shape of {self.name}", str(shape),
                          f"extents {', '.join(self.extent_names)}")
        if schedule not in SCHEDULES:
            raise refused("TW0486", "schedule", str(schedule), ", ".join(SCHEDULES))
        if bug is not None and bug not in self.bugs:
            raise refused("TW0486", "bug", str(bug), ", ".join(self.bugs) or "none: it has no bugs")
        return Run(self, shape, schedule, seed, bug, options)

    def _run(self, run, *, time_limit_seconds=60.0, proxy_on_path=False, provenance=True,
             bank_conflicts=False, sms=0, live_clusters=0, max_reports=6):
        report = Report(run)

        def diagnosis(_, code, kind, text, count):
            report.findings.append(Finding(code.decode(), kind.decode(), text.decode(), count))

        def wrong(_, elements, of, first):
            report.wrong, report.compared = elements, of
            report.first_wrong = (first or b"").decode()

        def failed(_, why):
            report.failed = why.decode() or "no reason"

        request = _Request()
        for i, extent in enumerate(run.shape):
            request.shape.extent[i] = extent
        request.bug = 0 if run.bug is None else list(self.bugs).index(run.bug) + 1
        request.policy, request.random_warps = SCHEDULES[run.schedule]
        request.seed, request.max_reports = run.seed, max_reports
        request.proxy_on_path, request.provenance = proxy_on_path, provenance
        request.bank_conflicts, request.sms = bank_conflicts, sms
        request.live_clusters, request.time_limit_seconds = live_clusters, time_limit_seconds
        answer = _Answer(None, _Diagnosis(diagnosis), _Wrong(wrong), _Counted(lambda *_: None),
                         _Failed(failed))
        self._face.run(ctypes.byref(request), ctypes.byref(answer))
        return report

    def __repr__(self):
        return f"<Kernel {self.name}({', '.join(self.extent_names)})>"


class Plugin(dict):
    """The kernels of a library by their names."""

    def __init__(self, path, kernels):
        super().__init__()
        self.path = path
        self.update(kernels)

    def runs(self, **options):
        """The runs of all kernels: shapes x schedules x seeds, as Kernel.runs()."""
        return [run for kernel in self.values() for run in kernel.runs(**options)]


def load(path):
    """Loads the library of build() or of the CMake function tilewright_add_kernel.

    Returns:
        Plugin: its kernels by name.
    """
    path = os.path.abspath(path)
    try:
        library = ctypes.CDLL(path)
    except OSError as why:
        raise refused("TW0631", f"plugin {path}", str(why), "a shared library that can be loaded",
                      "tilewright.emu.build() makes one") from None
    try:
        entry = library.tilewright_plugin
    except AttributeError:
        raise refused("TW0632", f"plugin {path}", "no function tilewright_plugin",
                      "one that is exported") from None
    entry.restype = ctypes.POINTER(_Plugin)
    face = entry().contents
    if face.abi != _ABI or face.on_gpu:
        raise refused("TW0632", f"plugin {path}",
                      "one for a GPU" if face.on_gpu else f"version {face.abi}",
                      f"version {_ABI}, for the emulator", "build it again")
    plugin = Plugin(path, {})
    for i in range(face.kernels):
        kernel = Kernel((plugin, library), face.kernel[i])
        plugin[kernel.name] = kernel
    return plugin


# ---- Compiling a kernel -------------------------------------------------------------------------

_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "emulator")

# The compiler calls the emulator before each plain load and store (cmake/add_kernel.cmake).
_OPTIONS = ["-std=c++20", "-O2", "-g1", "-fPIC", "-fsanitize=thread",
            "--param=tsan-instrument-func-entry-exit=0", "-fno-optimize-sibling-calls",
            "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset", "-include",
            "cstring", "-D__builtin_memcpy=::memcpy", "-D__builtin_memmove=::memmove",
            "-D__builtin_memset=::memset", "-D_GLIBCXX_EXTERN_TEMPLATE=0"]
# Copies, allocations and exits of kernels (cmake/emulator.cmake).
WRAPPED = """memcpy memmove memset malloc calloc realloc aligned_alloc free exit _exit _Exit
    quick_exit _Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm
    _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t
    _ZdaPvmSt11align_val_t""".split()


class BuildError(TilewrightError):
    """The compiler refused the source; the text is its output."""


def include_dir():
    """The folder of the headers, for the compiler's -I."""
    return os.path.join(_HERE, "include")


def build(*sources, output=None, options=()):
    """Compiles kernels with g++ and links them with the emulator. Needs g++ 12 or later alone.

    Args:
        sources: C++ files.
        output: the library; without it beside the first source, with the suffix .so.
        options: more options of the compiler, such as "-DTILE=64".

    Returns:
        str: the path of the library. It is compiled again where a source, or a header that it
        includes, is newer.
    """
    if not sources:
        raise refused("TW0484", "sources", "none", "C++ files")
    archive = os.path.join(_HERE, "libemulator.a")
    if not os.path.exists(archive):
        raise refused("TW0484", "emu.build()", f"no {archive}", "a package with the emulator",
                      "install the wheel")
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        raise refused("TW0484", "compiler", f"no {compiler}", "g++, or CXX in the environment")
    output = os.path.abspath(output or os.path.splitext(sources[0])[0] + ".so")
    objects = [f"{output}.{i}.o" for i in range(len(sources))]
    # That sanitizer's calls are the emulator's: it is not an option of the linker.
    commands = [[compiler, *_OPTIONS, "-I", include_dir(), *options, "-MMD", "-c",
                 os.path.abspath(source), "-o", name] for source, name in zip(sources, objects)]
    commands.append([compiler, "-shared", *objects, "-o", output, "-Wl,-z,defs",
                     "-Wl,--version-script=" + os.path.join(_HERE, "plugin.map"),
                     *(f"-Wl,--wrap={name}" for name in WRAPPED), archive, "-Wl,--gc-sections"])
    if not _current(output, [*sources, archive], commands):
        for command in commands:
            _run(command)
        with open(output + ".commands", "w", encoding="utf-8") as file:
            file.write(repr(commands))
    return output


def _current(output, inputs, commands):
    """Is the output newer than all that it was made from, by the same commands?"""
    try:
        with open(output + ".commands", encoding="utf-8") as file:
            if file.read() != repr(commands):
                return False
        made = os.path.getmtime(output)
        for path in glob.glob(glob.escape(output) + ".*.d"):
            with open(path, encoding="utf-8") as file:
                inputs = inputs + re.sub(r"\\\n", " ", file.read()).partition(":")[2].split()
        return all(os.path.getmtime(path) < made for path in inputs)
    except OSError:
        return False


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(done.stderr or f"{command[0]} failed", "", "sources", "an error",
                         "C++20 that compiles")
