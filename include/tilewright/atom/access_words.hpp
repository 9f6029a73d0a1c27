// SPDX-License-Identifier: Apache-2.0
// access_words.hpp  The text of the refusals of accesses, one row per rule of access_rules.hpp.
#pragma once

#include "tilewright/base/refusal.hpp"

namespace tw::detail {

inline constexpr refusal_words access_rule_words[] = {
    refusal_words{160, "elements of one access", "{} contiguous", "{}",
                  "a narrower access, or a layout with a longer contiguous run"},
    refusal_words{161, "byte address of an access", "{}", "a multiple of {}", ""},
    refusal_words{162, "extent of the tile", "{}", "a multiple of {}, so that accesses fill it",
                  "another access or tile, or a thread-value layout of your own"},
    refusal_words{
        163, "bits of an element", "{}",
        "{} (transposed matrices, MN-major operands), or at most that for ld.16 and st.16", "", 16},
    refusal_words{163, "bits of an element", "{}", "8, 16, 32 or 64, a divisor of {}", ""},
    refusal_words{164, "index that a thread accesses", "{}", "0 up to below the tile's {}", ""},
    refusal_words{
        165, "bytes between neighbouring rows", "{}", "{}",
        "wgmma and TMA know dense 16-byte rows, or the 32, 64, 128 B swizzles with rows of "
        "their span"},
    refusal_words{166, "number of modes", "{}", "{}", "group the modes of the tile"},
    refusal_words{167, "bytes of the tile", "{}", "at most {}, the shared memory of a CTA",
                  "give the layout of one stage"},
};

}  // namespace tw::detail
