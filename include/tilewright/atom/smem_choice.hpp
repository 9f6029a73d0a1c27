// SPDX-License-Identifier: Apache-2.0
// smem_choice.hpp  The widest shared-memory atom that fills a tile, and why no wider one does.
//
// An atom fits where each of its extents divides the tile's, and also those of the pieces into
// which the tile is cut: a warpgroup's part, a pipeline of k blocks. A piece that starts inside an
// atom has no separate layout: its addresses are no shape:stride function.
//
//     widest_smem_atom(K, 16 bits, (128,48)).mode is b32: 48 is 0.75 spans of 64, 1.5 of 32
//
// Needs:    at least the atom without swizzle fits [TW0236]
// Example:  tests/atom/smem_atom_test.cpp
#pragma once

#include "tilewright/atom/copy_rules.hpp"  // first: compilers show this path in every refusal

#include <string>

#include "tilewright/atom/smem_atom.hpp"

namespace tw {

/// One atom that was tried, from the widest down. It fits, or extent `got` along mode `axis` is no
/// multiple of `need`; in_piece: of a piece, not of the tile itself.
struct smem_trial {
  smem_swizzle mode = smem_swizzle::none;
  bool fits = false;
  int axis = 0;  // 0 = M or N, 1 = K
  i64 got = 0, need = 0;
  bool in_piece = false;
};

/// The choice, and what was tried before it.
struct smem_choice {
  smem_swizzle mode = smem_swizzle::none;
  operand_major major = operand_major::k;
  i64 bits = 16;
  layout atom;
  smem_trial tried[4] = {};
  int trials = 0;
};

TW_HD constexpr smem_trial try_smem_atom(operand_major major, smem_swizzle mode, i64 bits,
                                         tree const& tile, tree const& piece) {
  smem_trial t;
  t.mode = mode;
  layout const atom = smem_atom(major, mode, bits);
  for (int axis = 0; axis < 2; ++axis) {
    i64 const need = atom.extent(axis);
    for (bool const in_piece : {false, true}) {
      i64 const got = size(tw::mode(in_piece ? piece : tile, axis));
      if (got % need == 0) continue;
      return {mode, false, axis, got, need, in_piece};
    }
  }
  t.fits = true;
  return t;
}

/// tile, piece: (M or N, K) in elements.
TW_HD constexpr smem_choice widest_smem_atom(operand_major major, i64 bits, tree const& tile,
                                             tree const& piece) {
  smem_choice c;
  c.major = major;
  c.bits = bits;
  if (rank(tile) < 2 || rank(piece) < 2) refuse_profile(rank(tile), 2);
  for (smem_swizzle const s :
       {smem_swizzle::b128, smem_swizzle::b64, smem_swizzle::b32, smem_swizzle::none}) {
    smem_trial const t = try_smem_atom(major, s, bits, tile, piece);
    c.tried[c.trials++] = t;
    if (!t.fits) continue;
    c.mode = s;
    c.atom = smem_atom(major, s, bits);
    return c;
  }
  smem_trial const& last = c.tried[c.trials - 1];
  refuse_smem_fit(last.got, last.need);
  return c;
}
TW_HD constexpr smem_choice widest_smem_atom(operand_major major, i64 bits, tree const& tile) {
  return widest_smem_atom(major, bits, tile, tile);
}

/// "32 B", "none", ...
char const* name(smem_swizzle s);

/// A line per atom that was tried: "128 B does not fit: K = 48 is 0.75 spans of 64 elements".
std::string to_string(smem_choice const& c);

}  // namespace tw
