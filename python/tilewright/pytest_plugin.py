# SPDX-License-Identifier: Apache-2.0
"""pytest_plugin.py  The fixture `emulated` (entry point pytest11): own kernels in the emulator.

    def test_own_gemm(emulated):
        emulated("own_gemm.cpp", seeds=2)
"""
import os

import pytest


@pytest.fixture(scope="session")
def emulated(tmp_path_factory):
    """A function (path, kernel=None, shapes=None, schedules=..., seeds=1, bug=None, expect=()).

    It compiles a .cpp file, or loads a library, and runs its kernels over shapes x schedules x
    seeds. It fails with the diagnoses of the first run that has findings; with `expect` where no
    run has those codes. It returns the reports.
    """
    from . import emu

    def check(path, kernel=None, expect=(), **options):
        __tracebackhide__ = True  # the line of the test is shown
        path = os.fspath(path)
        if not path.endswith(".so"):
            name = os.path.splitext(os.path.basename(path))[0] + ".so"
            path = emu.build(path, output=str(tmp_path_factory.getbasetemp() / name))
        plugin = emu.load(path)
        runs = plugin[kernel].runs(**options) if kernel else plugin.runs(**options)
        reports = []
        for run in runs:
            reports.append(run())
            if not expect and not reports[-1]:
                raise AssertionError(reports[-1])
        found = {code for report in reports for code in report.codes}
        missing = set([expect] if isinstance(expect, str) else expect) - found
        assert not missing, f"no run has {', '.join(sorted(missing))}; found {sorted(found)}"
        return reports

    return check
