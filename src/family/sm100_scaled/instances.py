# SPDX-License-Identifier: Apache-2.0
"""How a row of instances.txt is called, and what it is in C++. For gen/instances.py."""
CONFIG, CONFIG_HEADER = "block_scaled_config", "tilewright/kernel/sm100/block_scaled_config.hpp"
PARAMS, PARAMS_HEADER = "block_scaled_params", "tilewright/kernel/sm100/block_scaled_params.hpp"
KERNEL, KERNEL_HEADER = "block_scaled_sm100", "tilewright/kernel/sm100/block_scaled.hpp"
PROFILED, PROFILED_KERNEL, PROFILED_ON_GPU = [], None, False
COLUMNS = ["tile", "stages", "scales", "epilogue"]
EPILOGUES = {}  # word: (type, suffix), from problem/epilogue_kind.hpp
SUPPORTED = ["-", "ops", "gated", "ops_aux", "gated_aux", "quantize", "gated_quantize"]
SCALES = {"mx": ("ue8m0", 32), "nv": ("ue4m3", 16)}  # type, elements of K that share one
CTA_ROWS = 128
FLOATS = ["e4m3", "e5m2"]  # operands of mxfp8


def describe(row, ab, d, majors, bits):
    """(name, configuration in C++)."""
    tile_m, tile_n = map(int, row["tile"].split("x"))
    if tile_m not in (CTA_ROWS, 2 * CTA_ROWS):
        raise ValueError(f"tile '{row['tile']}' has neither 128 nor 256 rows")
    for column, words in (("scales", SCALES), ("epilogue", SUPPORTED)):
        if row[column] not in words:
            raise ValueError(f"{column} '{row[column]}' is not one of {', '.join(words)}")
    a, *b = ab.split("x")
    b = b[0] if b else a
    if not (a == b == "e2m1" or (a in FLOATS and b in FLOATS and row["scales"] == "mx")):
        raise ValueError(f"no block-scaled format with {row['scales']} scales has {ab}")
    if d in ("e4m3", "e2m1") and (
            d != a or row["scales"] != "mx" or not row["epilogue"].endswith("quantize")):
        raise ValueError(f"no epilogue writes D of {d} with block scales for {ab}")
    if majors != "tn":
        raise ValueError(f"{ab}: block-scaled operands are K-major")
    scale, block = SCALES[row["scales"]]
    format_name = "mxfp8" if a != "e2m1" else row["scales"] + "fp4"
    of_types = "" if ab in ("e4m3", "e2m1") else f"_{ab}"
    ctas = tile_m // CTA_ROWS
    name = (f"sm100_{format_name}{of_types}_{d}_{majors}_{row['tile']}x{1024 // bits}_{ctas}cta"
            f"_s{row['stages']}{EPILOGUES[row['epilogue']][1]}")
    return name, (
        f"block_scaled_config{{.a = elem::{a}, .b = elem::{b}, .scale = elem::{scale}, "
        f".block = {block}, .d = elem::{d}, .ctas = {ctas}, .tile_n = {tile_n}, "
        f".stages = {row['stages']}, "
        f".epilogue = epilogue_id::{EPILOGUES[row['epilogue']][0]}}}")
