// SPDX-License-Identifier: Apache-2.0
// mma_tiled.cpp  tiled_mma(ATOM, atom layout[, permutation]) as text.
#include <string>

#include "tilewright/atom/mma_names.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/layout/parse.hpp"
#include "tilewright/layout/print.hpp"

namespace tw {
namespace {

std::string_view trimmed(std::string_view s) {
  while (s.starts_with(' ')) s.remove_prefix(1);
  while (s.ends_with(' ')) s.remove_suffix(1);
  return s;
}

/// Splits at the commas that are in no bracket.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> pieces;
  int level = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    level += (c == '(' || c == '<') - (c == ')' || c == '>');
    if (c != ',' || level != 0) continue;
    pieces.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  pieces.push_back(trimmed(text.substr(begin)));
  return pieces;
}

template <class P>
std::string text_of(P const& printed) {
  return {printed.text, static_cast<std::size_t>(printed.length)};
}

/// The permutation to write for a ValLayoutMNK, the third argument before CuTe 3.4.
std::string of_values(tiled_mma const& t, std::string_view text) {
  std::string const hint =
      "the third argument is the permutation of M, N and K, in CuTe since 3.4 no longer the layout "
      "of values (ValLayoutMNK)";
  layout const values = parse_layout(text.data(), static_cast<int>(text.size()));
  if (rank(values) != 3) return hint;
  tree const mnk = tile_mnk(t);
  return hint + ": for these values write (" +
         std::to_string(mnk.leaf[0].v * size(mode(values, 0))) + "," +
         std::to_string(mnk.leaf[1].v * size(mode(values, 1))) + "," +
         std::to_string(mnk.leaf[2].v * size(mode(values, 2))) + ")";
}

}  // namespace

tiled_mma parse_tiled_mma(std::string_view text) {
  std::string_view inside = trimmed(text);
  bool const call = inside.starts_with("tiled_mma(") && inside.ends_with(')');
  std::vector<std::string_view> args;
  if (call) args = split(inside.substr(10, inside.size() - 11));
  if (!call || args.size() < 2 || args.size() > 3) {
    throw rejected({"TW0220", "tiled MMA", std::string(text),
                    "tiled_mma(ATOM, atom layout[, permutation])",
                    "for example tiled_mma(mma.sm80.m16n8k16.f32.f16.f16, (2,2,1), (32,32,16))"});
  }
  mma_atom const atom = one_mma(args[0]);
  layout const atoms = parse_layout(args[1].data(), static_cast<int>(args[1].size()));
  if (args.size() == 2) return make_tiled_mma(atom, atoms);
  try {
    return make_tiled_mma(atom, atoms,
                          parse_tiler(args[2].data(), static_cast<int>(args[2].size())));
  } catch (rejected const& e) {
    if (e.why().code != "TW0215") throw;
    rejection r = e.why();
    r.hint = of_values(make_tiled_mma(atom, atoms), args[2]);
    throw rejected(r);
  }
}

std::string to_string(tiled_mma const& t) {
  std::string text = "tiled_mma(" + to_string(t.atom) + "," + text_of(print(t.atom_layout));
  if (t.permutation != tile(any, any, any)) text += "," + text_of(print(t.permutation));
  return text + ")";
}

}  // namespace tw
