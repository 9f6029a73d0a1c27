// SPDX-License-Identifier: Apache-2.0
// gmem_view.hpp  Matrices in global memory whose extents and pitch are known at run time.
//
//     gmem_view(p, m, k, ld)             (m, k), rows at a pitch of ld elements
//     gmem_view<16>(p, m, k, ld)         and p and the pitch in bytes are multiples of 16
//     col_major_gmem_view(p, m, k, ld)   (m, k), columns at a pitch of ld elements
//
// The layout is row_major_view(): ($0,$1):($2,1). With a promise of alignment the pitch is counted
// in vectors, ($0,$1):(8$2,1) for 8 elements, so that vector accesses are known to be legal.
// Needs:    as promised: p [TW0152], ld [TW0153], both checked on the host
// Example:  tests/tensor/partition_test.cpp
#pragma once

#include "tilewright/layout/bind.hpp"
#include "tilewright/tensor/rule_words.hpp"
#include "tilewright/tensor/view.hpp"

namespace tw {

namespace detail {

/// Empty on the device.
TW_HOST_CALL
TW_HD inline void check_pitch(std::int64_t pitch, std::int64_t multiple) {
  if (pitch % multiple != 0)
    throw_tensor_refusal(TW0153_pitch_is_not_a_multiple_as_promised, pitch, multiple);
}

/// A matrix ($0,$1) whose mode `along` has stride `step * $2`, the other one stride 1.
TW_HD constexpr layout pitched(int along, i64 step) {
  layout l = along == 0 ? row_major_view() : col_major_view();
  l.stride[along] = times(arg(2), step);
  return l;
}

/// For a power of two.
TW_HD constexpr int log2_of(i64 a) {
  int log = 0;
  for (; a > 1; a /= 2) ++log;
  return log;
}

template <int AlignBytes, int Along, class T>
TW_HD inline auto pitched_view(T* p, i64 rows, i64 columns, i64 pitch) {
  constexpr i64 step = AlignBytes > int{sizeof(T)} ? AlignBytes / i64{sizeof(T)} : 1;
  constexpr int shift = log2_of(step);
  constexpr space in = gmem.aligned(AlignBytes);
  if constexpr (step > 1) {
    check_aligned(p, AlignBytes);
    check_pitch(pitch, step);
  }
  return tensor<T, pitched(Along, step), in>{p, 0, {{rows, columns, pitch >> shift}}};
}

}  // namespace detail

/// Row-major (rows, columns).
template <int AlignBytes = 0, class T>
TW_HD inline auto gmem_view(T* p, i64 rows, i64 columns, i64 pitch) {
  return detail::pitched_view<AlignBytes, 0>(p, rows, columns, pitch);
}
/// Column-major (rows, columns).
template <int AlignBytes = 0, class T>
TW_HD inline auto col_major_gmem_view(T* p, i64 rows, i64 columns, i64 pitch) {
  return detail::pitched_view<AlignBytes, 1>(p, rows, columns, pitch);
}

}  // namespace tw
