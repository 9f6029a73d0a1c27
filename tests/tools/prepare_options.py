# SPDX-License-Identifier: Apache-2.0
"""prepare_options.py  The command lines of option_effects_test.py for `tilewright prepare`."""
import subprocess

from checkpoint_files import write_safetensors

PREPARE, NVFP4 = "prepare w4.safetensors:up w.npy", "prepare n4.safetensors:n w.npy"
LEVEL = " --scale2 n4.safetensors:level"
POINTS = "--zeros w4.safetensors:points"
PLAN = ("plan 64 4096 4096 --all-kernels", "--weights mxfp4")
GROUP = ("quantize a.npy q.safetensors:w --to int4", "--group 64")
SEEN = {
    "--output": (PREPARE, PREPARE.replace("w.npy", "-o e.npy")),
    "--scales": (PREPARE, "--scales w4.safetensors:others"),
    "--zeros": (PREPARE, POINTS),
    "--scale2": (NVFP4, LEVEL.strip()),
    "--scale2-as": (NVFP4 + LEVEL, "--scale2-as reciprocal"),
    "--scales-to": (PREPARE, "--scales-to f16"),
    "--activations": ("prepare w4.safetensors:wide w.npy", "--activations e4m3"),
    "--gate": (PREPARE, "--gate split"),
    "--up": (PREPARE, "--up w4.safetensors:up"),
    "--order": ("prepare w4.safetensors:act w.npy", "--order order.npy"),
    "--gptq-version": (f"{PREPARE} {POINTS}", "--gptq-version 2"),
    "--undo": ("prepare prepared.npy rows.safetensors:w", "--undo"),
    "--json": (PREPARE, "--json"),
    "--quiet": (PREPARE, "--quiet"),
}

STATUSES = {"--undo": ({2}, {0}, "the file holds prepared weights"),
            "--order": ({2}, {0}, "GPTQ with act_order needs it")}


def write_weights(command):
    """Weights of 4 bits: GPTQ, NVFP4, and the first of them prepared."""
    n, k = 16, 64
    write_safetensors("w4.safetensors", {
        "up.qweight": ("I32", [k // 8, n], bytes(range(256)) * 2),
        "up.scales": ("BF16", [1, n], bytes([0x80, 0x3F] * n)),
        "wide.qweight": ("I32", [2 * k // 8, n], bytes(range(256)) * 4),
        "wide.scales": ("BF16", [1, n], bytes([0x80, 0x3F] * n)),
        "act.qweight": ("I32", [2 * k // 8, n], bytes(range(256)) * 4),
        "act.scales": ("BF16", [2, n], bytes([0x80, 0x3F] * 2 * n)),
        "act.g_idx": ("I32", [2 * k], b"".join(bytes([i % 2, 0, 0, 0]) for i in range(2 * k))),
        "others": ("BF16", [1, n], bytes([0, 0x40] * n)),
        "points": ("I32", [1, n // 8], bytes([0x35] * (n // 2)))})
    write_safetensors("n4.safetensors", {
        "n.weight": ("U8", [n, k // 2], bytes(range(256)) * 2),
        "n.weight_scale": ("F8_E4M3", [n, k // 16], bytes([0x38] * n * 4)),
        "level": ("F32", [], bytes([0, 0, 0, 0x40]))})
    subprocess.run([command, *"prepare w4.safetensors:up prepared.npy --quiet".split(" ")],
                   check=True)
