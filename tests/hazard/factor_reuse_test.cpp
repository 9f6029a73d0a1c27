// SPDX-License-Identifier: Apache-2.0
// factor_reuse_test.cpp  Scale factors that threads store, and factors that serve all of K.
#include <bit>

#include "tests/hazard/tensor/tensor_kernels.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

constexpr int scaled_columns = 128;
constexpr std::uint32_t one_of_each = 0x7F7F7F7F;  // four factors of 1

/// How the four scale factors of a row, one for each block of K, are chosen.
enum class factors { ones, of_row, of_block };
std::uint32_t word_of(factors what, int row) {
  auto const r = static_cast<std::uint32_t>(row % 8);
  return what == factors::ones     ? one_of_each
         : what == factors::of_row ? (0x7AU + r) * 0x01010101U
                                   : 0x7D7E7F80U - r;
}
struct scaled_places {
  std::uint32_t d, sfa, sfb;
};
/// Makes the barriers, allocates tensor memory, and loads A and B; thread 0 waits for the loads.
scaled_places begin_scaled(memory s, args p) {
  make_barriers(s);
  std::uint32_t const d = allocate(s, scaled_columns);
  if (thread_id() == 0) {
    s.full[0].arrive_expect_tx(3 * 8192);
    tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0});
    tma_load(s.a[1], p.inner, s.full[0], tma_coord{0, 64});
    tma_load(s.b[0], p.inner, s.full[0], tma_coord{0, 0});
    s.full[0].wait(0);
  }
  return {d, d + 64, d + 68};
}
void multiply_step(memory s, scaled_places const& at, int step, emu::site where) {
  constexpr std::uint32_t idesc = umma_scaled_idesc{.n = 64, .m = 128}.bits();
  umma_scaled<umma_kind::mxf8f6f4, 32>(at.d, umma_operand(s.a[0]) + 32 * step,
                                       umma_operand(s.b[0]) + 32 * step, idesc, at.sfa, at.sfb,
                                       step > 0, where);
}
/// All threads store the factors of their rows.
void store_factors(scaled_places const& at, factors what) {
  std::uint32_t const w = word_of(what, thread_id());
  for (std::uint32_t const to : {at.sfa, at.sfb})
    tmem_store<tmem_shape::l32x32b, 4>(tmem_at(to, 32 * warp_id(), 0), {{w, w, w, w}});
  tmem_wait_store();
  tcgen05_fence_before();
  cta_sync();
}
void multiply_and_wait(memory s, scaled_places const& at, int step, emu::site where) {
  if (thread_id() == 0) {
    tcgen05_fence_after();
    multiply_step(s, at, step, where);
    umma_commit(s.empty[0]);
  }
  s.empty[0].wait(static_cast<std::uint32_t>(step) & 1U);
  tcgen05_fence_after();
  cta_sync();
}
void copy_factors(memory s, scaled_places const& at, factors what) {
  int const row = thread_id();  // rows 32 j to 32 j + 31 have word j of 16 bytes
  s.x[4 * (row % 32) + row / 32] = std::bit_cast<float>(word_of(what, row));
  fence_proxy_async();
  cta_sync();
  if (thread_id() != 0) return;
  umma_desc const from = make_umma_desc(smem_addr(s.x), 16, 128, swizzle_mode::none);
  tmem_copy<tmem_copy_shape::c32x128b_x4>(at.sfa, from);
  tmem_copy<tmem_copy_shape::c32x128b_x4>(at.sfb, from);
}

TEST_P(Hazards, E0113FactorsOfTheNextBlockAreNotStored) {
  expect({.code = "E0113", .object = "tensor memory of CTA 0, column 64", .part = "from k = 16"},
         []<bool Broken>(memory s, args p) {
           scaled_places const at = begin_scaled(s, p);
           for (int step = 0; step < 2; ++step) {
             if (step == 0 || !Broken) store_factors(at, factors::of_block);
             multiply_and_wait(s, at, step, emu::site::here());  // now earlier
           }
           give_back(at.d, scaled_columns);
         });
}

TEST_P(Hazards, OneFactorServesAllOfK) {
  for (factors const what : {factors::ones, factors::of_row})
    for (bool const stored : {true, false}) {
      [[maybe_unused]] static factors kind;  // the body has no state
      static bool by_threads;
      kind = what;
      by_threads = stored;
      emu::report const r = run_body<false>(
          []<bool>(memory s, args p) {
            scaled_places const at = begin_scaled(s, p);
            if (by_threads)
              store_factors(at, kind);
            else
              copy_factors(s, at, kind);
            for (int step = 0; step < 4; ++step) multiply_and_wait(s, at, step, emu::site::here());
            give_back(at.d, scaled_columns);
          },
          scheduled(GetParam()));
      EXPECT_TRUE(r.clean()) << r.text();
    }
}

TEST_P(Hazards, E0113FactorsOfOneBlockServeAllOfK) {
  expect({.code = "E0113", .object = "tensor memory of CTA 0, column 64"},
         []<bool Broken>(memory s, args p) {
           scaled_places const at = begin_scaled(s, p);
           copy_factors(s, at, Broken ? factors::of_block : factors::ones);
           for (int step = 0; step < 2; ++step)
             multiply_and_wait(s, at, step, emu::site::here());  // now earlier
           give_back(at.d, scaled_columns);
         });
}

}  // namespace
}  // namespace tw::test
