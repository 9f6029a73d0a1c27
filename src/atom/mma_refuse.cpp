// SPDX-License-Identifier: Apache-2.0
// mma_refuse.cpp  The words of the refusals of MMA atoms, one row per rule of atom/mma_rules.hpp.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "tilewright/atom/mma_rules.hpp"
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
    words{210, "name of an MMA atom", "something else at position {}",
          "mma.ARCH.mMnNkK.D.A.B and variants, in this order", "docs/atoms.md lists the atoms"},
    words{211, "shape of an MMA atom", "N = {}",
          "a row of docs/atoms.md with these formats (M * 1000 + K = {})", ""},
    words{213, "operand of an atom", "number {}", "one of the {} it has", ""},
    words{214, "modes of a tiled MMA", "{}", "at most {}: m, n, k", ""},
    words{215, "permutation of a tiled MMA, extent", "{}", "a multiple of {}, what the atoms fill",
          ""},
    words{216, "tiled MMA, threads with consecutive numbers", "{}", "all {}",
          "choose an atom layout that fills the gaps of the atom's threads"},
    words{217, "thread of a tiled MMA", "{}", "a thread of an atom, {} in all", ""},
    words{218, "accumulator in tensor memory, extent", "{}", "{} or what docs/atoms.md lists", ""},
    words{219, "field of an instruction descriptor", "{}", "at most {}, whole units", ""},
};

}  // namespace

void throw_mma_refusal(int rule, std::int64_t got, std::int64_t need) {
  for (words const& w : rows) {
    if (w.rule != rule) continue;
    throw rejected({fmt::format("TW0{}", rule), std::string(w.what),
                    fmt::format(fmt::runtime(w.got), got, need),
                    fmt::format(fmt::runtime(w.need), need), std::string(w.hint)});
  }
  throw rejected(
      {fmt::format("TW0{}", rule), "atom", std::to_string(got), std::to_string(need), {}});
}

}  // namespace tw
