// SPDX-License-Identifier: Apache-2.0
// wgmma.hpp  The asynchronous warpgroup multiply (emulated). PTX ISA, "wgmma.mma_async".
#pragma once

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/emu/engine.hpp"
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

/// One thread's part of a 64 x N tile of float32. Element i of thread t (0..127 of its warpgroup)
/// is row 16*(t/32) + (t%32)/4 + 8*((i>>1)&1), column 8*(i>>2) + 2*(t&3) + (i&1).
/// The warpgroup's tile is column-major; this object is a view of it.
template <int N>
struct accumulator {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "[TW0201] wgmma N is a multiple of 8 up to 256");
  static constexpr int size = N / 2;

  explicit accumulator(emu::site where = emu::site::here())
      : storage_(emu::accumulator_open(N, where)) {
    int const t = emu::self->id % 128;
    own_ = storage_.tile + accumulator_map::row_of(t / 32, t % 32) +
           64 * accumulator_map::col_of(t % 32);
  }
  ~accumulator() { emu::accumulator_close(); }
  accumulator(accumulator const&) = delete;
  accumulator& operator=(accumulator const&) = delete;

  float& operator[](emu::accumulator_index at) {
    emu::accumulator_state& s = *storage_.state;
    if (s.busy_group > emu::self->wgmma_known_done) emu::accumulator_misused(s, at.i, at.where);
    s.touched = true;
    s.touched_at = at.where;
    return own_[64 * accumulator_map::col_of_register(at.i) +
                accumulator_map::row_of_register(at.i)];
  }
  float* tile() { return storage_.tile; }
  emu::accumulator_state& state() { return *storage_.state; }

 private:
  emu::accumulator_storage storage_;
  float* own_;
};

template <int N>
TW_DEVICE void wgmma_fence(accumulator<N>& d, emu::site where = emu::site::here()) {
  emu::wgmma_fence(d.state(), where);
}
template <int N1, int N2>
TW_DEVICE void wgmma_fence(accumulator<N1>& d1, accumulator<N2>& d2,
                           emu::site where = emu::site::here()) {
  emu::wgmma_fence(d1.state(), where);
  emu::wgmma_fence(d2.state(), where);
}

/// With fragments of A, which every wgmma takes as they are when it is issued.
template <int N>
TW_DEVICE void wgmma_fence(accumulator<N>& d, b32<4>&, emu::site where = emu::site::here()) {
  emu::wgmma_fence(d.state(), where);
}
template <int N>
TW_DEVICE void wgmma_fence(accumulator<N>& d, b32<4>&, b32<4>&,
                           emu::site where = emu::site::here()) {
  emu::wgmma_fence(d.state(), where);
}

template <elem AB, operand_major A, operand_major B, int N>
TW_DEVICE void wgmma(accumulator<N>& d, smem_desc a, smem_desc b, bool accumulate,
                     emu::site where = emu::site::here()) {
  emu::wgmma_record({AB, A, B, N, d.tile(), &d.state(), a, b, false, accumulate}, nullptr, false,
                    where);
}
/// A from registers, the K-major fragment of wgmma.m64nNk16. The variable keeps its value until
/// wgmma_wait (E0048).
template <elem AB, operand_major B, int N>
TW_DEVICE void wgmma(accumulator<N>& d, b32<4> const& a, smem_desc b, bool accumulate,
                     emu::site where = emu::site::here()) {
  emu::wgmma_record({AB, operand_major::k, B, N, d.tile(), &d.state(), {}, b, true, accumulate},
                    a.r, true, where);
}
/// A value without a name, which cannot change.
template <elem AB, operand_major B, int N>
TW_DEVICE void wgmma(accumulator<N>& d, b32<4>&& a, smem_desc b, bool accumulate,
                     emu::site where = emu::site::here()) {
  emu::wgmma_record({AB, operand_major::k, B, N, d.tile(), &d.state(), {}, b, true, accumulate},
                    a.r, false, where);
}
TW_DEVICE void wgmma_commit(emu::site where = emu::site::here()) { emu::wgmma_commit(where); }

/// Waits until at most `Pending` committed groups of the warpgroup are unfinished.
template <int Pending, int N>
TW_DEVICE void wgmma_wait(accumulator<N>&, emu::site where = emu::site::here()) {
  emu::wgmma_wait(Pending, where);
}
template <int Pending, int N1, int N2>
TW_DEVICE void wgmma_wait(accumulator<N1>&, accumulator<N2>&, emu::site where = emu::site::here()) {
  emu::wgmma_wait(Pending, where);
}

}  // namespace tw
