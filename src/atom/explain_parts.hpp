// SPDX-License-Identifier: Apache-2.0
// explain_parts.hpp  Common parts of explain: maps of copies, iteration over accesses, texts.
#pragma once

#include <string_view>
#include <vector>

#include "tilewright/atom/explain.hpp"
#include "tilewright/atom/tiled_copy.hpp"

namespace tw::detail {

/// From the widest down.
inline constexpr smem_swizzle swizzles[] = {smem_swizzle::b128, smem_swizzle::b64,
                                            smem_swizzle::b32, smem_swizzle::none};

[[noreturn]] void refuse(char const* code, std::string what, std::string got, std::string need,
                         std::string hint = {});

/// Which cells of one step of the tile the copies write: threads and values of the wgmmas, as
/// the copy atom takes them. [TW0231] values that are no whole copies.
struct copy_map {
  layout cells;          // (thread, (values of one address, copies)) -> cell of the step
  i64 rows, columns;     // of the step; cells count column-major
  i64 address_elements;  // values of one address

  i64 row(i64 cell) const { return cell % rows; }
  i64 column(i64 cell) const { return cell / rows; }
};

copy_map map_of(combination const& c);

/// The tile in shared memory. [TW0118]
layout tile_in_memory(combination const& c);

/// All figures of a combination of D.
combination_cost cost_of(combination const& c, layout const& tile, copy_map const& m);

/// How a store finds its place: steps from the thread's first one, by xor and sum; a step of the
/// offset and then the swizzle; everything from the row and the column.
enum class addressing : std::uint8_t { stepped, swizzled_each, coordinates };

/// Registers of the kernels of tests/golden/registers.json, where one was compiled.
std::optional<int> measured_registers(combination const& c, addressing how);

/// Measured registers of plain stores, for the tile that was measured; else empty.
std::string measured_note(combination c);

/// The rule that refuses is one of the algebra: the tile exists, the partition does not.
bool only_partition_missing(decision const& d);

/// The lines that say why a combination of D does not work.
std::vector<std::string> geometry_of(combination const& c, decision const& d);

std::vector<alternative> alternatives_of(combination const& c);

/// A and B on sm80.
explanation explain_operand(combination const& c);
std::string operand_text(explanation const& e);

/// a / b in three digits: "1.5", "0.75", "3".
std::string ratio(i64 a, i64 b);

/// Appends text in lines of at most 98 columns.
void add_wrapped(std::vector<std::string>& lines, std::string text, std::string_view indent = "");

}  // namespace tw::detail
