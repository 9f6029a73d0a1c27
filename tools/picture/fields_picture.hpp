// SPDX-License-Identifier: Apache-2.0
// fields_picture.hpp  A 64-bit descriptor as a ruler of bits, and a table of its fields.
//
// Rows of 16 bits, the highest first; a field has a colour, and hovering a bit shows its field.
// Needs:    what places_of_operand needs of the layout [TW0237-TW0243]
// Example:  tests/tools/picture/picture_atoms_test.cpp
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/atom/descriptor.hpp"
#include "tools/picture/picture.hpp"

namespace tw {

struct bit_field {
  std::string name;
  int first = 0, bits = 1;
  std::string meaning;  // of its value here
};

/// Fields in rising order; bits of no field are pale.
picture fields_picture(std::string title, std::uint64_t value,
                       std::vector<bit_field> const& fields);

/// Which descriptor is drawn.
enum class descriptor_kind : std::uint8_t { wgmma, tcgen05 };

/// The descriptor of step `step` along k of an operand tile (M or N, K), at shared address 0.
picture descriptor_picture(descriptor_kind kind, layout const& tile, operand_major major, i64 bits,
                           i64 step);

}  // namespace tw
