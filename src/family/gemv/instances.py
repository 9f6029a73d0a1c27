# SPDX-License-Identifier: Apache-2.0
"""How a row of instances.txt is called, and what it is in C++. For gen/instances.py."""
CONFIG, CONFIG_HEADER = "gemv_config", "tilewright/kernel/gemv/config.hpp"
PARAMS, PARAMS_HEADER = "gemv_params", "tilewright/kernel/gemv/params.hpp"
KERNEL, KERNEL_HEADER = "tw::gemv", "tilewright/kernel/gemv/gemv.hpp"
PROFILED, PROFILED_KERNEL, PROFILED_ON_GPU = [], None, False
COLUMNS = ["rows", "cols", "unroll", "warps", "ctas_per_sm"]


def describe(row, ab, d, majors, _bits):
    """(name, configuration in C++)."""
    if majors != "tn":
        raise ValueError(f"{ab}:{d} '{majors}' is not tn; the kernels read K-major operands alone")
    warps_m, warps_k = row["warps"].split("x")
    name = (f"gemv_{ab}_{d}_{row['rows']}x{row['cols']}_u{row['unroll']}_{row['warps']}"
            f"_c{row['ctas_per_sm']}")
    return name, (
        f"gemv_config{{.ab = elem::{ab}, .d = elem::{d}, .rows = {row['rows']}, "
        f".cols = {row['cols']}, .unroll = {row['unroll']}, .warps_m = {warps_m}, "
        f".warps_k = {warps_k}, .ctas_per_sm = {row['ctas_per_sm']}}}")
