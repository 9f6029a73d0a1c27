// SPDX-License-Identifier: Apache-2.0
// atom_picture.hpp  Instructions: an MMA's A, B and C placed as in a product, a copy's two sides.
//
//                 B (k x n)           cells are named by thread and value; an operand that no
//     A (m x k)   C (m x n)           thread holds (shared memory) is drawn without owners
//
// tcgen05: owners are CTAs. A copy atom's cells are elements: 16 bits where the atom allows it,
// 32 for tensor memory, else 8, 4 or 1; a row is what one thread moves in one piece. A tiled copy
// is drawn as the tile that it moves: which thread reads which value, and, if that differs, which
// thread has it afterwards.
// Needs:    a name of an atom [TW0210, TW0211, TW0233], a whole one [TW0212], tiled_mma(...) or
//           tiled_copy(...) and its relatives [TW0101, TW0231, TW0232]
#pragma once

#include <string_view>

#include "tilewright/atom/copy_atom.hpp"
#include "tilewright/atom/tiled_copy.hpp"
#include "tilewright/atom/tiled_mma.hpp"
#include "tools/picture/picture.hpp"

namespace tw {

picture mma_picture(mma_atom const& atom);
picture mma_picture(tiled_mma const& mma);
picture copy_picture(std::string_view name);
picture copy_picture(tiled_copy const& c);

/// The text names an atom: mma.*, copy.*, the field's spelling of one, tiled_mma(...) or a tiled
/// copy.
bool names_atom(std::string_view text);

/// The picture of what names_atom accepts.
picture atom_picture(std::string_view text);

}  // namespace tw
