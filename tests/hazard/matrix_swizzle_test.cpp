// SPDX-License-Identifier: Apache-2.0
// matrix_swizzle_test.cpp  ldmatrix from tiles that TMA brought: with the pattern of the tensor map
//                          and with others.
#include "tests/hazard/expect.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

/// Row `row` and 16 bytes `chunk` of a[0], where rows of 128 bytes have the swizzle.
void const* row_at(memory s, int row, int chunk, swizzle_mode mode = swizzle_mode::b128) {
  auto const at = static_cast<std::uint32_t>(128 * row + 16 * chunk);
  return reinterpret_cast<std::byte const*>(s.a[0]) + swizzled(at, mode);
}
void load_tile(memory s, args p) {
  make_barriers(s);
  load(s, p, s.a[0], 0);
  s.full[0].wait(0);
}

TEST_P(Hazards, E0037MatricesWithoutTheSwizzle) {
  expect({.code = "E0037", .object = "a[0]", .part = "ldmatrix reads"},
         []<bool Broken>(memory s, args p) {
           load_tile(s, p);
           auto const mode = Broken ? swizzle_mode::none : swizzle_mode::b128;
           ldmatrix<2>(row_at(s, 16 * warp_id() + lane_id() % 8, lane_id() / 8 % 2, mode));  // now
         });
}

TEST_P(Hazards, E0037MatricesWithASwizzleOf64Bytes) {
  expect(
      {.code = "E0037",
       .object = "a[0]",
       .part = "with a swizzle of 64 bytes; TMA wrote it with "
               "a swizzle of 128"},
      []<bool Broken>(memory s, args p) {
        load_tile(s, p);
        auto const mode = Broken ? swizzle_mode::b64 : swizzle_mode::b128;
        ldmatrix<4, true>(row_at(s, 16 * warp_id() + lane_id() % 16, lane_id() / 16, mode));  // now
      });
}

/// Chunk c of row r is taken to be at c ^ (r / 2): no swizzle of TMA.
TEST_P(Hazards, E0037MatricesWithAnotherPattern) {
  expect({.code = "E0037", .object = "a[0]", .part = "with another pattern"},
         []<bool Broken>(memory s, args p) {
           load_tile(s, p);
           int const row = lane_id() % 8, chunk = lane_id() / 8;
           if (Broken)
             ldmatrix<4>(row_at(s, row, chunk ^ row / 2, swizzle_mode::none));  // now
           else
             ldmatrix<4>(row_at(s, row, chunk));
         });
}

/// Rows in another order, every other row, one row for all, lanes whose address is not used,
/// matrices from two tiles, and a matrix of ordinary stores.
TEST_P(Hazards, MatricesOfAnyRows) {
  emu::report const r = run_body<false>(
      []<bool>(memory s, args p) {
        load_tile(s, p);
        load(s, p, s.a[1], 64, 1);
        s.full[1].wait(0);
        int const row = lane_id() % 8, chunk = lane_id() / 8;
        ldmatrix<4>(row_at(s, 7 - row, chunk));
        ldmatrix<4>(row_at(s, row ^ 1, chunk + 4));
        ldmatrix<4>(row_at(s, 2 * row, chunk));
        ldmatrix<4>(row_at(s, 8 * row, chunk));
        ldmatrix<4>(row_at(s, 3, chunk));
        ldmatrix<1>(lane_id() < 8 ? row_at(s, row, 5) : nullptr);
        ldmatrix<4>(row_at(s, (row < 4 ? 60 : 64 - 4) + row, chunk));
        for (int i = thread_id(); i < 1024; i += 128) s.b[0][i] = 0;
        cta_sync();
        ldmatrix<4>(&s.b[0][2 * lane_id()]);
      },
      scheduled(GetParam()));
  EXPECT_TRUE(r.clean()) << r.text();
}

/// A tile that was put in the order of matrices in global memory: 8 rows lie one after another.
TEST_P(Hazards, MatricesOfATileWithoutASwizzle) {
  [[maybe_unused]] static std::uint64_t words[128];
  emu::report const r = run_body<false>(
      []<bool>(memory s, args) {
        make_barriers(s);
        if (thread_id() == 0) {
          s.full[0].arrive_expect_tx(1024);
          tw::bulk_load(s.a[0], words, 1024, s.full[0]);
        }
        s.full[0].wait(0);
        ldmatrix<4>(&s.a[0][2 * lane_id()]);
      },
      scheduled(GetParam()));
  EXPECT_TRUE(r.clean()) << r.text();
}

}  // namespace
}  // namespace tw::test
