# SPDX-License-Identifier: Apache-2.0
"""test_command.py  The console script: its verbs, statuses and JSON records."""
import json
import os
import subprocess
import sys

import pytest

import tilewright as tw
from tilewright import _command


def run(capsys, *arguments):
    status = _command.main(list(arguments))
    return (status, *capsys.readouterr())


def test_layout(capsys):
    assert run(capsys, "layout", "zipped_divide((4,8):(8,1), (2,4))") == (
        0, "((2,4),(2,2)):((8,1),(16,4))\n", "")
    assert run(capsys, "layout", "compatible((4,8), 32)")[1] == "0\n"
    assert json.loads(run(capsys, "layout", "4:2", "--json")[1])["offs"] == [0, 2, 4, 6]
    assert "<svg" in run(capsys, "layout", "(4,8):(8,1)", "--svg")[1]
    status, out, err = run(capsys, "layout", "coalesce(")
    assert (status, out) == (2, "") and "TW0101" in err and "^" in err


def test_plan(capsys):
    status, out, _ = run(capsys, "plan", "64", "4096", "4096", "--device", "h200")
    assert status == 0 and out.startswith("sm90_") and "us predicted on NVIDIA H200" in out
    record = json.loads(run(capsys, "plan", "64", "4096", "4096", "--json")[1])
    assert record["schema"] == "tilewright.plan/1"
    assert run(capsys, "plan", "64", "4096", "4096", "--format", "nvfp4", "--device", "h200")[
        0] == 2
    assert "nvfp4" in run(capsys, "plan", "64", "4096", "4096", "--format", "nvfp4")[1]
    assert run(capsys, "plan", "64", "4096", "4096", "--format", "e4m3:1x128")[0] == 0


def test_pages_and_devices(capsys):
    assert run(capsys, "explain", "TW0451")[1].startswith("# TW0451: ")
    assert run(capsys, "explain", "TW9999")[0] == 2
    assert "NVIDIA H200" in run(capsys, "info")[1]
    assert json.loads(run(capsys, "info", "--json")[1])["schema"] == "tilewright.devices/1"
    assert run(capsys, "check", "none.so")[0] == 2


def test_plan_of_a_model(capsys, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"hidden_size": 1024, "intermediate_size": 2048,
                                  "num_attention_heads": 8, "num_key_value_heads": 8,
                                  "num_hidden_layers": 2}))
    status, out, _ = run(capsys, "plan", "--model", str(config), "--tokens", "1,64")
    assert status == 0 and "down" in out
    rows = json.loads(run(capsys, "plan", "--model", str(config), "--tokens", "64", "--json")[1])
    assert {row["tokens"] for row in rows} == {64} and all(row["us"] > 0 for row in rows)
    status, out, err = run(capsys, "plan", "--model", "none.json")
    assert (status, out) == (2, "") and "none.json" in err


def test_each_verb_of_the_built_command(capsys):
    """It works here, or is refused with what to use."""
    source = os.environ.get("TW_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "../..")
    folder = os.path.join(source, "tools/command")
    if not os.path.isdir(folder):
        pytest.skip("the sources of the command are not here")
    verbs = [x for x in os.listdir(folder) if os.path.isdir(os.path.join(folder, x))]
    assert len(verbs) > 15
    for verb in [*verbs, "completion", "man"]:
        if verb in ("layout", "plan", "explain", "info", "check"):
            continue
        status, out, err = run(capsys, verb, "--any")
        assert (status, out) == (2, ""), verb
        assert "TW0615" in err and f"got {verb}" in err and "./dev build" in err, err
    assert "tilewright.gemm()" in run(capsys, "gemm", "a.npy", "b.npy")[2]
    with pytest.raises(SystemExit) as end:
        _command.main(["help"])
    assert end.value.code == 0 and "occupancy" in capsys.readouterr().out


def test_usage():
    with pytest.raises(SystemExit):
        _command.main(["plan", "64", "64"])
    with pytest.raises(SystemExit):
        _command.main([])


def test_the_package_as_a_module():
    """`python -m tilewright` is the console script, its exit status too."""
    def module(*words):
        return subprocess.run([sys.executable, "-m", "tilewright", *words], capture_output=True,
                              text=True, check=False)

    done = module("--version")
    assert (done.returncode, done.stdout) == (0, tw.__version__ + "\n"), done.stderr
    assert module("layout", "coalesce((4,8):(8,32))").stdout == "32:8\n"
    done = module("gemm", "a.npy", "b.npy")
    assert (done.returncode, done.stdout) == (2, "") and "TW0615" in done.stderr, done
