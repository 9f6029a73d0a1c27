// SPDX-License-Identifier: Apache-2.0
// wgmma.hpp  The asynchronous warpgroup multiply (emulated). PTX ISA, "wgmma.mma_async".
#pragma once

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/wgmma_kind.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

namespace emu {

/// A small index, and where it stands in the source.
struct accumulator_index {
  int i;
  site where;
  accumulator_index(int index, site at = site::here()) : i(index), where(at) {}
};

}  // namespace emu

using register_index = emu::accumulator_index;  // on the GPU an int

/// One thread's part of a 64 x N tile of sums. Value i of thread t (0..127 of its warpgroup)
/// is row 16*(t/32) + (t%32)/4 + 8*((i>>1)&1), column 8*(i>>2) + 2*(t&3) + (i&1).
/// The warpgroup's tile is column-major; this object is a view of it. T is float, std::int32_t, or
/// f16: then register i, a 32-bit word, holds values 2i (low half) and 2i + 1, and a column of the
/// tile is a pair of columns.
template <int N, class T = float>
struct accumulator {
  static_assert(
      has_wgmma_n(elem_of<T>, N),
      "[TW0201] wgmma N is a multiple of 8 up to 256; above 32 a multiple of 16 where the "
      "sums are integers");
  using value = T;
  using word = typename detail::accumulator_register<T>::type;
  static constexpr int values = detail::accumulator_register<T>::values;
  static constexpr int size = N / 2 / values;

  explicit accumulator(emu::site where = emu::site::here())
      : storage_(emu::accumulator_open(elem_of<T>, N, where)) {
    int const t = emu::self->id % 128;
    own_ = tile() + accumulator_map::row_of(t / 32, t % 32) +
           64 * (accumulator_map::col_of(t % 32) / values);
  }
  ~accumulator() { emu::accumulator_close(); }
  accumulator(accumulator const&) = delete;
  accumulator& operator=(accumulator const&) = delete;

  word& operator[](emu::accumulator_index at) {
    emu::accumulator_state& s = *storage_.state;
    if (s.busy_group > emu::self->wgmma_known_done) emu::accumulator_misused(s, at.i, at.where);
    s.touched = true;
    s.touched_at = at.where;
    return own_[64 * (accumulator_map::col_of_register(values * at.i) / values) +
                accumulator_map::row_of_register(values * at.i)];
  }
  word* tile() { return static_cast<word*>(storage_.tile); }
  emu::accumulator_state& state() { return *storage_.state; }

 private:
  emu::accumulator_storage storage_;
  word* own_;
};

template <int N, class T>
TW_DEVICE void wgmma_fence(accumulator<N, T>& d, emu::site where = emu::site::here()) {
  emu::wgmma_fence(d.state(), where);
}
template <int N1, class T1, int N2, class T2>
TW_DEVICE void wgmma_fence(accumulator<N1, T1>& d1, accumulator<N2, T2>& d2,
                           emu::site where = emu::site::here()) {
  emu::wgmma_fence(d1.state(), where);
  emu::wgmma_fence(d2.state(), where);
}

/// With fragments of A, which every wgmma takes as they are when it is issued.
template <int N, class T>
TW_DEVICE void wgmma_fence(accumulator<N, T>& d, b32<4>&, emu::site where = emu::site::here()) {
  emu::wgmma_fence(d.state(), where);
}
template <int N, class T>
TW_DEVICE void wgmma_fence(accumulator<N, T>& d, b32<4>&, b32<4>&,
                           emu::site where = emu::site::here()) {
  emu::wgmma_fence(d.state(), where);
}

namespace detail {

/// The call of a wgmma whose operands are in shared memory, or of one with A in registers.
template <elem A, operand_major AMajor, elem B, operand_major BMajor, integer_overflow Overflow,
          int N, class T>
emu::wgmma_call call_of(accumulator<N, T>& d, smem_desc a, smem_desc b, bool a_in_registers,
                        bool accumulate) {
  [[maybe_unused]] constexpr bool exists = wgmma_types<A, B, tw::elem_of<T>>::exists &&
                                           wgmma_major<A, AMajor>::exists &&
                                           wgmma_major<B, BMajor>::exists;
  return {{A, B, tw::elem_of<T>, Overflow, AMajor, BMajor, N},
          d.tile(),
          &d.state(),
          a,
          b,
          a_in_registers,
          accumulate};
}

}  // namespace detail

/// d (64, N) = a (64, K) * b (K, N) + d, or without + d; K elements are 32 bytes. A and B are the
/// operands' types, AMajor and BMajor their orders; has_wgmma (arch/wgmma_kind.hpp) says which
/// exist. Overflow: of integer sums.
template <elem A, operand_major AMajor, operand_major BMajor, elem B = A,
          integer_overflow Overflow = integer_overflow::wrap, int N, class T>
TW_DEVICE void wgmma(accumulator<N, T>& d, smem_desc a, smem_desc b, bool accumulate,
                     emu::site where = emu::site::here()) {
  emu::wgmma_record(detail::call_of<A, AMajor, B, BMajor, Overflow>(d, a, b, false, accumulate),
                    nullptr, false, where);
}
/// A from registers, the K-major fragment: the warp's 16 rows as four matrices of 8 rows x 16 bytes
/// of K. The variable keeps its value until wgmma_wait (E0048).
template <elem A, operand_major BMajor, elem B = A,
          integer_overflow Overflow = integer_overflow::wrap, int N, class T>
TW_DEVICE void wgmma(accumulator<N, T>& d, b32<4> const& a, smem_desc b, bool accumulate,
                     emu::site where = emu::site::here()) {
  emu::wgmma_record(
      detail::call_of<A, operand_major::k, B, BMajor, Overflow>(d, {}, b, true, accumulate), a.r,
      true, where);
}
/// A value without a name, which cannot change.
template <elem A, operand_major BMajor, elem B = A,
          integer_overflow Overflow = integer_overflow::wrap, int N, class T>
TW_DEVICE void wgmma(accumulator<N, T>& d, b32<4>&& a, smem_desc b, bool accumulate,
                     emu::site where = emu::site::here()) {
  emu::wgmma_record(
      detail::call_of<A, operand_major::k, B, BMajor, Overflow>(d, {}, b, true, accumulate), a.r,
      false, where);
}
TW_DEVICE void wgmma_commit(emu::site where = emu::site::here()) { emu::wgmma_commit(where); }

/// Waits until at most `Pending` committed groups of the warpgroup are unfinished.
template <int Pending, int N, class T>
TW_DEVICE void wgmma_wait(accumulator<N, T>&, emu::site where = emu::site::here()) {
  emu::wgmma_wait(Pending, where);
}
template <int Pending, int N1, class T1, int N2, class T2>
TW_DEVICE void wgmma_wait(accumulator<N1, T1>&, accumulator<N2, T2>&,
                          emu::site where = emu::site::here()) {
  emu::wgmma_wait(Pending, where);
}

}  // namespace tw
