# SPDX-License-Identifier: Apache-2.0
"""test_process.py  Threads, forks, signals, the interpreter's end: each in a separate process."""
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

HEAD = """
import os, signal, sys, threading, time
import numpy as np, ml_dtypes
import tilewright as tw
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
a = np.ones((64, 64), ml_dtypes.bfloat16)
def right():
    return bool((tw.gemm(a, a).astype('f4') == 64).all())
big = np.ones((1024, 1024), ml_dtypes.bfloat16)
"""


def start(body, head=HEAD):
    return subprocess.Popen([sys.executable, "-c", head + textwrap.dedent(body)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(body, head=HEAD, limit=120):
    child = start(body, head)
    try:
        out, err = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        child.kill()
        raise
    return child.returncode, out, err


def passes(body, **options):
    status, out, err = run(body, **options)
    assert status == 0, (status, out, err)
    return out


def test_threads():
    passes("""
        wrong = []
        def work():
            for _ in range(20):
                if not right(): wrong.append(1)
        all_threads = [threading.Thread(target=work) for _ in range(4)]
        for t in all_threads: t.start()
        for t in all_threads: t.join()
        assert not wrong
        """)


def test_other_threads_run_on():
    passes("""
        counted = 0
        done = False
        def count():
            global counted
            while not done:
                counted += 1
                time.sleep(0.001)
        t = threading.Thread(target=count)
        t.start()
        tw.gemm(big, big)
        done = True
        t.join()
        assert counted > 20, counted
        """)


def test_errors_of_threads_do_not_mix():
    passes("""
        wrong = []
        def work(i):
            for _ in range(200):
                try: tw.gemm(a, np.ones((i, 4), ml_dtypes.bfloat16))
                except tw.RefusedError as e:
                    if f"b {i}x4" not in e.got: wrong.append(e.got)
        all_threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 5)]
        for t in all_threads: t.start()
        for t in all_threads: t.join()
        assert not wrong, wrong[:3]
        """)


@pytest.mark.parametrize("before", [False, True])
def test_fork(before):
    passes(f"""
        if {before}: assert right()
        children = []
        stop = False
        def work():
            while not stop: right()
        t = threading.Thread(target=work)
        if {before}: t.start()
        for _ in range(10):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if right() else 1)
            children.append(pid)
        wrong = [os.waitpid(pid, 0)[1] for pid in children]
        stop = True
        if {before}: t.join()
        assert not any(wrong), wrong
        """)


def test_the_end_of_a_forked_child():
    """A child of a thread's fork, while others wait for the GIL, ends at once and in order."""
    passes("""
        import atexit
        stop = False
        def work():
            while not stop: tw.gemm(a[:1], a)
        def spin():  # holds the GIL, for which the workers wait then
            while not stop: pass
        def fork():
            for _ in range(10):
                pid = os.fork()
                if pid == 0:
                    begin = time.monotonic()
                    atexit.register(lambda: sys.exit(1) if not right() else None)
                    atexit._run_exitfuncs()
                    os._exit(0 if time.monotonic() - begin < 1.5 else 2)
                results.append(os.waitpid(pid, 0)[1])
        results = []
        workers = [threading.Thread(target=f) for f in (work, work, work, spin)]
        for t in workers: t.start()
        forker = threading.Thread(target=fork)
        forker.start()
        forker.join()
        stop = True
        for t in workers: t.join()
        assert results == [0] * 10, results
        """)


def test_cuda_is_refused_in_the_child_of_a_fork():
    """The process that used CUDA is known; a fork of it is refused before CUDA is called."""
    passes("""
        from tilewright import _gpu
        _gpu._check_process()
        pid = os.fork()
        if pid == 0:
            try:
                _gpu._check_process()
            except tw.NoDeviceError as e:
                os._exit(0 if e.code == "TW0506" and "spawn" in e.hint and right() else 1)
            os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0
        _gpu._check_process()
        """)


def test_a_thread_forks_while_another_plans():
    passes("""
        stop = False
        def work():
            n = 8
            while not stop:
                n = n % 4096 + 8
                tw.plan(tw.spec((64, n), "bf16"), tw.spec((n, 64), "bf16"), device="h200")
        t = threading.Thread(target=work)
        t.start()
        for _ in range(10):
            pid = os.fork()
            if pid == 0:
                p = tw.plan(tw.spec((64, 72), "bf16"), tw.spec((72, 64), "bf16"), device="h200")
                os._exit(0 if p.us > 0 and right() else 1)
            assert os.waitpid(pid, 0)[1] == 0
        stop = True
        t.join()
        """)


def test_forks_during_the_first_call(everything):
    """A fork while another thread initialises statics in its first call: a child that finds a
    static half initialised would wait for ever. Each trial is a process without a call before."""
    passes(f"""
        sys.setswitchinterval(1e-5)
        wide = np.ones((256, 512), ml_dtypes.bfloat16)  # emulated by several threads
        def call(): return bool((tw.gemm(wide, wide.T).astype('f4') == 512).all())
        def ended(pid):
            return os.waitpid(pid, 0)[1]
        def trial(delay):
            go = threading.Event()
            def work():
                go.set()
                call()
            t = threading.Thread(target=work)
            t.start()
            go.wait()
            end = time.perf_counter() + delay
            while time.perf_counter() < end: pass
            children = []
            for _ in range(5):
                children.append(os.fork())
                if children[-1] == 0:
                    signal.alarm(30)
                    os._exit(0 if call() else 1)
            t.join()
            return max(map(ended, children))
        for i in range({100 if everything else 24}):
            pid = os.fork()
            if pid == 0: os._exit(trial(i % 20 * 5e-5) != 0)
            assert ended(pid) == 0, i
        """)


def test_multiprocessing():
    passes("""
        import multiprocessing as mp
        with mp.get_context("fork").Pool(2) as pool:
            assert all(pool.starmap(right, [()] * 4))
        """)


@pytest.mark.parametrize("daemon", [False, True])
@pytest.mark.parametrize("length", ["long", "short"])
def test_the_end_of_the_interpreter(daemon, length):
    """While a thread computes, the main thread ends: no crash, and daemons do not keep it."""
    count = 1 if length == "long" else 300
    matrix = "big" if length == "long" else "a"
    begin = time.monotonic()
    passes(f"""
        def work():
            for _ in range({count}): tw.gemm({matrix}, {matrix})
        t = threading.Thread(target=work, daemon={daemon})
        t.start()
        time.sleep(0.05)
        """)
    assert time.monotonic() - begin < 60


def test_many_ends(everything):
    """The window in which a daemon takes the GIL at the end is short: several tries."""
    for i in range(30 if everything else 10):
        passes(f"""
            small = np.ones((1, 64), ml_dtypes.bfloat16)
            def work():
                while True: tw.gemm(small, a)
            for _ in range(3): threading.Thread(target=work, daemon=True).start()
            time.sleep(0.02 + {i} * 0.003)
            """)


def test_ctrl_c():
    """A run of many seconds ends within 0.2 s of the signal, and the package works on."""
    child = start("""
        large = np.ones((4096, 4096), ml_dtypes.bfloat16)
        print('ready', flush=True)
        try:
            tw.gemm(large, large)
        except KeyboardInterrupt:
            print(time.monotonic(), flush=True)
        assert right()
        print('right', flush=True)
        """)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    seen = float(child.stdout.readline())
    rest, err = child.stdout.read(), child.stderr.read()
    assert child.wait(60) == 0 and rest == "right\n", err
    assert seen - sent < 0.2, f"{seen - sent:.3f} s"


def test_a_handler_may_raise():
    passes("""
        def handler(*_): raise LookupError("mine")
        signal.signal(signal.SIGALRM, handler)
        large = np.ones((4096, 4096), ml_dtypes.bfloat16)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            tw.gemm(large, large)
        except LookupError as e: assert str(e) == "mine"
        else: raise SystemExit("no exception")
        assert right()
        """)


def test_faulthandler_stays():
    """No handler of signals is installed."""
    passes("""
        import faulthandler
        before = [signal.getsignal(s) for s in (signal.SIGSEGV, signal.SIGINT, signal.SIGABRT)]
        def handlers():
            # Signals 32 and 33 are glibc's own: its first thread installs a handler.
            with open('/proc/self/status') as f:
                caught = [line for line in f if line.startswith('SigCgt')]
            return int(caught[0].split()[1], 16) & 0x7fffffff
        caught = handlers()
        assert right()
        assert handlers() == caught
        assert before == [signal.getsignal(s) for s in (signal.SIGSEGV, signal.SIGINT,
                                                        signal.SIGABRT)]
        """)


def test_import_is_quiet():
    """No thread, no file beside the libraries, nothing of CUDA, torch or JAX."""
    out = passes("""
        import sys
        import numpy, ml_dtypes, threading
        threads = len(os.listdir('/proc/self/task'))
        files = set(os.readlink(f'/proc/self/fd/{f}') for f in os.listdir('/proc/self/fd')
                    if os.path.exists(f'/proc/self/fd/{f}'))
        import tilewright
        assert len(os.listdir('/proc/self/task')) == threads
        after = set(os.readlink(f'/proc/self/fd/{f}') for f in os.listdir('/proc/self/fd')
                    if os.path.exists(f'/proc/self/fd/{f}'))
        assert after == files, after - files
        with open('/proc/self/maps') as f:
            assert 'libcuda' not in f.read()
        assert not {'torch', 'jax', 'cupy'} & set(sys.modules)
        print('quiet')
        """, head="import os\n")
    assert out == "quiet\n"


@pytest.mark.parametrize("first", [False, True])
def test_sub_interpreter(first):
    """ImportError there, before and after the import of the main interpreter."""
    out = passes(f"""
        try: import _interpreters as interpreters  # Python 3.13
        except ImportError: import _xxsubinterpreters as interpreters
        if not {first}: import tilewright
        i = interpreters.create()
        try:
            error = interpreters.run_string(i, "import tilewright")
        except Exception as e:
            error = e
        print(error)
        interpreters.destroy(i)
        import tilewright
        print(tilewright.layout("4:1")(2))
        """, head="")
    assert ("ImportError" in out or "does not support" in out) and out.endswith("2\n"), out


def test_memory_does_not_grow():
    passes("""
        import resource
        def used():
            with open('/proc/self/statm') as f: return int(f.read().split()[1]) * 4096
        small = np.ones((4, 64), ml_dtypes.bfloat16)
        def one():
            tw.gemm(small, a); tw.layout("(4,8):(8,1)")
            try: tw.gemm(small, small)
            except tw.RefusedError: pass
            p = tw.plan(small, a); p.us
        for _ in range(30): one()
        before = used()
        for _ in range(150): one()
        assert used() - before < 8e6, used() - before
        """)


def test_environment_of_the_process():
    """The locale and the rounding mode stay; a call has no effect on NumPy's arithmetic."""
    passes("""
        import locale
        before = locale.setlocale(locale.LC_ALL)
        x = np.float32(1) / np.float32(3)
        assert right()
        assert locale.setlocale(locale.LC_ALL) == before and np.float32(1) / np.float32(3) == x
        assert np.float32(1e-40) * np.float32(1) != 0  # denormal numbers are kept
        """)


def test_signals_of_other_threads(tmp_path):
    """Ctrl-C while another thread computes interrupts the main thread alone."""
    assert os.path.isdir(tmp_path)
    passes("""
        result = []
        t = threading.Thread(target=lambda: result.append(tw.gemm(big, big)))
        t.start()
        time.sleep(0.05)
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            pass
        t.join()
        assert len(result) == 1
        """)
