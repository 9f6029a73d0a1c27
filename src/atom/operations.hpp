// SPDX-License-Identifier: Apache-2.0
// operations.hpp  Every operation that has a name: the algebra's, atoms' and copies'.
#pragma once

#include <array>
#include <span>
#include <string>

#include "layout/operations.hpp"
#include "tilewright/layout/bind.hpp"

namespace tw::detail {

std::span<operation const> mma_operations();
std::span<operation const> copy_operations();

/// A part of a tensor that tiles of `extents` do not fill: the text says so, because the last part
/// of some threads names cells outside of the tensor.
inline answer with_cells_outside(answer part, layout const& tensor, tree const& extents) {
  if (!is_static(tensor)) return part;
  tree filled;
  bool outside = false;
  for (int i = 0; i < rank(extents) && i < rank(tensor); ++i) {
    i64 const whole = size(mode(extents, i)), held = size(mode(tensor, i));
    append(filled, tree((held + whole - 1) / whole * whole));
    outside = outside || held % whole != 0;
  }
  if (!outside) return part;
  wrap(filled);
  tree shape;
  for (int i = 0; i < rank(tensor); ++i) append(shape, tree(size(mode(tensor, i))));
  wrap(shape);
  part.shown = part.text() + "\n  tiles of " + to_string(extents) + " fill " + to_string(filled) +
               ", the tensor is " + to_string(shape) +
               ": some cells are outside of it.\n  Compare coordinates before access: the same "
               "partition of make_identity_layout(" +
               to_string(shape) + ") names them.";
  return part;
}

inline std::array<std::span<operation const>, 6> every_table() {
  auto const layouts = all_operations();
  return {layouts[0], layouts[1], layouts[2], layouts[3], mma_operations(), copy_operations()};
}

}  // namespace tw::detail
