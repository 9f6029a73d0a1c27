// SPDX-License-Identifier: Apache-2.0
// copy_refuse.cpp  The words of the refusals of copies, one row per rule of atom/copy_rules.hpp.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "tilewright/atom/copy_rules.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace {

struct words {
  int rule;
  std::string_view what;
  std::string_view got;   // {} is the first number
  std::string_view need;  // {} is the second number
  std::string_view hint;
};

constexpr std::array rows{
    words{230, "bits of an element", "{}",
          "a divisor of {}, the consecutive bits that one thread moves",
          "choose a narrower element or another copy atom"},
    words{231, "threads or values of a tiled copy", "{}", "a multiple of the atom's {}",
          "choose a thread or value layout of whole atoms, or a narrower atom"},
    words{232, "address of a cotiled copy", "{}", "an address of the data layout, of {} elements",
          "let the thread-value layout stay inside the data"},
    words{233, "name of a copy atom", "{} characters",
          "a row of atom/copy_table.hpp, of which {} characters match",
          "see the rows of atom/copy_table.hpp"},
    words{234, "size of a copy atom", "{}", "a size of its row, at most {}",
          "see the rows of atom/copy_table.hpp"},
    words{235, "bits of an element in a shared-memory atom", "{}", "a power of two up to {}", ""},
    words{236, "extent of a tile", "{}",
          "a multiple of {}, the extent of the narrowest shared-memory atom", "round the tile up"},
    words{237, "swizzle of a shared-memory layout, bits base shift in bytes", "{}",
          "143, 243, 343 or none (tcgen05 also 252); nearest {}",
          "build the layout from a shared-memory atom"},
    words{238, "stride along the major mode", "{} elements", "{}: 16 bytes of it lie together",
          "name the other major, or transpose the layout"},
    words{239, "distance of two rows of an operand", "{} bits", "a multiple of {} bits",
          "pad the rows to 16 bytes"},
    words{240, "place of a row or chunk of an operand", "{} x 16 bytes",
          "{} x 16 bytes, its place in the canonical layout",
          "build the tile with tile_to_shape from one shared-memory atom; a part must start at a "
          "whole atom"},
    words{241, "extent of one step of an operand", "{}", "{} or a multiple along M and N",
          "take one step along k out of the tile (local_tile), and whole atoms along M or N"},
    words{242, "start of an operand", "{} bytes",
          "a multiple of {} bytes plus a place in the pattern's first row",
          "start at a whole atom"},
    words{243, "offset of a matrix descriptor", "{} bytes", "0 to less than {} bytes", ""},
    words{244, "elements of a TMA tile", "{}", "{}, as the shared-memory layout has",
          "leave the stages out of the shared-memory layout"},
    words{245, "global stride of the index that is contiguous in shared memory", "{}", "{}",
          "use a shared-memory atom of the other major, or a tiler without gaps"},
    words{246, "extent of a TMA box", "{}", "1 to {}", "cut the tile and copy several boxes"},
    words{247, "row of a TMA box", "{} bytes", "a multiple of {} bytes", "widen the tile's rows"},
    words{247, "row of a TMA box", "{} bytes", "at most {} bytes, the span of the swizzle",
          "cut the tile into boxes that are one span wide"},
    words{248, "global stride of a TMA copy", "{} bits", "a positive multiple of {} bits",
          "pad the rows of the tensor to 16 bytes"},
    words{249, "modes of a TMA tensor", "{}, and the box is wide along a grouped one", "at most {}",
          "coalesce the tensor's modes, or give the trailing modes tiles of 1"},
    words{304, "extent of a TMA tensor", "{}", "1 to {} elements",
          "make several tensor maps, each of a part of the tensor"},
    words{305, "global stride of a TMA copy", "{} bytes", "less than {} bytes",
          "make several tensor maps, each of a part of the tensor"},
};

}  // namespace

void throw_copy_refusal(int rule, std::int64_t got, std::int64_t need) {
  for (words const& w : rows) {
    bool const too_wide = rule == 247 && need != 16;  // the second of its rows
    if (w.rule != rule || (too_wide && w.need.starts_with("a multiple"))) continue;
    throw rejected({fmt::format("TW0{}", rule), std::string(w.what),
                    fmt::format(fmt::runtime(w.got), got), fmt::format(fmt::runtime(w.need), need),
                    std::string(w.hint)});
  }
  throw_refusal(rule, got, need);
}

}  // namespace tw
