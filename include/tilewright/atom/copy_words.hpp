// SPDX-License-Identifier: Apache-2.0
// copy_words.hpp  The text of the refusals of copies, one row per rule of copy_rules.hpp.
#pragma once

#include "tilewright/base/refusal.hpp"

namespace tw::detail {

inline constexpr refusal_words copy_rule_words[] = {
    refusal_words{230, "bits of an element", "{}",
                  "a divisor of {}, the consecutive bits that one thread moves",
                  "choose a narrower element or another copy atom"},
    refusal_words{231, "threads or values of a tiled copy", "{}", "a multiple of the atom's {}",
                  "choose a thread or value layout of whole atoms, or a narrower atom"},
    refusal_words{232, "address of a cotiled copy", "{}",
                  "an address of the data layout, of {} elements",
                  "let the thread-value layout stay inside the data"},
    refusal_words{233, "name of a copy atom", "{} characters",
                  "a row of atom/copy_table.hpp, of which {} characters match",
                  "see the rows of atom/copy_table.hpp"},
    refusal_words{234, "size of a copy atom", "{}", "a size of its row, at most {}",
                  "see the rows of atom/copy_table.hpp"},
    refusal_words{235, "bits of an element in a shared-memory atom", "{}",
                  "a power of two up to {}", ""},
    refusal_words{236, "extent of a tile", "{}",
                  "a multiple of {}, the extent of the narrowest shared-memory atom",
                  "round the tile up"},
    refusal_words{237, "swizzle of a shared-memory layout, bits base shift in bytes", "{}",
                  "143, 243, 343 or none (tcgen05 also 252); nearest {}",
                  "build the layout from a shared-memory atom"},
    refusal_words{238, "stride along the major mode", "{} elements",
                  "{}: 16 bytes of it lie together",
                  "name the other major, or transpose the layout"},
    refusal_words{239, "distance of two rows of an operand", "{} bits", "a multiple of {} bits",
                  "pad the rows to 16 bytes"},
    refusal_words{
        240, "place of a row or chunk of an operand", "{} x 16 bytes",
        "{} x 16 bytes, its place in the canonical layout",
        "build the tile with tile_to_shape from one shared-memory atom; a part must start at a "
        "whole atom"},
    refusal_words{
        241, "extent of one step of an operand", "{}", "{} or a multiple along M and N",
        "take one step along k out of the tile (local_tile), and whole atoms along M or N"},
    refusal_words{242, "start of an operand", "{} bytes",
                  "a multiple of {} bytes plus a place in the pattern's first row",
                  "start at a whole atom"},
    refusal_words{243, "offset of a matrix descriptor", "{} bytes", "0 to less than {} bytes", ""},
    refusal_words{244, "elements of a TMA tile", "{}", "{}, as the shared-memory layout has",
                  "leave the stages out of the shared-memory layout"},
    refusal_words{245, "global stride of the index that is contiguous in shared memory", "{}", "{}",
                  "use a shared-memory atom of the other major, or a tiler without gaps"},
    refusal_words{246, "extent of a TMA box", "{}", "1 to {}",
                  "cut the tile and copy several boxes"},
    refusal_words{247, "row of a TMA box", "{} bytes", "a multiple of {} bytes",
                  "widen the tile's rows", 16},
    refusal_words{247, "row of a TMA box", "{} bytes", "at most {} bytes, the span of the swizzle",
                  "cut the tile into boxes that are one span wide"},
    refusal_words{248, "global stride of a TMA copy", "{} bits", "a positive multiple of {} bits",
                  "pad the rows of the tensor to 16 bytes"},
    refusal_words{249, "modes of a TMA tensor", "{}, and the box is wide along a grouped one",
                  "at most {}",
                  "coalesce the tensor's modes, or give the trailing modes tiles of 1"},
    refusal_words{304, "extent of a TMA tensor", "{}", "1 to {} elements",
                  "make several tensor maps, each of a part of the tensor"},
    refusal_words{305, "global stride of a TMA copy", "{} bytes", "less than {} bytes",
                  "make several tensor maps, each of a part of the tensor"},
};

}  // namespace tw::detail
