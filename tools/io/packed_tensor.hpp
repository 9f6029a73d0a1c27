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

namespace tw {

/// Refuses a tensor `name` whose elements are not those of a matrix: TW0659 for int32 of GPTQ, AWQ
/// and compressed-tensors (qweight, qzeros, weight_packed); TW0662 for uint8 with two e2m1 each
/// (weight_packed, or blocks as gpt-oss has them), unless `e2m1` says that they are read so.
void refuse_packed(std::string_view name, std::string_view dtype,
                   std::vector<std::int64_t> const& shape, std::string const& what, bool e2m1);

/// Refuses (TW0660) the content of a GGUF file.
void refuse_gguf(std::span<std::byte const> content, std::string const& file);

/// Refuses (TW0660) an address that ends with .gguf, or FILE.gguf:TENSOR.
void refuse_gguf(std::string const& address);

}  // namespace tw
