# SPDX-License-Identifier: Apache-2.0
"""test_emu.py  Own kernels: compiled, run over shapes, schedules and seeds, with planted faults."""
import copy
import os
import shutil
import types
from importlib.metadata import entry_points

import pytest

import tilewright as tw
from tilewright import emu

if not os.path.exists(os.path.join(os.path.dirname(emu.__file__), "emulator/libemulator.a")):
    pytest.skip("this package has no emulator for own kernels", allow_module_level=True)

# The installed package has the fixture as an entry point.
_installed = any(x.name == "tilewright" for x in entry_points(group="pytest11"))
pytest_plugins = [] if _installed else ["tilewright.pytest_plugin"]
FOLDER = os.environ.get("TW_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "../..")
SOURCE = os.path.join(FOLDER, "examples/own_kernel/transpose.cpp")


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    if not os.path.exists(SOURCE):
        pytest.skip("the example is in the source tree")
    return emu.load(emu.build(SOURCE, output=str(tmp_path_factory.mktemp("emu") / "own.so")))


def test_kernels(plugin):
    (kernel,) = plugin.values()
    assert kernel.name in plugin and kernel.shapes and kernel.extent_names
    assert len(kernel.runs(seeds=2)) == len(kernel.shapes) * 4 * 2
    for run in kernel.runs():
        report = run()
        assert report, report
        assert report.compared > 0 and "no findings" in str(report)


def test_planted_faults(plugin):
    (kernel,) = plugin.values()
    assert kernel.bugs
    for bug in kernel.bugs:
        reports = [run() for run in kernel.runs(bug=bug, seeds=2)]
        found = [r for r in reports if not r]
        assert found, bug
        assert found[0].codes or found[0].wrong
        for code in found[0].codes:
            assert code in str(found[0]) and tw.explain(code).startswith(f"# {code}")


def test_a_run_repeats(plugin):
    (kernel,) = plugin.values()
    bug = next(iter(kernel.bugs))
    first, second = (kernel.run(schedule="random", seed=3, bug=bug) for _ in range(2))
    assert first.findings == second.findings and first.wrong == second.wrong


def test_the_request(plugin):
    """Each option reaches its member of the struct that the kernel gets."""
    seen = {}

    def run(request, _answer):
        seen.update((name, getattr(request._obj, name)) for name, _ in request._obj._fields_)

    kernel = copy.copy(next(iter(plugin.values())))
    kernel._face = types.SimpleNamespace(run=run)
    bug = next(iter(kernel.bugs))
    options = {"time_limit_seconds": 7.0, "proxy_on_path": True, "provenance": False, "sms": 3,
               "bank_conflicts": True, "live_clusters": 2, "max_reports": 9}
    kernel.run((64, 96), schedule="random-warps", seed=5, bug=bug, **options)
    assert list(seen["shape"].extent)[:2] == [64, 96]
    assert (seen["seed"], seen["bug"], seen["policy"], seen["random_warps"]) == (5, 1, 2, 1)
    assert all(seen[name] == value for name, value in options.items())
    kernel.run(schedule="lazy")
    assert (seen["seed"], seen["bug"], seen["policy"], seen["random_warps"]) == (1, 0, 1, 0)
    assert seen["provenance"] == 1 and seen["time_limit_seconds"] == 60


def test_build_is_remembered(plugin, tmp_path):
    before = os.path.getmtime(plugin.path)
    assert emu.build(SOURCE, output=plugin.path) == plugin.path
    assert os.path.getmtime(plugin.path) == before


def test_the_fixture(plugin, emulated):
    (kernel,) = plugin.values()
    assert all(emulated(plugin.path))
    with pytest.raises(AssertionError):
        emulated(plugin.path, bug=next(iter(kernel.bugs)), seeds=2)
    with pytest.raises(AssertionError, match="E0999"):
        emulated(plugin.path, expect="E0999")


def test_refusals(plugin, tmp_path):
    (kernel,) = plugin.values()
    for options in ({"shape": (1, 2, 3, 4)}, {"schedule": "slow"}, {"bug": "none"}):
        with pytest.raises(tw.RefusedError):
            kernel.run(**options)
    with pytest.raises(tw.RefusedError):
        emu.load(str(tmp_path / "none.so"))
    wrong = tmp_path / "wrong.cpp"
    wrong.write_text("int main( {\n")
    with pytest.raises(emu.BuildError, match="error"):
        emu.build(str(wrong))
    with pytest.raises(tw.RefusedError):
        emu.build()


def test_wrapped_names_are_those_of_cmake():
    path = os.path.join(FOLDER, "cmake/emulator.cmake")
    if not os.path.exists(path):
        pytest.skip("in the source tree alone")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    names = text.split("foreach(name memcpy", 1)[1].split(")", 1)[0]
    assert ["memcpy", *names.split()] == emu.WRAPPED
