# SPDX-License-Identifier: Apache-2.0
"""test_log.py  set_log() and set_interrupt(): functions of the user that the library calls."""
import logging
import sys
import threading
import time

import numpy as np
import pytest

import tilewright as tw


@pytest.fixture(autouse=True)
def reset():
    yield
    tw.set_log(None)
    tw.set_interrupt(None)


def multiply(m, n=16):
    return tw.gemm(np.ones((m, 64), np.float16), np.ones((n, 64), np.float16).T)


def long_run():
    a = np.ones((2048, 2048), np.float16)
    return tw.gemm(a, a)


def test_lines():
    lines = []
    tw.set_log(lambda level, line: lines.append((level, line)))
    multiply(37)
    assert any("37x16x64" in line for _, line in lines), lines
    assert {level for level, _ in lines} <= {logging.DEBUG, logging.INFO, logging.WARNING}
    count = len(lines)
    tw.set_log(None)
    multiply(38)
    assert len(lines) == count


def test_a_logger(caplog):
    caplog.set_level(logging.DEBUG, "of_the_test")
    tw.set_log(logging.getLogger("of_the_test").log)
    multiply(39)
    assert "39x16x64" in caplog.text


def test_an_order_that_was_read_from_the_shape_is_a_hint(caplog, monkeypatch):
    """Once for each operand; none if the order is named, or of a Scaled."""
    from tilewright import _gemm
    monkeypatch.setattr(_gemm, "_hinted", set())
    x, w = np.ones((48, 384), np.float32), np.ones((256, 384), np.float32)
    qx, qw = tw.quantize(x, "e4m3:1x128"), tw.quantize(w, "e4m3:128x128")
    named = {"scale_a": qx.scale, "scale_b": qw.scale, "scale_a_as": qx.order,
             "scale_b_as": qw.order}
    tw.gemm(qx, qw.T)
    tw.gemm(qx.data, qw.data.T, **named)
    assert not caplog.records
    for _ in range(2):
        tw.gemm(qx.data, qw.data.T, **named | {"scale_a_as": None})
    assert len(caplog.records) == 1 and "scale_a_as='1x128'" in caplog.text


def test_lines_of_threads():
    lines = []
    tw.set_log(lambda level, line: lines.append(line))
    threads = [threading.Thread(target=multiply, args=(40 + i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(any(f"{40 + i}x16x64" in line for line in lines) for i in range(4))


def test_a_log_function_may_call_the_library():
    lines = []

    def function(_level, line):
        lines.append(line)
        if "50x16x64" in line and len(lines) < 50:
            multiply(51)
            tw.set_log(None)

    tw.set_log(function)
    multiply(50)
    assert any("51x16x64" in line for line in lines)


def test_a_log_function_that_raises(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda x: seen.append(x.exc_value))
    tw.set_log(lambda level, line: 1 / 0)
    assert (multiply(52) == 64).all()
    assert seen and isinstance(seen[0], ZeroDivisionError)


def test_interrupt():
    calls = []
    tw.set_interrupt(lambda: calls.append(time.monotonic()) or len(calls) == 3)
    begin = time.monotonic()
    with pytest.raises(tw.Interrupted) as caught:
        long_run()
    assert len(calls) == 3 and time.monotonic() - begin < 5
    assert caught.value.code == "TW0489" and "tw_" not in str(caught.value)
    assert (multiply(53) == 64).all(), "a short run ends before it is calls"


def test_an_interrupt_that_raises():
    def function():
        raise TimeoutError("enough")

    tw.set_interrupt(function)
    with pytest.raises(TimeoutError, match="enough"):
        long_run()


def test_interrupt_in_a_thread():
    results = []

    def run():
        try:
            long_run()
        except tw.Interrupted as why:
            results.append(why)

    tw.set_interrupt(lambda: threading.current_thread() is not threading.main_thread())
    t = threading.Thread(target=run)
    t.start()
    t.join()
    assert len(results) == 1


def test_no_functions():
    for f in (tw.set_log, tw.set_interrupt):
        with pytest.raises(tw.RefusedError, match="function"):
            f(3)
