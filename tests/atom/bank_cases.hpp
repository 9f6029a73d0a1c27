// SPDX-License-Identifier: Apache-2.0
// bank_cases.hpp  Accesses whose wavefronts the model predicts and the GPU counts
//                 (tests/gpu/banks.cu): layouts by name, and random patterns of addresses.
#pragma once

#include <string>
#include <vector>

#include "tests/layout/random.hpp"
#include "tilewright/atom/bank_proposal.hpp"

namespace tw_test {

/// One way to access a tile; threads: a (thread, value) layout, or empty for the natural map.
struct bank_case {
  std::string access, tile;
  int elem_bits;
  std::string threads = "";

  tw::access_kind kind() const { return *tw::access_named(access); }
  tw::layout layout() const { return tw::parse_layout(tile.data(), static_cast<int>(tile.size())); }
  tw::layout map() const {
    if (threads.empty()) return natural_map(kind(), layout(), elem_bits);
    tw::layout const tv = tw::parse_layout(threads.data(), static_cast<int>(threads.size()));
    return map_of_threads(kind(), tv, elem_bits);
  }
  tw::bank_totals model() const { return count_banks(kind(), layout(), elem_bits, map()); }
};

/// Loads, stores and matrices. At most 16 steps each, at most 64 KB.
inline std::vector<bank_case> bank_cases() {
  return {
      {"ld.32", "(32,32):(32,1)", 32},                  // a row each
      {"ld.32", "(32,32):(32,1)", 32, "(32,1):(1,0)"},  // down a column: the transpose
      {"ld.32", "(32,32):(33,1)", 32, "(32,1):(1,0)"},  // padded
      {"ld.32", "Sw<5,0,5> o 0 o (32,32):(32,1)", 32, "(32,1):(1,0)"},
      {"ld.32", "(32,32):(32,1)", 32, "(32,1):(0,0)"},  // one word for all
      {"ld.32", "2048:1", 32, "(32,1):(2,0)"},
      {"ld.32", "2048:1", 32, "(32,1):(8,0)"},
      {"ld.8", "(32,128):(128,1)", 8, "(32,1):(1,0)"},
      {"ld.8", "(8,128):(128,1)", 8},
      {"ld.16", "(64,64):(64,1)", 16, "(32,1):(1,0)"},
      {"ld.16", "(8,64):(64,1)", 16},
      {"ld.64", "(16,64):(64,1)", 32},
      {"ld.64", "(64,64):(64,1)", 16, "(32,4):(1,64)"},
      {"ld.64", "(16,64):(64,1)", 32, "((2,16),2):((0,32),16)"},  // pairs of threads agree
      {"ld.128", "(64,64):(64,1)", 16, "(32,8):(1,64)"},
      {"ld.128", "Sw<3,3,3> o 0 o (64,64):(64,1)", 16, "(32,8):(1,64)"},
      {"ld.128", "(32,64):(64,1)", 16},
      {"ld.128", "(32,64):(64,1)", 16, "((4,8),8):((0,1),32)"},  // quads of threads agree
      {"st.8", "(32,128):(128,1)", 8, "(32,1):(1,0)"},
      {"st.16", "(64,64):(64,1)", 16, "(32,1):(1,0)"},
      {"st.32", "(32,32):(32,1)", 32, "(32,1):(1,0)"},
      {"st.32", "(32,32):(33,1)", 32, "(32,1):(1,0)"},
      {"st.32", "(16,64):(64,1)", 16, "((4,8),(2,2)):((32,1),(16,8))"},  // a warp's mma result
      {"st.32", "Sw<3,3,3> o 0 o (16,64):(64,1)", 16, "((4,8),(2,2)):((32,1),(16,8))"},
      {"st.64", "(64,64):(64,1)", 16, "(32,4):(1,64)"},
      {"st.64", "(16,64):(64,1)", 32, "((2,16),2):((0,32),16)"},
      {"st.128", "(64,64):(64,1)", 16, "(32,8):(1,64)"},
      {"st.128", "Sw<3,3,3> o 0 o (64,64):(64,1)", 16, "(32,8):(1,64)"},
      {"st.128", "(64,64):(72,1)", 16, "(32,8):(1,64)"},
      {"ldmatrix.x4", "(64,64):(64,1)", 16},
      {"ldmatrix.x4", "Sw<3,3,3> o 0 o (64,64):(64,1)", 16},
      {"ldmatrix.x4", "(64,64):(72,1)", 16},
      {"ldmatrix.x4", "(64,32):(32,1)", 16},
      {"ldmatrix.x4", "Sw<2,3,3> o 0 o (64,32):(32,1)", 16},
      {"ldmatrix.x4", "(64,16):(16,1)", 16},
      {"ldmatrix.x4", "Sw<1,3,3> o 0 o (64,16):(16,1)", 16},
      {"ldmatrix.x2", "(64,32):(32,1)", 16},
      {"ldmatrix.x1", "(64,16):(16,1)", 16},
      {"ldmatrix.x4.trans", "(64,32):(1,64)", 16},
      {"ldmatrix.x4.trans", "Sw<3,3,3> o 0 o (64,32):(1,64)", 16},
      {"stmatrix.x4", "(64,64):(64,1)", 16},
      {"stmatrix.x4", "Sw<3,3,3> o 0 o (64,64):(64,1)", 16},
      {"stmatrix.x4", "(64,64):(72,1)", 16},
      {"stmatrix.x2", "(64,32):(32,1)", 16},
      {"stmatrix.x1", "Sw<1,3,3> o 0 o (64,16):(16,1)", 16},
      {"stmatrix.x4.trans", "(64,32):(1,64)", 16},
  };
}

/// Accesses that random patterns are made of.
inline std::vector<std::string> pattern_accesses() {
  return {"ld.8",        "ld.16",       "ld.32",       "ld.64",      "ld.128",      "st.8",
          "st.16",       "st.32",       "st.64",       "st.128",     "ldmatrix.x1", "ldmatrix.x2",
          "ldmatrix.x4", "stmatrix.x1", "stmatrix.x2", "stmatrix.x4"};
}
inline constexpr int patterns_of_each = 32;

/// Pattern i: addresses below 64 KB; threads share them in pairs, fours or eights, or halves of the
/// warp differ in how they do; some threads take no part.
inline tw::warp_access bank_pattern(tw::access_kind k, int i) {
  random_source r(static_cast<std::uint64_t>(1000 * i + 10 * k.bits + k.matrices) * 4 +
                  static_cast<std::uint64_t>(k.op));
  tw::warp_access a;
  a.bytes = k.bits / 8;
  a.rule = k.rule();
  a.active = k.threads() == 32 ? ~0U : (1U << k.threads()) - 1;
  std::int64_t const range = std::int64_t{4} << r.below(9);
  for (std::int64_t& x : a.address) x = r.below(range) * a.bytes;
  auto const join = [&](int begin, int end, int mask) {
    for (int t = begin; t < end; ++t) a.address[t] = a.address[t & ~mask];
  };
  switch (i % 11) {
    case 1: join(0, 32, 1); break;
    case 2: join(0, 32, 2); break;
    case 3: join(0, 32, 4); break;
    case 4: join(0, 32, 16); break;
    case 5: join(0, 32, 7); break;
    case 6: join(0, 16, 1), join(16, 32, 2); break;
    case 7: join(0, 16, 1); break;
    case 8: join(16, 32, 2); break;
    case 9: join(0, 32, 3); break;
    case 10: join(0, 32, 1); break;
    default: break;
  }
  if (k.plain() && i % 3 == 2) {
    a.active = static_cast<std::uint32_t>(r.below(std::int64_t{1} << 32));
    if (i % 2 == 0) a.active &= static_cast<std::uint32_t>(r.below(std::int64_t{1} << 32));
    a.active |= 1U << r.below(32);
  }
  return a;
}

}  // namespace tw_test
