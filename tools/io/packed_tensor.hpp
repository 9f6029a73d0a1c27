// SPDX-License-Identifier: Apache-2.0
// packed_tensor.hpp  Weights of public checkpoints whose integers pack smaller numbers: recognised
//                    by names, types and shapes, and refused with what they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/io/safetensors.hpp"

namespace tw {

/// Refuses a tensor that packs several elements in an integer: TW0659 for int32 of GPTQ, AWQ and
/// compressed-tensors (qweight, qzeros, weight_packed); TW0662 for uint8 with two e2m1 each
/// (weight_packed, the blocks of gpt-oss, and a tensor beside which `all`, the tensors of the file,
/// has block scales NAME_scale, as ModelOpt writes them), unless `e2m1`: the caller reads the
/// tensor as e2m1. `name`: without an index of experts.
void refuse_packed(tensor_entry const& t, std::string_view name,
                   std::vector<tensor_entry> const& all, std::string const& what, bool e2m1);

/// Refuses (TW0660) the content of a GGUF file.
void refuse_gguf(std::span<std::byte const> content, std::string const& file);

/// Refuses (TW0660) an address that ends with .gguf, or FILE.gguf:TENSOR.
void refuse_gguf(std::string const& address);

}  // namespace tw
