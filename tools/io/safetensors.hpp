// SPDX-License-Identifier: Apache-2.0
// safetensors.hpp  .safetensors files: the list of tensors, a matrix view of one, a header to
// write.
//
// Layout of a file: 8 bytes with the header's length (little-endian), the header (JSON), the data.
// Checked as the format's own reader checks: header at most 100 MB, no key twice, offsets in range,
// data covered without overlap or gap, sizes that agree with shape and type. Format: safetensors,
// README, "Format".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/io/matrix_view.hpp"

namespace tw {

/// One tensor of the header. Offsets count from the first byte of the data.
struct tensor_entry {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::int64_t begin_bytes = 0, end_bytes = 0;
};

struct safetensors_list {
  std::vector<tensor_entry> tensors;  // in the order of the header
  std::size_t data_at = 0;            // bytes before the data
};

/// "experts[3]": part 3 of the tensor "experts" along its first dimension.
struct named_part {
  std::string tensor;
  std::int64_t index;
};
std::optional<named_part> part_in(std::string_view tensor);

/// Reads and checks the whole header. Throws `rejected`: TW0603 truncated, TW0606 sizes,
/// TW0608 header, TW0609 offsets, TW0660 a GGUF file.
safetensors_list list_safetensors(std::span<std::byte const> content, std::string const& file);

/// The matrix called `tensor`, or a part of it; with an empty name the only tensor of the file.
/// Throws what list_safetensors throws, and TW0604 and TW0661 element type, TW0605 rank, TW0607
/// size, TW0610 no tensor of this name, TW0659 and TW0662 packed integers.
matrix_view view_safetensors(std::span<std::byte const> content, std::string const& file,
                             std::string const& tensor, accepted_shapes const& accepted = {});

/// Length and header of a file with one row-major matrix; its elements follow. The second form
/// takes any number of extents.
std::string safetensors_header(std::string const& tensor, elem type, std::int64_t rows,
                               std::int64_t cols);
std::string safetensors_header(std::string const& tensor, elem type,
                               std::vector<std::int64_t> const& shape);

/// The header of a file with several tensors, whose data follow each other.
struct named_tensor {
  std::string name;
  elem type;
  std::vector<std::int64_t> shape;
};
std::string safetensors_header(std::vector<named_tensor> const& tensors);

}  // namespace tw
