// SPDX-License-Identifier: Apache-2.0
// mma_words.hpp  The text of the refusals of MMA atoms, one row per rule of mma_rules.hpp.
#pragma once

#include "tilewright/base/refusal.hpp"

namespace tw::detail {

inline constexpr refusal_words mma_rule_words[] = {
    refusal_words{210, "name of an MMA atom", "something else at position {}",
                  "mma.ARCH.mMnNkK.D.A.B and variants, in this order",
                  "docs/atoms.md lists the atoms"},
    refusal_words{211, "shape of an MMA atom", "N = {}",
                  "a row of docs/atoms.md with these formats (M * 1000 + K = {})", ""},
    refusal_words{213, "operand of an atom", "number {}", "one of the {} it has", ""},
    refusal_words{214, "modes of a tiled MMA", "{}", "at most {}: m, n, k", ""},
    refusal_words{215, "permutation of a tiled MMA, extent", "{}",
                  "a multiple of {}, what the atoms fill", ""},
    refusal_words{216, "tiled MMA, threads with consecutive numbers", "{}", "all {}",
                  "choose an atom layout that fills the gaps of the atom's threads"},
    refusal_words{217, "thread of a tiled MMA", "{}", "a thread of an atom, {} in all", ""},
    refusal_words{218, "accumulator in tensor memory, extent", "{}",
                  "{} or what docs/atoms.md lists", ""},
    refusal_words{219, "field of an instruction descriptor", "{}", "at most {}, whole units", ""},
};

}  // namespace tw::detail
