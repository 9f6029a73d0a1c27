// SPDX-License-Identifier: Apache-2.0
// copy_find.hpp  Copy atoms by name: copy_atom_named("copy.sm75.ldmatrix.x4.t").
//
// Needs:    a name of a row of copy_table.hpp [TW0233] in a size that it has [TW0234]
// Ensures:  the atom counts in bits
// Example:  copy_atom_named("copy.sm90.stmatrix.x4").dst == (32,128):(128,1)
//           tests/atom/copy_table_test.cpp
#pragma once

#include "tilewright/atom/copy_rules.hpp"  // first: compilers show this path in every refusal

#include "tilewright/atom/copy_table.hpp"

namespace tw {

/// The index of a row of copy_rows and the number in its name; -1 if no row has the name.
/// `matched` is how many characters of the name the best row shares.
struct found_copy {
  int row = -1;
  i64 n = 0;
  int matched = 0;
};

namespace detail {

/// How far the name goes along the row: before, a number, after.
struct name_match {
  int at = 0;
  i64 n = 0;
  bool whole = false;
};

TW_HD constexpr name_match match_name(copy_row const& row, char const* name, int length) {
  name_match m;
  for (char const* c = row.before; *c != '\0'; ++c, ++m.at) {
    if (m.at >= length || name[m.at] != *c) return m;
  }
  bool const numbered = row.most > 0 || row.multiple > 0;
  int const digits = m.at;
  for (; numbered && m.at < length && name[m.at] >= '0' && name[m.at] <= '9'; ++m.at) {
    if (m.at - digits < 12) m.n = m.n * 10 + (name[m.at] - '0');
  }
  if (numbered && m.at == digits) return m;
  for (char const* c = row.after; *c != '\0'; ++c, ++m.at) {
    if (m.at >= length || name[m.at] != *c) return m;
  }
  m.whole = m.at == length;
  return m;
}

}  // namespace detail

TW_HD constexpr found_copy find_copy(char const* name, int length) {
  found_copy f;
  int row = 0;
  for (copy_row const& r : copy_rows) {
    detail::name_match const m = detail::match_name(r, name, length);
    if (m.at > f.matched) f.matched = m.at;
    if (m.whole) return {row, m.n, m.at};
    ++row;
  }
  return f;
}

TW_HD constexpr copy_atom copy_atom_named(char const* name, int length) {
  found_copy const f = find_copy(name, length);
  if (f.row < 0) refuse_copy_name(length, f.matched);
  copy_atom a = make_copy_atom(copy_rows[f.row], f.n);
  a.by = {f.row, f.n};
  return a;
}
template <int N>
TW_HD constexpr copy_atom copy_atom_named(char const (&name)[N]) {
  return copy_atom_named(name, N - 1);
}

}  // namespace tw
