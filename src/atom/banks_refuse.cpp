// SPDX-License-Identifier: Apache-2.0
// banks_refuse.cpp  The words of the refusals of accesses, one row per rule of access_rules.hpp.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "tilewright/atom/access_rules.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace {

struct words {
  int rule;
  std::string_view what, got, need;  // {} are the numbers
  std::string_view hint;
};

constexpr std::array rows{
    words{160, "elements of one access", "{} contiguous", "{}",
          "a narrower access, or a layout with a longer contiguous run"},
    words{161, "byte address of an access", "{}", "a multiple of {}", ""},
    words{162, "extent of the tile", "{}", "a multiple of {}, so that accesses fill it",
          "another access or tile, or a thread-value layout of your own"},
    words{163, "bits of an element", "{}", "8, 16, 32 or 64, a divisor of {}",
          "transposed matrices and MN-major operands have elements of 16 bits"},
    words{164, "index that a thread accesses", "{}", "0 up to below the tile's {}", ""},
    words{165, "bytes between neighbouring rows", "{}", "{}",
          "wgmma and TMA know dense 16-byte rows, or the 32, 64, 128 B swizzles with rows of "
          "their span"},
    words{166, "number of modes", "{}", "{}", "group the modes of the tile"},
    words{167, "bytes of the tile", "{}", "at most {}, the shared memory of a CTA",
          "give the layout of one stage"},
};

}  // namespace

void throw_access_refusal(int rule, std::int64_t got, std::int64_t need) {
  for (words const& w : rows) {
    if (w.rule != rule) continue;
    throw rejected({fmt::format("TW0{}", rule), std::string(w.what),
                    fmt::format(fmt::runtime(w.got), got), fmt::format(fmt::runtime(w.need), need),
                    std::string(w.hint)});
  }
  throw rejected({fmt::format("TW0{}", rule), "access to shared memory", std::to_string(got),
                  std::to_string(need), ""});
}

}  // namespace tw
