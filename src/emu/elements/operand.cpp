// SPDX-License-Identifier: Apache-2.0
// operand.cpp  Refuses operands that are malformed or reach outside shared memory.
#include "emu/elements/operand.hpp"

#include <fmt/format.h>

namespace tw::emu {

std::optional<std::string> check_operand(char name, smem_desc d, operand_extent const& extent,
                                         std::uint32_t smem_base, std::uint32_t smem_bytes) {
  // Bit 61 comes from tcgen05's layout type 1; wgmma's check refuses it before (product.cpp).
  constexpr std::uint64_t fields = 0xE000'3FFF'3FFF'3FFFU | (7ULL << 49);
  if ((d.bits & ~fields) != 0)
    return fmt::format("descriptor {:#018x} of {} has reserved bits set (a field has overflowed?)",
                       d.bits, name);
  if ((d.bits >> 49 & 7U) != 0)
    return fmt::format(
        "descriptor {:#018x} of {} has base offset {}; atoms must start at multiples "
        "of 8 swizzle spans, with base offset 0",
        d.bits, name, d.bits >> 49 & 7U);
  operand_layout const layout(d, extent.major);
  chunk_grid const grid(extent);
  std::uint64_t const end = std::uint64_t{smem_base} + smem_bytes;
  auto const plain = [&](int r, int c) {
    return layout.start + layout.row_offset(static_cast<std::uint32_t>(r)) +
           layout.column_offset(static_cast<std::uint32_t>(c));
  };
  // No chunk ends more than a group of columns after the last one begins, and the swizzle moves a
  // chunk within 128 aligned bytes.
  std::uint64_t const highest =
      std::uint64_t{plain(grid.rows - 1, grid.columns - 1)} + 16 * layout.columns - 1;
  if (layout.start >> 7 << 7 >= smem_base && (highest >> 7 << 7) + 128 <= end) return std::nullopt;
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.columns; ++c) {
      std::uint32_t const at = swizzled(plain(r, c), layout.swizzle);
      if (at < smem_base || at + 16 > end)
        return fmt::format(
            "operand {} (descriptor {:#018x}) reaches address {:#x}; shared memory is "
            "[{:#x}, {:#x})",
            name, d.bits, at, smem_base, end);
    }
  return std::nullopt;
}

}  // namespace tw::emu
