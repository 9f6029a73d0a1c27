// SPDX-License-Identifier: Apache-2.0
// result_files.hpp  The arrays that a command writes: all of them or none. Arrays with one path
//                   become tensors of one .safetensors file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/io/matrix_file.hpp"
#include "tools/io/output_file.hpp"

namespace tw {

struct result_tensor {
  matrix_address to;
  elem type;
  std::vector<std::int64_t> shape;
  std::span<std::byte const> data;  // that lives until write(), of a stream until commit()
  bool fortran = false;             // the order of a .npy file
};

class result_files {
 public:
  void add(result_tensor t) { tensors_.push_back(std::move(t)); }
  /// Writes all arrays to files without names; what goes to stdout waits. Throws `rejected` TW0612.
  void write();
  /// Prints what goes to stdout, and gives the files their names.
  void commit();

 private:
  std::vector<result_tensor> tensors_;
  std::vector<std::unique_ptr<output_file>> files_;
};

/// Refuses (TW0612) outputs that cannot be written, before the work is done: a folder that is
/// missing or read-only, a target that is no file, and a .safetensors file with tensors that are
/// not among `all` (writing replaces the file).
void check_outputs(std::vector<matrix_address> const& all);

/// Refuses (TW0612) results of quantising that would replace each other's file, and scales that
/// would replace the file of the matrix, `from`, or of a given scale. `all` has the values first;
/// `scale` is a number or a file, or empty.
void check_apart(matrix_address const& from, std::string const& scale,
                 std::vector<matrix_address> const& all);

/// Are they two tensors of one .safetensors file, or to become it?
bool share_a_file(matrix_address const& a, matrix_address const& b);

/// "x.npy" -> "x.scale.npy", "x.safetensors:w" -> "x.scale.safetensors:w", for ".scale".
std::string name_beside(matrix_address const& out, std::string const& what);

}  // namespace tw
