// SPDX-License-Identifier: Apache-2.0
// operations.hpp  Rows of the operation table: a name, how many arguments, what to do with them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/layout/answer.hpp"

namespace tw::detail {

/// The arguments of a call, parsed when an operation needs them.
class arguments {
 public:
  explicit arguments(std::vector<argument> const& args) : args_(args) {}

  int count() const { return static_cast<int>(args_.size()); }
  layout as_layout(int i) const;
  tree as_tree(int i) const;
  tiler as_tiler(int i) const;
  swizzle as_swizzle(int i) const;
  i64 as_integer(int i) const;
  std::string_view text(int i) const;

 private:
  std::vector<argument> const& args_;
};

struct operation {
  std::string_view name;
  int least, most;  // number of arguments
  answer (*apply)(arguments const&);
};

answer answer_of(layout const& l);
answer answer_of(tree const& t);
answer answer_of(swizzle s);
answer answer_of(i64 v);
/// A part of a tensor, and where it begins.
answer answer_of(sliced const& s);
answer answer_of(sliced_coordinates const& s);

/// The coordinate that a layout with basis strides reaches from `at`.
tree moved(tree at, layout const& l, i64 index);

/// The tables, one for each source file that holds one.
std::span<operation const> construction_operations();
std::span<operation const> algebra_operations();
std::span<operation const> mode_operations();
std::span<operation const> swizzle_operations();

/// All of this folder.
inline std::array<std::span<operation const>, 4> all_operations() {
  return {construction_operations(), algebra_operations(), mode_operations(), swizzle_operations()};
}

}  // namespace tw::detail
