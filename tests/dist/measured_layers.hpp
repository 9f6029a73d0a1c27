// SPDX-License-Identifier: Apache-2.0
// measured_layers.hpp  `tilewright bench dist --quick` on two H200, 2026-11-30, driver
//                      580.159.04, NCCL 2.28.3: medians in microseconds
//                      (bench/results/2026-11-30-dist-h200x2-2.json).
#pragma once

#include <cstdint>

#include "tilewright/dist/gemm.hpp"

namespace tw::dist::measured {

constexpr operation all_gather = operation::all_gather_gemm,
                    reduce_scatter = operation::gemm_reduce_scatter,
                    all_reduce = operation::gemm_all_reduce;

struct layer {
  operation op;
  std::int64_t m, n, k;  // of a rank
  double us[5];          // of each path, in their order; 0: not taken
};

constexpr layer layers[] = {
    {all_gather, 64, 5120, 8192, {37.4, 54.8, 55.0, 33.3, 54.7}},
    {all_gather, 512, 5120, 8192, {109.8, 80.7, 80.8, 0, 97.7}},
    {all_gather, 2048, 5120, 8192, {344.6, 252.9, 252.6, 0, 248.7}},
    {all_gather, 8192, 5120, 8192, {1275.6, 1014.0, 971.1, 0, 992.2}},
    {all_gather, 2048, 28672, 8192, {1491.3, 1366.5, 1415.3, 0, 1457.0}},
    {all_gather, 4096, 9216, 16384, {1960.5, 1696.6, 1789.6, 0, 1777.7}},
    {all_gather, 8192, 3072, 4096, {464.5, 309.8, 300.7, 0, 282.2}},
    {reduce_scatter, 64, 8192, 4096, {34.0, 47.4, 47.2, 31.0, 0}},
    {reduce_scatter, 512, 8192, 4096, {97.7, 76.8, 77.2, 0, 0}},
    {reduce_scatter, 2048, 8192, 4096, {293.6, 230.5, 224.6, 0, 0}},
    {reduce_scatter, 8192, 8192, 4096, {1191.9, 858.0, 856.4, 0, 0}},
    {reduce_scatter, 2048, 8192, 14336, {800.8, 720.8, 721.6, 0, 0}},
    {reduce_scatter, 4096, 16384, 8192, {2046.0, 1646.3, 1696.5, 0, 0}},
    {reduce_scatter, 8192, 4096, 2048, {360.8, 256.7, 255.1, 0, 0}},
    {all_reduce, 16, 8192, 4096, {32.4, 57.4, 58.4, 28.0, 0}},
    {all_reduce, 64, 8192, 4096, {38.1, 60.0, 59.4, 35.5, 0}},
    {all_reduce, 2048, 8192, 4096, {338.2, 285.7, 286.3, 0, 0}},
};

}  // namespace tw::dist::measured
