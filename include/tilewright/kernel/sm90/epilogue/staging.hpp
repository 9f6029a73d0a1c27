// SPDX-License-Identifier: Apache-2.0
// staging.hpp  How a consumer's results get into the staging buffers of shared memory, from which
//              TMA or plain stores take them: 64 rows of one box's columns each.
#pragma once

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/epilogue/d_box.hpp"
#include "tilewright/kernel/sm90/epilogue/ops.hpp"
#include "tilewright/kernel/sm90/epilogue/plain_store.hpp"
#include "tilewright/kernel/sm90/fragment_rows.hpp"
#include "tilewright/kernel/sm90/sums.hpp"
#include "tilewright/problem/quantize.hpp"

namespace tw {

/// Staging buffers of each warpgroup: the rows of a fragment in D, of one box's columns.
template <gemm_config C>
struct epilogue_smem {
  static constexpr int tile_bytes = C.d_rows() * d_box_of(C).cols * size_bytes(C.d);
  alignas(1024) std::byte staging_tile[C.math_warpgroups()][staging_buffers(C)][tile_bytes];
};
/// And the vectors of a fused epilogue.
template <gemm_config C>
requires(C.fused()) struct epilogue_smem<C> {
  static constexpr int tile_bytes = C.d_rows() * d_box_of(C).cols * size_bytes(C.d);
  alignas(1024) std::byte staging_tile[C.math_warpgroups()][staging_buffers(C)][tile_bytes];
  column_vectors<C> vectors[C.math_warpgroups()];
};

/// The staging buffers of a consumer, from one store to the next: which half comes first, and
/// whether they have been used. Between two stores TMA may still read the buffers that were filled
/// last, of two halves not those that come first.
class staging_state {
 public:
  /// The half that the i-th store from now on fills.
  TW_DEVICE int half(int i = 0) const { return (i + bits_) % 2; }
  TW_DEVICE void swap_halves() { bits_ ^= 1; }
  TW_DEVICE bool used() const { return bits_ >= 4; }
  TW_DEVICE void set_used() { bits_ |= 4; }
  /// Has TMA loaded C an odd number of times to each buffer (staged_c.hpp)?
  TW_DEVICE bool odd_loads() const { return (bits_ & 2) != 0; }
  TW_DEVICE void swap_loads() { bits_ ^= 2; }

 private:
  int bits_ = 0;  // one register: the half, 2 after an odd number of loads, 4 once used
};

/// A thread's results of an epilogue tile: accumulators from `first` on.
template <class Fragment>
struct tile_results {
  Fragment& acc;
  int first;
  TW_DEVICE auto operator[](int i) const { return acc[first + i]; }
};

/// A thread of a consumer warpgroup that stores.
template <gemm_config C>
struct tile_writer {
  static constexpr elem type = C.d;
  static constexpr d_box box = d_box_of(C);
  static constexpr layout box_layout = d_box_layout(C);  // (rows, cols) of a box
  static constexpr int tile_regs = results_of_tile(C);   // of a thread

  using rows = fragment_rows<C>;

  epilogue_smem<C>& smem;
  int warpgroup;
  int thread;  // in the warpgroup

  /// For one more epilogue tile. Where each result has a separate address, the compiler must not
  /// keep those for all tiles.
  TW_DEVICE tile_writer next() const { return holds_float_sums(type) ? anew() : *this; }
  /// This thread, its number computed again: for code without registers to spare.
  TW_DEVICE tile_writer anew() const {
    return {smem, warpgroup, thread_id_anew() % warpgroup_threads};
  }
  TW_DEVICE int barrier() const { return 1 + warpgroup; }
  TW_DEVICE bool leads() const { return thread == 0; }
  TW_DEVICE int warp() const { return thread / warp_threads; }
  TW_DEVICE int lane() const { return thread % warp_threads; }
  /// Row and column, in the fragment, of its first element; accumulator_map has the others.
  TW_DEVICE int first_row() const { return rows::row_of(warp(), lane()); }
  TW_DEVICE int first_col() const { return accumulator_map::col_of(lane()); }

  /// The warpgroup goes on when all TMA stores but the last `Pending` have read their buffers;
  /// plain stores have then.
  template <int Pending>
  TW_DEVICE void wait_for_tiles() const {
    if (leads()) tma_store_wait_read<Pending>();
    sync();
  }
  TW_DEVICE void sync() const { named_barrier_sync(barrier(), warpgroup_threads); }

  /// Reads a staging buffer of 16-bit elements, in the order of fill_16(): use(i, pair) gets the
  /// elements of results i and i + 1. A warp reads the places that it will write.
  template <class Use>
  TW_DEVICE void read_16(std::uint16_t const* s, Use use) const {
    static_assert(!box.m_major && !rows::of_bytes && !rows::of_words);
    int const row = row_of_stmatrix();
    unrolled<(box.cols + matrix_pair - 1) / matrix_pair>([&](auto step) {
      constexpr int q = step;
      constexpr bool half = box.cols - matrix_pair * q == matrix;
      constexpr int count = half ? 2 : 4;
      int const col = matrix_pair * q + (half ? 0 : matrix * (lane() / matrix_pair));
      b32<count> const v = ldmatrix<count>(s + offset<box_layout>(row, col));
      TW_UNROLL
      for (int j = 0; j < count; ++j) use(matrix * q + 2 * j, v.r[j]);
    });
  }

  /// Writes the thread's results to a staging buffer. Results: value i is results[i].
  template <class Results>
  TW_DEVICE void fill(std::byte* tile, Results const& results) const {
    if constexpr (size_bytes(type) == 4)
      fill_32(reinterpret_cast<result_type<C>*>(tile), results);
    else if constexpr (size_bytes(type) == 1)
      fill_8(tile, results);
    else if constexpr (C.gates_rows())
      fill_16_of_gates(reinterpret_cast<std::uint16_t*>(tile), results);
    else if constexpr (box.m_major && rows::of_bytes)
      fill_16_of_pairs(reinterpret_cast<words::b32*>(tile), results);
    else if constexpr (box.m_major)
      fill_16_transposed(reinterpret_cast<std::uint16_t*>(tile), results);
    else
      fill_16(reinterpret_cast<std::uint16_t*>(tile), results);
  }

 private:
  /// Rows and columns of one stmatrix matrix, and of two side by side; rows of a warp.
  static constexpr int matrix = core_matrix_rows, matrix_pair = 2 * matrix;
  static constexpr int warp_rows = wgmma_m * warp_threads / warpgroup_threads;

  /// Results i, i+1 as two values of D's type.
  template <class Results>
  TW_DEVICE static std::uint32_t packed(Results const& results, int i) {
    if constexpr (is_integer(type)) {
      auto const code = [&](int at) {
        return std::uint32_t{
            static_cast<std::uint8_t>(quantized_quotient<std::int8_t>(results[at]))};
      };
      return code(i) | code(i + 1) << 8;
    } else {
      return pack2<type>(results[i], results[i + 1]);
    }
  }

  /// 16-bit row-major D: 16 columns with each stmatrix, 8 where the box has no more of them.
  template <class Results>
  TW_DEVICE void fill_16(std::uint16_t* s, Results const& results) const {  // (64, box.cols)
    int const row = row_of_stmatrix();
    unrolled<(box.cols + matrix_pair - 1) / matrix_pair>([&](auto step) {
      constexpr int q = step;
      constexpr bool half = box.cols - matrix_pair * q == matrix;
      int const i = matrix * q,
                col = matrix_pair * q + (half ? 0 : matrix * (lane() / matrix_pair));
      std::uint16_t* const at = s + offset<box_layout>(row, col);
      if constexpr (half)
        stmatrix<2>(at, in_banks(b32<2>{{packed(results, i), packed(results, i + 2)}}));
      else
        stmatrix<4>(at, in_banks(b32<4>{{packed(results, i), packed(results, i + 2),
                                         packed(results, i + 4), packed(results, i + 6)}}));
    });
  }

  /// The row of D whose address a lane gives to stmatrix, which writes eight rows of a matrix at
  /// once. With 8-bit A in registers a lane has rows 2 g and 2 g + 1 of its warp's 16, and rows 8
  /// apart share banks. So one matrix has rows 0, 2, 4, 6, 9, 11, 13 and 15, the other the rest.
  TW_DEVICE int row_of_stmatrix() const {
    int const i = lane() % matrix_pair;
    int const in_other = rows::of_bytes && i % matrix >= matrix / 2 ? matrix : 0;
    return rows::row_of_warp(warp(), i ^ in_other);
  }
  /// A lane's registers for stmatrix. In the upper 16 lanes two matrices exchange their registers:
  /// then each matrix has the rows of row_of_stmatrix().
  template <int Count>
  TW_DEVICE b32<Count> in_banks(b32<Count> v) const {
    if constexpr (rows::of_bytes) {
      bool const swapped = lane() / 4 >= matrix / 2;
      TW_UNROLL
      for (int i = 0; i < Count; i += 2) {
        std::uint32_t const first = v.r[i];
        v.r[i] = swapped ? v.r[i + 1] : first;
        v.r[i + 1] = swapped ? first : v.r[i + 1];
      }
    }
    return v;
  }

  /// 16-bit M-major D: the same with transposed matrices, whose stored rows are columns of D.
  template <class Results>
  TW_DEVICE void fill_16_transposed(std::uint16_t* s,
                                    Results const& results) const {  // (64, box.cols)
    static_assert(!rows::of_words, "eight rows of a warp do not follow each other");
    int const row = warp_rows * warp() + matrix * (lane() / matrix % 2);
    unrolled<(box.cols + matrix_pair - 1) / matrix_pair>([&](auto step) {
      constexpr int q = step;
      constexpr bool half = box.cols - matrix_pair * q == matrix;
      int const i = matrix * q, col = matrix_pair * q + lane() % matrix +
                                      (half ? 0 : matrix * (lane() / matrix_pair));
      std::uint16_t* const at = s + offset<box_layout>(row, col);
      if constexpr (half)
        stmatrix<2, true>(at, b32<2>{{packed(results, i), packed(results, i + 2)}});
      else
        stmatrix<4, true>(at, b32<4>{{packed(results, i), packed(results, i + 2),
                                      packed(results, i + 4), packed(results, i + 6)}});
    });
  }

  /// 16-bit M-major D with a gate of rows: a thread has one row, a warp eight. A stmatrix writes 8
  /// columns with each matrix.
  template <class Results>
  TW_DEVICE void fill_16_of_gates(std::uint16_t* s,
                                  Results const& results) const {  // (32, box.cols)
    constexpr int wide = 4 * matrix;
    int const row = matrix * warp();
    unrolled<box.cols / wide>([&](auto step) {
      constexpr int i = 2 * 4 * step;
      stmatrix<4, true>(s + offset<box_layout>(row, wide * step + lane()),
                        b32<4>{{packed(results, i), packed(results, i + 2), packed(results, i + 4),
                                packed(results, i + 6)}});
    });
    if constexpr (box.cols % wide != 0) {
      static_assert(box.cols % wide == matrix_pair);
      constexpr int first = box.cols / wide * wide, i = first / 4;
      stmatrix<2, true>(s + offset<box_layout>(row, first + lane() % matrix_pair),
                        b32<2>{{packed(results, i), packed(results, i + 2)}});
    }
  }

  /// 16-bit M-major D whose rows of a thread follow each other: their results in a column are a
  /// word.
  template <class Results>
  TW_DEVICE void fill_16_of_pairs(words::b32* s, Results const& results) const {  // (64, box.cols)
    TW_UNROLL
    for (int i = 0; i < tile_regs; i += accumulator_map::regs_of_8_cols) {
      TW_UNROLL
      for (int e = 0; e < 2; ++e) {
        unsigned const at = plain_store<C>::offset_in_tile(
            first_row(), first_col() + accumulator_map::col_of_register(i + e));
        s[at / 2] = pack2<type>(results[i + e], results[i + e + 2]);
      }
    }
  }

  /// 8-bit D: two neighbours of a row of a row-major box together, else an element at a time. The
  /// eight rows that a warp writes at once lie in different banks, as with stmatrix.
  template <class Results>
  TW_DEVICE void fill_8(std::byte* s, Results const& results) const {  // (64, box.cols)
    static_assert(!C.a_in_registers(), "no kernel with A in registers has an 8-bit D");
    TW_UNROLL
    for (int i = 0; i < tile_regs; i += 2) {
      unsigned const row = first_row() + rows::row_of_register(i);
      unsigned const col = first_col() + accumulator_map::col_of_register(i);
      std::uint32_t const both = packed(results, i);
      if constexpr (box.m_major) {
        s[plain_store<C>::offset_in_tile(row, col)] = static_cast<std::byte>(both);
        s[plain_store<C>::offset_in_tile(row, col + 1)] = static_cast<std::byte>(both >> 8);
      } else {
        *reinterpret_cast<words::b16*>(s + plain_store<C>::offset_in_tile(row, col)) =
            static_cast<std::uint16_t>(both);
      }
    }
  }

  /// 32-bit D, an element at a time; a row-major box takes neighbours together.
  template <class Results>
  TW_DEVICE void fill_32(result_type<C>* s, Results const& results) const {  // (64, box.cols)
    TW_UNROLL
    for (int i = 0; i < tile_regs; ++i) {
      int const row = first_row() + rows::row_of_register(i);
      int const col = first_col() + accumulator_map::col_of_register(i);
      s[plain_store<C>::offset_in_tile(row, col)] = results[i];
    }
  }
};

}  // namespace tw
