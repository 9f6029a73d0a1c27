# SPDX-License-Identifier: Apache-2.0
"""How a row of instances.txt is called, and what it is in C++. For gen/instances.py."""
CONFIG, CONFIG_HEADER = "gemm_config", "tilewright/kernel/sm90/config.hpp"
PARAMS, PARAMS_HEADER = "gemm_params", "tilewright/kernel/sm90/params.hpp"
KERNEL, KERNEL_HEADER = "gemm_sm90", "tilewright/kernel/sm90/gemm.hpp"
# With a record of their stages; the first is the default of `tilewright stages`.
PROFILED = ["sm90_bf16_bf16_tn_128x256x64_2x1_s4", "sm90_bf16_bf16_tn_128x128x64_1x1_s6"]
PROFILED_KERNEL, PROFILED_ON_GPU = "gemm_sm90_kernel", True
# With a gate before their loads: the tiles that the planner picks most for K-major operands.
GATED = ["sm90_bf16_bf16_tn_128x256x64_1x1_s3", "sm90_bf16_bf16_tn_128x256x64_2x1_s4",
         "sm90_bf16_bf16_tn_256x192x64_1x2_s3", "sm90_bf16_bf16_tn_256x176x64_1x1_s3",
         "sm90_bf16_bf16_tn_128x192x64_1x1_s4_pp", "sm90_bf16_bf16_tn_128x128x64_1x1_s6",
         "sm90_bf16_f32_tn_128x128x64_1x1_s6", "sm90_f16_f16_tn_128x256x64_1x1_s3",
         "sm90_f16_f16_tn_128x192x64_1x1_s4_pp", "sm90_f16_f16_tn_128x128x64_1x1_s6",
         "sm90_e4m3_bf16_tn_256x128x128_1x1_s3_p128", "sm90_e4m3_bf16_tn_128x128x128_1x1_s6_p128",
         "sm90_e4m3_bf16_tn_128x256x128_1x1_s3"]
GATED_KERNEL = "gemm_sm90_gated"
COLUMNS = ["tile", "min_n", "stages", "cluster", "schedule", "form", "epilogue", "sums"]
SWIZZLE_SPAN_BITS = 1024  # of the widest swizzle: a K block is a span wide
BITS_OF_K_MAJOR_ONLY = 8, 32  # wgmma reads these types from shared memory K-major only
EPILOGUES = {}  # word: (type, suffix), from problem/epilogue_kind.hpp
SUMS = {"-": ("plain", ""), "promoted_128": ("promoted_128", "_p128"),
        "promoted_64": ("promoted_64", "_p64"), "f16": ("f16", "_f16"),
        "scaled": ("scaled", "_scaled"), "scaled_64": ("scaled_64", "_scaled64"),
        "scaled_columns": ("scaled_columns", "_scaled_columns")}
FORMS = {"-": (False, "none"), "swap_ab": (True, "none"), "groups": (False, "m"),
         "swap_ab_groups": (True, "n"), "groups_of_n": (False, "n"), "groups_of_k": (False, "k")}
# Words after a form: A is prepared weights of 4 bits, an operand_source in C++.
WEIGHTS = ["mxfp4", "nvfp4",
           *(f"int4_{group}{zeros}" for group in (16, 32, 64) for zeros in ("", "z", "f")),
           "int4_128", "int4_128z"]
PAIRS = ["e4m3", "e5m2"], ["s8", "u8"]  # operands of which A and B may have either type


def choice(row, column, words):
    if row[column] not in words:
        raise ValueError(f"{column} '{row[column]}' is not one of {', '.join(words)}")
    return row[column]


def numbers(row, column, counts):
    parts = row[column].split("x")
    if len(parts) not in counts or not all(p.isdigit() for p in parts):
        raise ValueError(f"{column} '{row[column]}' is not {' or '.join(map(str, counts))} numbers")
    return [int(p) for p in parts]


def operand(elem, mn_major, source=""):
    """An operand_spec in C++."""
    source = f", operand_source::{source}" if source else ""
    return f"{{elem::{elem}, elem::{elem}, operand_major::{'mn' if mn_major else 'k'}{source}}}"


def describe(row, ab, d, majors, bits):
    """(name, configuration in C++, the name before and after the columns of the tile)."""
    tile_m, tile_n = numbers(row, "tile", [2])
    cluster_m, cluster_n, *split_k = numbers(row, "cluster", [2, 3])
    stages, = numbers(row, "stages", [1])
    a_mn, b_mn = majors[0] == "n", majors[1] == "t"
    min_n = 0 if b_mn or row["min_n"] == "-" else numbers(row, "min_n", [1])[0]
    form, _, weights = row["form"].partition("+")
    swap_ab, ragged = FORMS[choice({"form": form}, "form", FORMS)]
    if weights:
        choice({"weights of the form": weights}, "weights of the form", WEIGHTS)
    schedule = choice(row, "schedule", ["cooperative", "pingpong", "turns_2", "turns_3", "turns_6"])
    pingpong = schedule == "pingpong"
    turns = int(schedule[-1]) if "turns" in schedule else 1
    epilogue, suffix = EPILOGUES[choice(row, "epilogue", EPILOGUES)]
    sums, sums_text = SUMS[choice(row, "sums", SUMS)]
    a, *b = ab.split("x")
    if b and not any(sorted([a, *b]) == pair for pair in PAIRS):
        raise ValueError(f"no kernel has operands of the types {ab}")
    types = f"{weights + 'x' if weights else ''}{ab}_{d}"
    before = f"sm90_{types}_{majors}{'_dm' if swap_ab else ''}_{tile_m}x"
    after = (f"x{SWIZZLE_SPAN_BITS // bits}_{row['cluster']}_s{stages}"
             f"{'_pp' if pingpong else f'_t{turns}' if turns > 1 else ''}{suffix}{sums_text}"
             f"{'' if ragged == 'none' else '_groups_' + ragged}")
    source = weights or ("registers" if a_mn and bits in BITS_OF_K_MAJOR_ONLY else "")
    fields = {"a": operand(a, a_mn, source),
              "b": operand(b[0] if b else a, b_mn), "d": f"elem::{d}", "d_m": swap_ab,
              "pingpong": pingpong, "tile_m": tile_m, "tile_n": tile_n, "min_tile_n": min_n,
              "cluster_m": cluster_m, "cluster_n": cluster_n,
              "cluster_k": split_k[0] if split_k else 1,
              **({"k_turns": turns} if turns > 1 else {}), "stages": stages,
              "epilogue": f"epilogue_id::{epilogue}",
              "sums": f"sum_form::{sums}"}
    if ragged != "none":
        fields["ragged"] = f"group_axis::{ragged}"
    text = ", ".join(f".{name} = {str(value).lower() if isinstance(value, bool) else value}"
                     for name, value in fields.items())
    return f"{before}{tile_n}{after}", f"gemm_config{{{text}}}", before, after
