// SPDX-License-Identifier: Apache-2.0
// matrix_file.hpp  Matrices by address: FILE.npy or FILE.safetensors:TENSOR, in and out.
#pragma once

#include <string>

#include "tools/io/mapped_file.hpp"
#include "tools/io/matrix_view.hpp"

namespace tw {

enum class file_format { npy, safetensors };

/// Where a matrix lives. tensor: only in .safetensors files, may be empty.
struct matrix_address {
  file_format format = file_format::npy;
  std::string path, tensor;

  std::string text() const { return tensor.empty() ? path : path + ":" + tensor; }
};

/// "w.safetensors:layer.0" -> {safetensors, "w.safetensors", "layer.0"}. Throws `rejected` TW0611.
matrix_address parse_address(std::string const& text);

/// A matrix in a file that stays mapped as long as this lives. stacks, vectors: see view_npy.
class matrix_file {
 public:
  explicit matrix_file(matrix_address const& address, bool stacks = false, bool vectors = false);
  matrix_view const& view() const { return view_; }

 private:
  mapped_file file_;
  matrix_view view_;
};

/// Refuses an output that could not be written, before the work is done: TW0612 for a folder that
/// is missing or read-only, a target that is no file, or a .safetensors file with other tensors in
/// it (writing replaces the file).
void check_output(matrix_address const& address);

/// Writes a row-major matrix; the file appears whole or not at all. An unnamed tensor is called
/// "D". as_stack: a .npy array of three dimensions, also of one matrix. Throws `rejected` TW0612.
void write_matrix(matrix_address const& address, matrix_view const& matrix, bool as_stack = false);

}  // namespace tw
