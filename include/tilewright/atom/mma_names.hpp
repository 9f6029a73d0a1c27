// SPDX-License-Identifier: Apache-2.0
// mma_names.hpp  MMA atoms by text on the host: names with parts left out, the field's spelling,
//                lists of atoms, expressions tiled_mma(...).
//
//     match_mma("mma.sm90.m64n96k16.f16")           8 atoms: f16 and f32 sums, ss and rs, majors
//     one_mma("SM90_64x96x16_F32BF16BF16_SS")       mma.sm90.m64n96k16.f32.bf16.bf16.ss
//     tv_layout("mma.sm90.m64n96k16.f16", c)        one answer: all 8 agree about C
//
// A name with parts left out means every atom whose name has the given parts in that order; a whole
// name means that atom alone. Where several are meant and the answer depends on which, the name is
// ambiguous and the candidates are listed.
// Needs:    a name of some atom [TW0210], of an existing shape [TW0211], of one answer [TW0212]
// Example:  tests/atom/mma_name_test.cpp
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/atom/mma_fragment.hpp"
#include "tilewright/atom/mma_name.hpp"
#include "tilewright/atom/tiled_mma.hpp"

namespace tw {

std::string to_string(mma_atom const& a);

/// Every atom of a row of mma_table.hpp.
std::vector<mma_atom> atoms_of(mma_row const& row);

/// The atoms that a text means, at least one. Throws `rejected`.
std::vector<mma_atom> match_mma(std::string_view name);

/// The atom that a text means. Throws `rejected`, TW0212 if there are several.
mma_atom one_mma(std::string_view name);

/// A, B or C as text: "A", "b". Throws `rejected` [TW0213].
mma_operand mma_operand_of(std::string_view text);

/// The thread-value layout of the atoms that a text means, where they agree. Throws `rejected`.
layout tv_layout(std::string_view name, mma_operand which);

/// "tiled_mma(ATOM, atom layout[, permutation])". Throws `rejected`; TW0220 if it is no such
/// text.
tiled_mma parse_tiled_mma(std::string_view text);

/// The text that parse_tiled_mma reads.
std::string to_string(tiled_mma const& t);

namespace detail {
/// The atom in the spelling of the field (SM90_64x96x16_F32BF16BF16_SS); false if it is none.
bool read_field_spelling(std::string_view text, mma_atom& atom);
}  // namespace detail

}  // namespace tw
