// SPDX-License-Identifier: Apache-2.0
// copy_names.hpp  Copy atoms and tiled copies by text on the host: our names, the field's spelling,
//                 lists of names, expressions.
//
//     one_copy("copy.sm75.ldmatrix.x4") == one_copy("SM75_U32x4_LDSM_N")
//     parse_tiled_copy("tiled_copy(copy_atom(UniversalCopy_128b,32),(32,8),(4,1))")
//
// Needs:    a name of some atom, an expression of the forms below [TW0233]; what the atom and the
//           tiled copy need
// Note:     SM75_U32x1_MOVM_T is copy.sm75.movmatrix.places, registers place by place, as the
//           reference describes it; the transposition is copy.sm75.movmatrix.t
// Example:  tests/atom/copy_names_test.cpp
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/atom/tiled_copy.hpp"

namespace tw {

/// The canonical name (copy.sm75.ldmatrix.x4) of a name in the field's spelling
/// (SM75_U32x4_LDSM_N); canonical names stay. Throws `rejected`.
std::string canonical_copy_name(std::string_view name);

/// The atom of a name in either spelling, in bits. Throws `rejected`.
copy_atom one_copy(std::string_view name);

/// Canonical names of every row of copy_table.hpp in every size; of rows with sizes without end
/// (bulk copies, TMA boxes) the smallest.
std::vector<std::string> copy_names();

/// "copy_atom(NAME, element bits)", NAME in either spelling.
copy_atom parse_copy_atom(std::string_view text);

/// "tiled_copy(copy_atom(...), thr, val)", "cotiled_copy(copy_atom(...), tv, data)",
/// "tiled_copy_A(copy_atom(...), tiled_mma(...))", also _B, _C and _C_atom.
tiled_copy parse_tiled_copy(std::string_view text);

/// The thread-value layout of one side: "src" or "dst" (S, D) of an atom in bits (its name), in
/// values (copy_atom(...)) or of a tiled copy; "ref" is an atom's reference side, a tiled copy's
/// tv.
layout copy_tv(std::string_view text, std::string_view side);

}  // namespace tw
