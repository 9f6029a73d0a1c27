// SPDX-License-Identifier: Apache-2.0
// scale_copies.hpp  Three warps, in kernels that can gather two, copy the scales of a K block's
//                   rows and columns to its stage: float32 by cp.async, row scales that are
//                   adjacent in global memory by one bulk copy, others through registers. They
//                   arrive at the stage's barrier `ab_landed` as the boxes of A and B do.
#pragma once

#include <type_traits>

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/scale_at.hpp"
#include "tilewright/kernel/sm90/gather_rows.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/kernel/sm90/stage_scales.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

/// Copies the scales of a tile to the stages, one K block after another. scale_threads<C>
/// threads share the work; this is one of them.
template <gemm_config C, scales_of_b B>
class scale_copies {
 public:
  static constexpr bool by_block = B == scales_of_b::blocks;
  static constexpr int rows = C.tile_m, cols = scale_count<C, B>::value;
  /// How many scales each thread copies for a K block.
  static constexpr int copies = (rows + cols + scale_threads<C> - 1) / scale_threads<C>;

  /// A tensor of scales has less than 2^32 of them (family/sm90_gemm/computes.hpp).
  using index = std::uint32_t;

  /// Rows from `row`, columns of B from column `col` of the tile's D.
  TW_DEVICE scale_copies(gemm_params const& p, int thread, int row, int col, int matrix)
      : p_(p),
        thread_(thread),
        row_(row),
        col_(col),
        matrix_(matrix) {}

  /// K blocks [begin, end) to their stages; the thread gathers rows too, if `gather` is on.
  template <class Smem>
  TW_DEVICE void run(Smem& s, ring<C.stages>& slot, int begin, int end,
                     row_gather<C>& gather) const {
    if constexpr (C.bulk_copies_scales()) {
      if (p_.a_scales_by_bulk != 0) {
        // Read from the parameters: with a constant ptxas spills in the tile of 192x128.
        if (thread_ == 0)
          load_rows(s, slot, begin, end);
        else if (thread_ >= warp_threads &&
                 thread_ - warp_threads < column_threads(has_block_scales<C>(p_)))
          copy_columns(s, slot, begin, end);
        return;
      }
    }
    if (thread_ >= passing) copy_all(s, slot, begin, end, gather);
  }

 private:
  /// Threads before those that copy scales.
  static constexpr int passing = 3 * warp_threads - scale_threads<C>;

  /// A bulk copy of the scales of the tile's rows, for each K block.
  template <class Smem>
  TW_DEVICE void load_rows(Smem& s, ring<C.stages>& slot, int begin, int end) const {
    constexpr int bytes_each = size_bytes(elem::f32);
    int const here = lines_inside(p_.m - row_, rows);
    auto const* from = static_cast<float const*>(p_.a_scales.data) +
                       first_scale<std::int64_t>(p_.a_scales, row_, matrix_) +
                       begin * p_.a_scales.stride_k;
    row_gather<C> none(p_);
    fill(s, slot, begin, end - begin, none, [&](stage_scales<C>& stage, mbarrier& landed, int) {
      landed.arrive_expect_tx(here * bytes_each);
      leave_undefined(stage.of + here, (rows - here) * bytes_each);
      bulk_load(stage.of, from, here * bytes_each, landed);
      from += p_.a_scales.stride_k;
    });
  }

  /// The column scales by cp.async, beside load_rows().
  template <class Smem>
  TW_DEVICE void copy_columns(Smem& s, ring<C.stages>& slot, int begin, int end) const {
    constexpr int threads = column_threads(by_block);
    constexpr int each = (cols + threads - 1) / threads;
    int const first = thread_ - warp_threads;
    index at[each];
    TW_UNROLL
    for (int i = 0; i < each; ++i)
      at[i] =
          first_of_column(first + i * threads) + static_cast<index>(begin * p_.b_scales.stride_k);
    row_gather<C> none(p_);
    fill(s, slot, begin, end - begin, none, [&](stage_scales<C>& stage, mbarrier& landed, int) {
      TW_UNROLL
      for (int i = 0; i < each; ++i)
        if (first + i * threads < cols) {
          cp_async<4>(stage.of + rows + first + i * threads,
                      static_cast<float const*>(p_.b_scales.data) + at[i]);
          at[i] += static_cast<index>(p_.b_scales.stride_k);
        }
      cp_async_mbarrier_arrive_noinc(landed);
    });
  }

  /// Index of the scale number `i` of the tile's columns, for K block 0.
  TW_DEVICE index first_of_column(int i) const {
    int const c = !by_block   ? i
                  : i == 0    ? 0
                  : C.gated() ? C.gate_group
                              : second_scale_from<C>(p_, col_);
    return first_scale<index>(p_.b_scales, token<group_axis::n>(column(col_, c)), matrix_);
  }
  TW_DEVICE index first_of_row(int i) const {
    return first_scale<index>(p_.a_scales,
                              token<group_axis::m>(row_ + i < p_.m ? row_ + i : p_.m - 1), matrix_);
  }
  /// The row of A (or column of B) whose scale serves row (column) i of the tile: i itself, or the
  /// row that the gather index names for i.
  template <group_axis Axis>
  TW_DEVICE int token(int i) const {
    if constexpr (C.gathers() && C.ragged == Axis) {
      if (row_gather<C>::is_on(p_)) {
        int const row = gathered_row(p_.epilogue.group, i);
        return row < 0 ? 0 : row;
      }
    }
    return i;
  }

  /// Copies the scales of rows and columns: float32 by cp.async; UE8M0 through registers, in which
  /// they become float32.
  template <class Smem>
  TW_DEVICE void copy_all(Smem& s, ring<C.stages>& slot, int begin, int end,
                          row_gather<C>& gather) const {
    index first[copies];
    TW_UNROLL
    for (int i = 0; i < copies; ++i) {
      int const t = item(i);
      first[i] = t < rows ? first_of_row(t) : first_of_column(t - rows);
    }
    bool const float_scales = p_.a_scales.data != nullptr && p_.b_scales.data != nullptr &&
                              p_.a_scales.ue8m0 == 0 && p_.b_scales.ue8m0 == 0;
    if (float_scales) {
      index at[copies] = {};
      each([&](int i, operand_scales const& of) {
        at[i] = first[i] + static_cast<index>(begin * of.stride_k);
      });
      fill(s, slot, begin, end - begin, gather, [&](stage_scales<C>& stage, mbarrier& landed, int) {
        each([&](int i, operand_scales const& of) {
          cp_async<4>(stage.of + item(i), static_cast<float const*>(of.data) + at[i]);
          at[i] += static_cast<index>(of.stride_k);
        });
        cp_async_mbarrier_arrive_noinc(landed);
      });
    } else {
      fill(s, slot, begin, end - begin, gather,
           [&](stage_scales<C>& stage, mbarrier& landed, int k) {
             each([&](int i, operand_scales const& of) {
               stage.of[item(i)] = scale_at(of, first[i], begin + k);
             });
             landed.arrive();
           });
    }
  }

  /// Which scale the thread copies: of a row, then of a column.
  TW_DEVICE int item(int i) const { return thread_ - passing + i * scale_threads<C>; }

  /// Calls use(i, the scales of its operand) for each scale of the thread.
  template <class Use>
  TW_DEVICE void each(Use const& use) const {
    TW_UNROLL
    for (int i = 0; i < copies; ++i) {
      if (item(i) < rows)
        use(i, p_.a_scales);
      else if (item(i) < rows + cols)
        use(i, p_.b_scales);
    }
  }

  /// Calls copy(stage, the barrier to arrive at, number of the K block) once per K block, after the
  /// consumers have released the stage.
  template <class Smem, class Copy>
  TW_DEVICE void fill(Smem& s, ring<C.stages>& slot, int first, int blocks, row_gather<C>& gather,
                      Copy const& copy) const {
    TW_NO_UNROLL
    for (int k = 0; k < blocks; ++k, slot.next()) {
      s.scales.scales_read[slot.stage].wait(slot.phase ^ 1U);
      copy(s.scales.of_stage[slot.stage], s.ab_landed[slot.stage], k);
      if constexpr (C.gathers()) {
        if (gather.is_on(p_)) gather.load(s, slot, first + k);
      }
    }
  }

  /// The column of B that is column c of the tile, or the last. With a gate groups of 8 gates and
  /// of 8 columns that they multiply take turns.
  TW_DEVICE int column(int first, int c) const {
    if constexpr (C.gated()) {
      fused_params const& f = p_.epilogue.fused;
      constexpr int group = C.gate_group, pair = 2 * group, gate_group_log2 = 3;
      static_assert(1 << gate_group_log2 == group);
      int const d = first + c / pair * group + c % group, last = p_.epilogue.n - 1;
      return (d < last ? d : last) * f.gate_step + (c >> gate_group_log2 & 1) * f.up_offset;
    }
    return first + c < p_.n ? first + c : p_.n - 1;
  }

  gemm_params const& p_;
  int const thread_, row_, col_, matrix_;
};

}  // namespace tw
