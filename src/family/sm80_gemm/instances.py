# SPDX-License-Identifier: Apache-2.0
"""How a row of instances.txt is called, and what it is in C++. For gen/instances.py."""
CONFIG, CONFIG_HEADER = "sm80_config", "tilewright/kernel/sm80/config.hpp"
PARAMS, PARAMS_HEADER = "sm80_params", "tilewright/kernel/sm80/params.hpp"
KERNEL, KERNEL_HEADER = "gemm_sm80", "tilewright/kernel/sm80/gemm.hpp"
# With a record of their stages; the first is the default of `tilewright stages`.
PROFILED = ["sm80_bf16_bf16_tn_128x128x32_2x2_s4"]
PROFILED_KERNEL, PROFILED_ON_GPU = "gemm_sm80_kernel", False
COLUMNS = ["tile", "warps", "stages", "mma_k", "sums", "epilogue"]
EPILOGUES = {}  # word: (type, suffix), from problem/epilogue_kind.hpp
SUPPORTED = ["-", "ops", "gated", "ops_aux", "gated_aux"]


def describe(row, ab, d, majors, bits):
    """(name, configuration in C++)."""
    if bits != 16:
        raise ValueError(f"{ab}:{d}: the kernels read operands of 16 bits alone")
    tile_m, tile_n, tile_k = map(int, row["tile"].split("x"))
    warps_m, warps_n = map(int, row["warps"].split("x"))
    epilogue, mma_k = row["epilogue"], int(row["mma_k"])
    if epilogue not in SUPPORTED:
        raise ValueError(f"epilogue '{epilogue}' is not one of {', '.join(SUPPORTED)}")
    if row["sums"] not in ("f32", "f16") or (row["sums"] == "f16" and ab != "f16"):
        raise ValueError(f"{ab}:{d}: sums in '{row['sums']}' are neither f32 nor f16 of f16")
    f16_sums = row["sums"] == "f16"
    name = (f"sm80_{ab}_{d}_{majors}_{row['tile']}_{row['warps']}_s{row['stages']}"
            f"{'' if mma_k == 16 else f'_k{mma_k}'}{'_f16' if f16_sums else ''}"
            f"{EPILOGUES[epilogue][1]}")
    if EPILOGUES[epilogue][0].startswith("gated") and majors[1] == "t":
        raise ValueError(f"{ab}:{d}: with a gate B is K-major, not '{majors}'")
    flag = {True: "true", False: "false"}
    return name, (
        f"sm80_config{{.ab = elem::{ab}, .d = elem::{d}, .a_mn = {flag[majors[0] == 'n']}, "
        f".b_mn = {flag[majors[1] == 't']}, .tile_m = {tile_m}, .tile_n = {tile_n}, "
        f".tile_k = {tile_k}, .warps_m = {warps_m}, .warps_n = {warps_n}, "
        f".stages = {row['stages']}, .mma_k = {mma_k}, "
        f".epilogue = epilogue_id::{EPILOGUES[epilogue][0]}, "
        f".f16_sums = {flag[f16_sums]}}}")
