// SPDX-License-Identifier: Apache-2.0
// matrix_file.hpp  Matrices by address: FILE.npy, FILE.safetensors:TENSOR or a stream, in and out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/io/mapped_file.hpp"
#include "tools/io/matrix_view.hpp"
#include "tools/io/output_file.hpp"

namespace tw {

enum class file_format {
  npy,
  safetensors,
  index,   // *.safetensors.index.json: the file that holds a tensor of a sharded checkpoint
  stream,  // stdin or a pipe: .npy, or .safetensors; stdout: .npy
};

/// Where a matrix lives. tensor: not in .npy files, may be empty.
struct matrix_address {
  file_format format = file_format::npy;
  std::string path, tensor;

  std::string text() const { return tensor.empty() ? path : path + ":" + tensor; }
};

/// "w.safetensors:layer.0" -> {safetensors, "w.safetensors", "layer.0"}; "-" is a stream. Throws
/// `rejected` TW0611.
matrix_address parse_address(std::string const& text);

/// A matrix in a file that stays mapped, or in memory that a stream was read to, as long as this
/// lives.
class matrix_file {
 public:
  explicit matrix_file(matrix_address const& address, accepted_shapes const& accepted = {});
  matrix_view const& view() const { return view_; }

 private:
  std::optional<mapped_file> file_;
  std::vector<std::byte> stream_;
  matrix_view view_;
};

/// Refuses an output that could not be written, before the work is done: TW0612 for a folder that
/// is missing or read-only, a target that is no file, or a .safetensors file with other tensors in
/// it (writing replaces the file) that are not among `together`, which are written with it.
void check_output(matrix_address const& address, std::vector<matrix_address> const& together = {});

/// The name of the tensor that is written: "D" for an address without one.
std::string output_tensor(matrix_address const& address);

/// The bytes before the elements of an array of this shape. An unnamed tensor is called "D".
std::string array_header(matrix_address const& address, elem type,
                         std::vector<std::int64_t> const& shape);

/// Writes a row-major matrix; the file appears whole or not at all. Throws `rejected` TW0612.
void write_matrix(matrix_address const& address, matrix_view const& matrix);

}  // namespace tw
