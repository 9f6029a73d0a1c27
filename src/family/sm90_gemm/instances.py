# SPDX-License-Identifier: Apache-2.0
"""How a row of instances.txt is called, and what it is in C++. For gen/instances.py."""
CONFIG, PARAMS = "gemm_config", "gemm_params"
COLUMNS = ["tile", "min_n", "stages", "cluster", "schedule", "form", "epilogue"]
SWIZZLE_SPAN_BITS = 1024  # of the widest swizzle: a K block is a span wide
EPILOGUES = {"-": "", "ops": "_ops", "gated": "_gate", "ops_aux": "_ops_aux",
             "gated_aux": "_gate_aux"}


def choice(row, column, words):
    if row[column] not in words:
        raise ValueError(f"{column} '{row[column]}' is not one of {', '.join(words)}")
    return row[column]


def numbers(row, column, counts):
    parts = row[column].split("x")
    if len(parts) not in counts or not all(p.isdigit() for p in parts):
        raise ValueError(f"{column} '{row[column]}' is not {' or '.join(map(str, counts))} numbers")
    return [int(p) for p in parts]


def describe(row, ab, d, majors, bits):
    """(name, its texts before and after the columns of the tile, configuration in C++)."""
    tile_m, tile_n = numbers(row, "tile", [2])
    cluster_m, cluster_n, *split_k = numbers(row, "cluster", [2, 3])
    stages, = numbers(row, "stages", [1])
    a_mn, b_mn = majors[0] == "n", majors[1] == "t"
    min_n = 0 if b_mn or row["min_n"] == "-" else numbers(row, "min_n", [1])[0]
    swap_ab = choice(row, "form", ["-", "swap_ab"]) == "swap_ab"
    pingpong = choice(row, "schedule", ["cooperative", "pingpong"]) == "pingpong"
    epilogue = choice(row, "epilogue", EPILOGUES)
    before = f"sm90_{ab}_{d}_{majors}{'_dm' if swap_ab else ''}_{tile_m}x"
    after = (f"x{SWIZZLE_SPAN_BITS // bits}_{row['cluster']}_s{stages}"
             f"{'_pp' if pingpong else ''}{EPILOGUES[epilogue]}")
    fields = {"ab": f"elem::{ab}", "d": f"elem::{d}", "a_mn": a_mn, "b_mn": b_mn, "d_m": swap_ab,
              "pingpong": pingpong, "tile_m": tile_m, "tile_n": tile_n, "least_n": min_n,
              "cluster_m": cluster_m, "cluster_n": cluster_n,
              "cluster_k": split_k[0] if split_k else 1, "stages": stages,
              "fused": "fusion::" + ("none" if epilogue == "-" else epilogue)}
    text = ", ".join(f".{name} = {str(value).lower() if isinstance(value, bool) else value}"
                     for name, value in fields.items())
    return f"{before}{tile_n}{after}", [before, after], f"gemm_config{{{text}}}"
