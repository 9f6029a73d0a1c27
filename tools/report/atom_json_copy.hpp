// SPDX-License-Identifier: Apache-2.0
// atom_json_copy.hpp  Questions about copies, shared-memory atoms, descriptors and TMA, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace tw {

/// The answer's fields to a question {"op", "name", ...} of tests/conform/atoms.jsonl:
/// copy_atom_bits, copy_atom_val, smem_atom, smem_tile_to_shape, gmma_desc, umma_desc, tiled_copy,
/// tiled_copy_partition, tma_params. Nothing where the op is another. Throws `rejected`:
/// TW0221 where a field is missing, TW0121 where one says nothing known.
std::optional<nlohmann::ordered_json> answer_copy_question(nlohmann::ordered_json const& question);

}  // namespace tw
