// SPDX-License-Identifier: Apache-2.0
// smem_choice.cpp  The choice of a shared-memory atom in words.
#include "tilewright/atom/smem_choice.hpp"

#include <fmt/format.h>

namespace tw {

char const* name(smem_swizzle s) {
  switch (s) {
    case smem_swizzle::none: return "none";
    case smem_swizzle::b32: return "32 B";
    case smem_swizzle::b64: return "64 B";
    case smem_swizzle::b128: return "128 B";
    case smem_swizzle::b128_base32: return "128 B in chunks of 32";
  }
  return "?";
}

std::string to_string(smem_choice const& c) {
  std::string text;
  for (int i = 0; i < c.trials; ++i) {
    smem_trial const& t = c.tried[i];
    if (t.fits) {
      text += fmt::format("{} fits: the atom is {} x {} elements\n", name(t.mode), c.atom.extent(0),
                          c.atom.extent(1));
      continue;
    }
    bool const along_span = (t.axis == 1) == (c.major == operand_major::k);
    text += fmt::format("{} does not fit: {}{} = {} is {:.4g} {} of {}\n", name(t.mode),
                        t.in_piece ? "a piece's " : "", t.axis == 1 ? "K" : "M or N", t.got,
                        static_cast<double>(t.got) / static_cast<double>(t.need),
                        along_span ? "spans" : "groups of rows", t.need);
  }
  return text;
}

}  // namespace tw
