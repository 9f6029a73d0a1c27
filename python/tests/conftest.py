# SPDX-License-Identifier: Apache-2.0
"""conftest.py  `--all` (or TW_EFFORT=full) runs every case; without it a part of them."""
import os
import re

import hypothesis
import pytest


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="every case, not a part of them")


def pytest_configure(config):
    config.addinivalue_line("markers", "sampled(n): every n-th case runs without --all")
    if os.environ.get("TW_EFFORT") == "full":
        config.option.all = True
    for name, examples in (("some", 60), ("every", 1500)):
        hypothesis.settings.register_profile(
            name, max_examples=examples, deadline=None, database=None, print_blob=True,
            suppress_health_check=list(hypothesis.HealthCheck))
    hypothesis.settings.load_profile("every" if config.option.all else "some")


def pytest_collection_modifyitems(config, items):
    """Of the tests marked `sampled(n)` every n-th runs; parameters of one test stay together."""
    if config.option.all:
        return
    kept, left_out, seen = [], [], {}
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is None:
            kept.append(item)
            continue
        name = item.function.__qualname__ + item.module.__name__
        seen[name] = seen.get(name, -1) + 1
        (kept if seen[name] % mark.args[0] == 0 else left_out).append(item)
    items[:] = kept
    if left_out:
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture
def everything(request):
    return request.config.option.all


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Tests with torch, JAX, CuPy and 4-bit weights are skipped if the GEMM is refused since a
    build of fewer kernels lacks this one (TW0505), or the GPU does (TW0471)."""
    outcome = yield
    may_lack = pyfuncitem.module.__name__.startswith(
        ("test_torch", "test_jax", "test_cupy", "test_weights")) or (
            "four_bit" in pyfuncitem.function.__name__)
    if outcome.excinfo is None or not may_lack:
        return
    error = outcome.excinfo[1]
    text = str(error)
    named = re.search(r"\bTW\d{4}\b", text)  # XLA writes INVALID_ARGUMENT before it
    code = getattr(error, "code", None) or (named and named[0])
    if code == "TW0505" and " set, " in text or code == "TW0471" and "on NVIDIA" in text:
        outcome.force_exception(pytest.skip.Exception(text[:80]))
