// SPDX-License-Identifier: Apache-2.0
// atom_json.hpp  Queries about atoms: by "op" and "name", answered field by field.
//
//     {"id": "a1", "op": "mma_atom", "name": "SM80_16x8x8_F32BF16BF16F32_TN"}
//     {"id": "a1", "ThrID": "32:1", "ThrID_offs": [...], "Shape_MNK": "(16,8,8)", "ALayout": ...}
//
// The fields are those of tests/conform/atoms.jsonl. Beside a layout X stands X_offs, its offsets,
// up to 256 of them; above that X_n, their number, and X_crc32, the CRC-32 of the offsets joined by
// commas, up to 2^17 of them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tilewright/layout/layout.hpp"

namespace tw {

/// The fields of the answer; nothing where "op" is no operation of atoms. Throws `rejected`: TW0221
/// where the question lacks a field, and what the atom's code refuses.
std::optional<nlohmann::ordered_json> answer_atom_question(nlohmann::ordered_json const& question);

/// Answers of MMA atoms alone: mma_atom, tiled_mma, tiled_mma_partition, umma_idesc, tmem_frg.
std::optional<nlohmann::ordered_json> answer_mma_question(nlohmann::ordered_json const& question);

/// fields[key], key_offs or key_n and key_crc32 of a layout whose pointer stands at `base`.
void put_layout(nlohmann::ordered_json& fields, std::string const& key, layout const& l,
                i64 base = 0);

/// A field of the question. Throws `rejected` [TW0221].
std::string text_field(nlohmann::ordered_json const& question, std::string const& key);
i64 integer_field(nlohmann::ordered_json const& question, std::string const& key);

}  // namespace tw
