// SPDX-License-Identifier: Apache-2.0
// matrix.hpp  Kernels of ldmatrix, stmatrix and packing.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::test {

struct matrix_smem {
  alignas(128) std::uint16_t row[32][8];
};

struct matrix_params {
  int row_of_lane[32];      // whose address a lane gives
  std::uint16_t* smem;      // ldmatrix: the 32 rows; stmatrix: receives them
  std::uint32_t* fragment;  // Count registers of each lane
};

template <int Count, bool Transposed>
struct ldmatrix_kernel {
  using params = matrix_params;
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(matrix_smem);

  TW_DEVICE static void run(params const& p) {
    matrix_smem& s = dynamic_smem<matrix_smem>();
    int const lane = lane_id();
    for (int i = 0; i < 8; ++i) s.row[lane][i] = p.smem[8 * lane + i];
    warp_sync();
    b32<Count> const v = ldmatrix<Count, Transposed>(s.row[p.row_of_lane[lane]]);
    for (int i = 0; i < Count; ++i) p.fragment[Count * lane + i] = v.r[i];
  }
};

template <int Count, bool Transposed>
struct stmatrix_kernel {
  using params = matrix_params;
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(matrix_smem);

  TW_DEVICE static void run(params const& p) {
    matrix_smem& s = dynamic_smem<matrix_smem>();
    int const lane = lane_id();
    for (int i = 0; i < 8; ++i) s.row[lane][i] = p.smem[8 * lane + i];
    warp_sync();
    b32<Count> v;
    for (int i = 0; i < Count; ++i) v.r[i] = p.fragment[Count * lane + i];
    stmatrix<Count, Transposed>(s.row[p.row_of_lane[lane]], v);
    warp_sync();
    for (int i = 0; i < 8; ++i) p.smem[8 * lane + i] = s.row[lane][i];
  }
};

/// Widens all 65536 patterns, and packs pairs of floats. E: bf16 or f16.
template <elem E>
struct convert_kernel {
  struct params {
    float* widened;                // of pattern i
    std::uint32_t const* singles;  // bits of floats
    std::uint32_t* packed;         // singles 2i and 2i + 1
    int pairs;
  };
  static constexpr int threads = 256, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const first = cta_id() * thread_count() + thread_id(), all = cta_count() * thread_count();
    for (int i = first; i < 65536; i += all)
      p.widened[i] = to_float<E>(static_cast<std::uint16_t>(i));
    for (int i = first; i < p.pairs; i += all)
      p.packed[i] = pack2<E>(__builtin_bit_cast(float, p.singles[2 * i]),
                             __builtin_bit_cast(float, p.singles[2 * i + 1]));
  }
};

/// All pairs of 8-bit floats as f16. E: e4m3 or e5m2.
template <elem E>
struct unpack_kernel {
  struct params {
    std::uint32_t* both;  // of the pair with bits i
  };
  static constexpr int threads = 256, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const first = cta_id() * thread_count() + thread_id(), all = cta_count() * thread_count();
    for (int i = first; i < 65536; i += all)
      p.both[i] = unpack_fp8<E>(static_cast<std::uint32_t>(i)).bits;
  }
};

}  // namespace tw::test
