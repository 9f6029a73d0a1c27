// SPDX-License-Identifier: Apache-2.0
// bank_proposal.hpp  Swizzles and paddings that remove bank conflicts, or why none does.
//
// The search takes the tile without its swizzle and tries Sw<bits, base, shift> from few bits to
// many: bases that leave a thread's elements together, both directions of the shift, and no offset
// beyond the plain tile. The first that reaches the ideal count is proposed: the fewest bits, then
// the hardware's, then the lowest base. Or rows are padded by whole accesses.
// Example:  propose(ldmatrix_access(4), "(64,64):(64,1)"_L, 16, map, false).swizzled == Sw<3,3,3>
//           tests/atom/access_test.cpp "proposals"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/atom/access.hpp"

namespace tw {

/// The names of --access, and the access of a name.
std::vector<std::string> access_names();
std::optional<access_kind> access_named(std::string_view name);
std::string name_of(access_kind k);

/// A layout that needs fewer wavefronts than the tile without swizzle.
struct bank_layout {
  layout tile;
  i64 wavefronts = 0;
  i64 extra_bytes = 0;  // of shared memory
};

struct bank_proposal {
  i64 ideal = 0;                       // wavefronts of the whole tile
  i64 plain = 0;                       // of the tile without swizzle
  std::optional<bank_layout> swizzle;  // reaches the ideal
  std::optional<bank_layout> best;     // if none does: the swizzle that needs fewest
  std::optional<bank_layout> beyond;  // if none does: one that moves elements beyond the tile's end
  std::optional<bank_layout> padding;  // reaches the ideal
  std::string why;                     // if no swizzle does
};

/// hardware_only: the swizzles of TMA and wgmma (32, 64, 128 B), and no padding.
/// Refuses what access_of refuses for the tile without swizzle.
bank_proposal propose(access_kind k, layout const& tile, int elem_bits, layout const& map,
                      bool hardware_only);

/// "the 128-byte swizzle of TMA and wgmma", or nothing.
std::string hardware_name(swizzle s, int elem_bits);

}  // namespace tw
