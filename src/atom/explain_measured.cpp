// SPDX-License-Identifier: Apache-2.0
// explain_measured.cpp  Registers that nvcc 13.0 gave compiled kernels: the rows of
//                       tests/golden/registers.json, whose test compiles them again.
#include <fmt/format.h>

#include "atom/explain_parts.hpp"

namespace tw::detail {
namespace {

struct measurement {
  int mma_n;
  smem_swizzle smem;
  copy_kind kind;
  int bits;
  bool by_turns;
  addressing how;
  int registers;
};

using enum smem_swizzle;
using enum copy_kind;
using enum addressing;

/// Tile 192x192, f16, warpgroups 1x2 and a third that loads.
constexpr measurement rows[] = {
    {96, b64, stmatrix, 128, false, stepped, 170},
    {96, b32, stmatrix, 128, false, stepped, 170},
    {96, none, stmatrix, 128, false, stepped, 170},
    {32, b128, stmatrix, 128, false, stepped, 170},
    {96, b128, stmatrix, 128, true, stepped, 170},
    {96, b64, store, 32, false, stepped, 170},
    {96, b64, store, 16, false, stepped, 170},
    {96, b64, store, 32, false, swizzled_each, 235},
    {96, b64, store, 16, false, swizzled_each, 244},
    {96, b128, stmatrix, 128, false, coordinates, 200},
    {96, b128, store, 32, false, coordinates, 245},
};

}  // namespace

std::optional<int> measured_registers(combination const& c, addressing how) {
  bool const tile = c.rows == 192 && c.columns == 192 && c.groups_m == 1 && c.groups_n == 2 &&
                    c.type == elem::f16 && c.contiguous == operand_major::k;
  bool const copy = c.copy.kind != stmatrix || c.copy.count == 4;
  if (!tile || !copy || !c.smem) return {};
  for (measurement const& r : rows) {
    if (r.mma_n == c.mma_n && r.smem == *c.smem && r.kind == c.copy.kind && r.bits == c.copy.bits &&
        r.by_turns == c.by_turns && r.how == how) {
      return r.registers;
    }
  }
  return {};
}

std::string measured_note(combination c) {
  c.smem = b64;
  c.copy = {};
  auto const matrices = measured_registers(c, stepped);
  c.copy = {store, 32, 1, false};
  auto const pairs = measured_registers(c, stepped),
             pairs_each = measured_registers(c, swizzled_each);
  c.copy = {store, 16, 1, false};
  auto const single_each = measured_registers(c, swizzled_each);
  if (!matrices || !pairs || !pairs_each || !single_each) return {};
  return fmt::format(
      "measured with nvcc 13.0, smem=SW64: {} registers with stmatrix.x4; {} with st.32 and {} "
      "with "
      "st.16 if each store computes its swizzle, {} if it steps from the thread's first address",
      *matrices, *pairs_each, *single_each, *pairs);
}

}  // namespace tw::detail
