// SPDX-License-Identifier: Apache-2.0
// tensor_kernels.hpp  The parts of small kernels with tcgen05: A and B of 64 x 64 bf16, D of
//                     64 x 64 in tensor memory.
#pragma once

#include "tests/hazard/expect.hpp"
#include "tilewright/atom/umma_idesc.hpp"

namespace tw::test {

inline constexpr int tensor_columns = 64;
inline constexpr std::uint32_t tensor_idesc =
    umma_idesc{.d_format = 1, .a_format = 1, .b_format = 1, .n = 64, .m = 64}.bits();

/// Columns that all threads know the address of.
inline std::uint32_t allocate(hazard_smem& s, int columns = tensor_columns,
                              emu::site where = emu::site::here()) {
  if (warp_id() == 0) tmem_alloc(&s.tensor_at, columns, where);
  cta_sync();
  return s.tensor_at;
}
/// At the end of a kernel, after a barrier.
inline void give_back(std::uint32_t at, int columns = tensor_columns,
                      emu::site where = emu::site::here()) {
  cta_sync();
  if (warp_id() == 0) tmem_dealloc(at, columns, where);
}
inline umma_desc umma_operand(void const* tile, std::uint32_t stride = 1024,
                              swizzle_mode mode = swizzle_mode::b128) {
  return make_umma_desc(smem_addr(tile), 16, stride, mode);
}
/// One thread: D (+)= A B, both of K = 64.
inline void multiply_tile(std::uint32_t d, umma_desc a, umma_desc b, bool accumulate = false,
                          emu::site where = emu::site::here()) {
  for (int k = 0; k < 4; ++k)
    umma<umma_kind::f16>(d, a + 32 * k, b + 32 * k, tensor_idesc, accumulate || k > 0, where);
}
/// A and B are in shared memory, known to thread 0.
inline void load_operands(hazard_smem& s, hazard_params const& p) {
  if (thread_id() != 0) return;
  s.full[0].arrive_expect_tx(16384);
  tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0});
  tma_load(s.b[0], p.inner, s.full[0], tma_coord{0, 0});
  s.full[0].wait(0);
}
/// The warp's lanes of D: 16 of its 32.
inline b32<32> load_tile(std::uint32_t d, emu::site where = emu::site::here()) {
  return tmem_load<tmem_shape::l16x64b, 32>(tmem_at(d, 32 * (warp_id() % 4), 0), where);
}
/// Thread 0 multiplies; empty[0] completes when D is there.
inline void multiply_once(hazard_smem& s, hazard_params const& p, std::uint32_t d,
                          emu::site where = emu::site::here()) {
  load_operands(s, p);
  if (thread_id() != 0) return;
  multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]), false, where);
  umma_commit(s.empty[0]);
}

}  // namespace tw::test
