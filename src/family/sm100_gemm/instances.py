# SPDX-License-Identifier: Apache-2.0
"""How a row of instances.txt is called, and what it is in C++. For gen/instances.py."""
CONFIG, CONFIG_HEADER = "sm100_config", "tilewright/kernel/sm100/config.hpp"
PARAMS, PARAMS_HEADER = "sm100_params", "tilewright/kernel/sm100/params.hpp"
KERNEL, KERNEL_HEADER = "gemm_sm100", "tilewright/kernel/sm100/gemm.hpp"
# With a record of their stages; the first is the default of `tilewright stages`.
PROFILED = ["sm100_bf16_bf16_tn_128x128x64_1cta_s6"]
PROFILED_KERNEL, PROFILED_ON_GPU = "gemm_sm100_kernel", False
COLUMNS = ["tile", "stages", "scheduler", "epilogue", "scales"]
EPILOGUES = {}  # word: (type, suffix), from problem/epilogue_kind.hpp
SUPPORTED = ["-", "ops", "gated", "ops_aux", "gated_aux", "quantize", "gated_quantize"]
SCHEDULERS = {"static": "", "clc": "_clc"}
SCALES = {"-": "", "blocks": "_scaled"}
CTA_ROWS = 128
PAIR = ["e4m3", "e5m2"]  # operands of which A and B may have either type


def operand(elem, mn_major):
    """An operand_spec in C++."""
    return f"{{elem::{elem}, elem::{elem}, operand_major::{'mn' if mn_major else 'k'}}}"


def describe(row, ab, d, majors, bits):
    """(name, configuration in C++)."""
    tile_m, tile_n = map(int, row["tile"].split("x"))
    if tile_m not in (CTA_ROWS, 2 * CTA_ROWS):
        raise ValueError(f"tile '{row['tile']}' has neither 128 nor 256 rows")
    for column, words in (("scheduler", SCHEDULERS), ("epilogue", SUPPORTED),
                          ("scales", SCALES)):
        if row[column] not in words:
            raise ValueError(f"{column} '{row[column]}' is not one of {', '.join(words)}")
    a, *b = ab.split("x")
    if b and sorted([a, *b]) != PAIR:
        raise ValueError(f"no kernel has operands of the types {ab}")
    if bits != 16 and majors != "tn":
        raise ValueError(f"{ab}: operands of {bits} bits are K-major")
    kind = EPILOGUES[row["epilogue"]][0]
    if kind.startswith("gated") and majors[1] == "t":
        raise ValueError(f"{ab}:{d}: with a gate B is K-major, not '{majors}'")
    if kind.endswith("quantize") and d not in PAIR:
        raise ValueError(f"{ab}:{d}: scales belong to an 8-bit D")
    ctas = tile_m // CTA_ROWS
    name = (f"sm100_{ab}_{d}_{majors}_{row['tile']}x{1024 // bits}_{ctas}cta_s{row['stages']}"
            f"{EPILOGUES[row['epilogue']][1]}{SCALES[row['scales']]}{SCHEDULERS[row['scheduler']]}")
    flag = {True: "true", False: "false"}
    return name, (
        f"sm100_config{{.a = {operand(a, majors[0] == 'n')}, "
        f".b = {operand(b[0] if b else a, majors[1] == 't')}, .d = elem::{d}, .ctas = {ctas}, "
        f".tile_n = {tile_n}, .stages = {row['stages']}, "
        f".epilogue = epilogue_id::{kind}, "
        f".dynamic = {flag[row['scheduler'] == 'clc']}, "
        f".block_scales = {flag[row['scales'] == 'blocks']}}}")
