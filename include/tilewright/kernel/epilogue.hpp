// SPDX-License-Identifier: Apache-2.0
// epilogue.hpp  From accumulators to D: alpha * acc + beta * C, rounded once, through shared memory
//               and TMA; or by plain stores where TMA cannot address D or would write beyond it.
#pragma once

#include <math.h>

#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/d_box.hpp"
#include "tilewright/kernel/epilogue_ops.hpp"
#include "tilewright/kernel/params.hpp"

namespace tw {

/// Two staging strips per warpgroup: 64 rows of one box's columns.
template <gemm_config C>
struct epilogue_smem {
  static constexpr int strip_bytes = 64 * d_box_of(C).cols * size_bytes(C.d);
  alignas(1024) std::byte strip[C.math_warpgroups()][2][strip_bytes];
};
/// And the vectors of a fused epilogue.
template <gemm_config C>
requires(C.fused != fusion::none) struct epilogue_smem<C> {
  static constexpr int strip_bytes = 64 * d_box_of(C).cols * size_bytes(C.d);
  alignas(1024) std::byte strip[C.math_warpgroups()][2][strip_bytes];
  strip_vectors<C> vectors[C.math_warpgroups()];
};

/// What a kernel without a fused epilogue has in place of epilogue_ops.
struct no_ops {
  TW_DEVICE no_ops(epilogue_params const&, fragment_place) {}
};

template <gemm_config C>
struct epilogue {
  static constexpr elem type = C.d;
  static constexpr d_box box = d_box_of(C);
  static constexpr layout box_layout = d_box_layout(C);  // (rows, cols) of a box
  static constexpr int strips = C.d_cols() / box.cols;   // of a fragment
  static constexpr int strip_regs = box.cols / 2;        // results of a thread in a strip
  using fragment = accumulator<C.part_n()>;

  /// Stores a warpgroup's (64, d_cols) fragment. `turn` (0 at first) is the staging strip that
  /// comes next: an odd number of strips leaves the other one to the next fragment.
  TW_DEVICE static void store(epilogue_params const& p, epilogue_smem<C>& s, int warpgroup,
                              fragment_place at, fragment& acc, int& turn) {
    constexpr bool fused = C.fused != fusion::none;
    std::conditional_t<fused, epilogue_ops<C>, no_ops> ops(p, at);
    unrolled<strips>([&](auto strip) {
      constexpr int j = strip;
      fragment_place const to{at.row, at.col + j * box.cols, at.batch};
      if constexpr (fused) {
        ops.share(p, s.vectors[warpgroup], {at.row, to.col + box.cols, at.batch});
        meet(1 + warpgroup);
        ops.apply(p, s.vectors[warpgroup], to, acc, j);
      } else {
        scale(p, to, acc, j);
      }
      int const end = box.m_major ? to.row + 64 : to.col + box.cols;  // uniform in the warpgroup
      if (end <= p.tma_end) {
        if constexpr (!fused) meet(1 + warpgroup);
        store_strip(p, s.strip[warpgroup][(j + turn) % 2], 1 + warpgroup, to, acc, j);
      } else {
        store_plain(p, to, acc, j);
        if constexpr (fused) named_barrier_sync(1 + warpgroup, 128);  // the vectors have been read
      }
      if (leader()) tma_store_commit();  // an empty group after plain stores keeps the count
    });
    if constexpr (strips % 2 != 0) turn ^= 1;
  }

  /// After the last tile: the staging strips have been read, the CTA may exit.
  TW_DEVICE static void finish() {
    if (leader()) tma_store_wait_read<0>();
  }

 private:
  /// Row and column, in the fragment, of a thread's first element; element i adds 8 * (i>>1 & 1)
  /// rows and 8 * (i>>2) + (i & 1) columns (see accumulator).
  TW_DEVICE static int first_row() { return 16 * (warp_id() % 4) + lane_id() / 4; }
  TW_DEVICE static int first_col() { return 2 * (lane_id() % 4); }
  TW_DEVICE static bool leader() { return thread_id() % 128 == 0; }

  /// Element (row, col) of C of product `batch`, that lies in `matrix` in a batch by pointers.
  TW_DEVICE static float load_c(c_view const& c, void const* matrix, int row, int col, int batch) {
    std::int64_t const i = row * c.row_stride + col * c.col_stride;
    if constexpr (C.by_pointers()) return load_as_float(matrix, c.type, i);
    return load_as_float(c.data, c.type, i + batch * c.batch_stride);
  }

  /// Strip j of the fragment, at D(at): alpha * acc + beta * C.
  TW_DEVICE static void scale(epilogue_params const& p, fragment_place at, fragment& acc, int j) {
    TW_UNROLL
    for (int i = j * strip_regs; i < (j + 1) * strip_regs; ++i) acc[i] = p.alpha * acc[i];
    if (p.c.data == nullptr) return;
    std::int64_t const first = at.batch * p.c.batch_stride * size_bytes(p.c.type);
    void const* const matrix = p.c.matrices != nullptr
                                   ? p.c.matrices[at.batch]
                                   : static_cast<std::byte const*>(p.c.data) + first;
    TW_UNROLL
    for (int i = 0; i < strip_regs; ++i) {
      int const r = at.row + first_row() + 8 * (i >> 1 & 1);
      int const c = at.col + first_col() + 8 * (i >> 2) + (i & 1);
      float& x = acc[j * strip_regs + i];
      if (r < p.m && c < p.n) x = fmaf(p.beta, load_c(p.c, matrix, r, c, at.batch), x);
    }
  }

  /// Strip j of the fragment, at D(at), by plain stores.
  TW_DEVICE static void store_plain(epilogue_params const& p, fragment_place at, fragment& acc,
                                    int j) {
    constexpr bool pointers = C.by_pointers();
    std::int64_t const first = at.batch * p.batch_stride;
    void* const matrix = !pointers ? p.data
                         : p.matrices != nullptr
                             ? p.matrices[at.batch]
                             : static_cast<std::byte*>(p.data) + first * size_bytes(type);
    TW_UNROLL
    for (int i = 0; i < strip_regs; ++i) {
      int const r = at.row + first_row() + 8 * (i >> 1 & 1);
      int const c = at.col + first_col() + 8 * (i >> 2) + (i & 1);
      if (r >= p.m || c >= p.n) continue;
      std::int64_t const to =
          (pointers ? 0 : first) + (box.m_major ? c * p.pitch + r : r * p.pitch + c);
      float const value = acc[j * strip_regs + i];
      if constexpr (type == elem::f32)
        static_cast<float*>(matrix)[to] = value;
      else
        static_cast<std::uint16_t*>(matrix)[to] =
            static_cast<std::uint16_t>(pack2<type>(value, 0.0F));
    }
  }

  /// The warpgroup goes on when the store before last has read its strip.
  TW_DEVICE static void meet(int barrier) {
    if (leader()) tma_store_wait_read<1>();
    named_barrier_sync(barrier, 128);
  }

  /// Strip j of the fragment, at D(at), through shared memory. Two strips take turns.
  TW_DEVICE static void store_strip(epilogue_params const& p, std::byte* strip, int barrier,
                                    fragment_place at, fragment& acc, int j) {
    if constexpr (type == elem::f32)
      fill_32(reinterpret_cast<float*>(strip), acc, j);
    else if constexpr (box.m_major)
      fill_16_transposed(reinterpret_cast<std::uint16_t*>(strip), acc, j);
    else
      fill_16(reinterpret_cast<std::uint16_t*>(strip), acc, j);
    fence_proxy_async();  // the writes above are for the async proxy
    named_barrier_sync(barrier, 128);
    if (!leader()) return;
    // The thread that loads A has acquired the maps of a batch by pointers.
    bool const one_map = !C.by_pointers() || p.d_maps == nullptr;
    tensor_map const& map = one_map ? p.d : p.d_maps[at.batch];
    int const matrix = one_map ? at.batch : 0;
    TW_UNROLL
    for (int b = 0; b < box.boxes(); ++b) {
      int const row = at.row + b * box.rows;
      if (row >= p.m || at.col >= p.n) continue;
      tma_coord<3> const to =
          box.m_major ? tma_coord<3>{{row, at.col, matrix}} : tma_coord<3>{{at.col, row, matrix}};
      tma_store(map, strip + b * box.bytes(type), to);
    }
  }

  /// Accumulators i, i+1 as two 16-bit values.
  TW_DEVICE static std::uint32_t packed(fragment& acc, int i) {
    return pack2<type>(acc[i], acc[i + 1]);
  }

  /// 16-bit row-major D: 16 columns with each stmatrix, 8 where the box has no more of them.
  TW_DEVICE static void fill_16(std::uint16_t* s, fragment& acc, int j) {  // (64, cols)
    int const row = 16 * (warp_id() % 4) + lane_id() % 16;
    unrolled<(box.cols + 15) / 16>([&](auto step) {
      constexpr int q = step;
      constexpr bool half = box.cols - 16 * q == 8;
      int const i = j * strip_regs + 8 * q;
      int const col = 16 * q + (half ? 0 : 8 * (lane_id() / 16));
      std::uint16_t* const at = s + offset<box_layout>(row, col);
      if constexpr (half)
        stmatrix<2>(at, b32<2>{{packed(acc, i), packed(acc, i + 2)}});
      else
        stmatrix<4>(at, b32<4>{{packed(acc, i), packed(acc, i + 2), packed(acc, i + 4),
                                packed(acc, i + 6)}});
    });
  }

  /// 16-bit M-major D: the same with transposed matrices, whose stored rows are columns of D.
  TW_DEVICE static void fill_16_transposed(std::uint16_t* s, fragment& acc, int j) {  // (64, cols)
    int const row = 16 * (warp_id() % 4) + 8 * (lane_id() / 8 % 2);
    int const col = lane_id() % 8 + (box.cols == 8 ? 0 : 8 * (lane_id() / 16));
    TW_UNROLL
    for (int q = 0; q < (box.cols + 15) / 16; ++q) {
      int const i = j * strip_regs + 8 * q;
      std::uint16_t* const at = s + offset<box_layout>(row, 16 * q + col);
      if constexpr (box.cols == 8)
        stmatrix<2, true>(at, b32<2>{{packed(acc, i), packed(acc, i + 2)}});
      else
        stmatrix<4, true>(at, b32<4>{{packed(acc, i), packed(acc, i + 2), packed(acc, i + 4),
                                      packed(acc, i + 6)}});
    }
  }

  /// 32-bit D, an element at a time; a row-major box takes neighbours together.
  TW_DEVICE static void fill_32(float* s, fragment& acc, int j) {  // (64, cols)
    TW_UNROLL
    for (int i = 0; i < strip_regs; ++i) {
      int const row = first_row() + 8 * (i >> 1 & 1);
      float* const one = s + row / box.rows * (box.rows * box.cols);
      one[offset<box_layout>(row % box.rows, first_col() + 8 * (i >> 2) + (i & 1))] =
          acc[j * strip_regs + i];
    }
  }
};

}  // namespace tw
