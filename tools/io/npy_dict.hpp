// SPDX-License-Identifier: Apache-2.0
// npy_dict.hpp  The Python dictionary in a .npy header: element type, order, shape.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// descr: the text between its quotes; a list (a structured type) is kept as its text.
struct npy_dict {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Reads the dictionary NumPy writes: the keys descr, fortran_order and shape, once each, in any
/// order. `file` names the file in messages. Throws `rejected` TW0602, or TW0606 for an extent that
/// leaves 63 bits.
npy_dict parse_npy_dict(std::string_view text, std::string const& file);

}  // namespace tw
