// SPDX-License-Identifier: Apache-2.0
// spelling.cpp  CuTe's spellings of layouts, shapes, swizzles and atoms, in the notation of
//               docs/layouts.md.
#include "atom/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "tilewright/base/check.hpp"

namespace tw::detail {
namespace {

bool word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Position after the bracket that closes the one at `open`; npos where none does.
std::size_t after_bracket(std::string_view text, std::size_t open) {
  int level = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    level += (text[i] == '<' || text[i] == '(') - (text[i] == '>' || text[i] == ')');
    if (level == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// The text between brackets, cut at the commas that are in no further bracket.
std::vector<std::string> pieces_of(std::string_view inside) {
  std::vector<std::string> pieces{""};
  int level = 0;
  for (char const c : inside) {
    level += (c == '<' || c == '(') - (c == '>' || c == ')');
    if (c == ',' && level == 0) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

int bits_of_type(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, int>, 16> types{{{"half_t", 16},
                                                                    {"bfloat16_t", 16},
                                                                    {"half", 16},
                                                                    {"__half", 16},
                                                                    {"__nv_bfloat16", 16},
                                                                    {"float", 32},
                                                                    {"tfloat32_t", 32},
                                                                    {"float_e4m3_t", 8},
                                                                    {"float_e5m2_t", 8},
                                                                    {"int8_t", 8},
                                                                    {"uint8_t", 8},
                                                                    {"double", 64},
                                                                    {"uint16_t", 16},
                                                                    {"uint32_t", 32},
                                                                    {"int32_t", 32},
                                                                    {"uint128_t", 128}}};
  for (auto const& [name, bits] : types) {
    if (type == name) return bits;
  }
  return 0;
}

std::string rewritten(std::string_view text);

/// CuTe's word for the swizzle of a shared-memory atom, as the argument of smem_atom; else empty.
std::string_view bytes_of_swizzle(std::string_view word) {
  return word == "SW128"                           ? "128"
         : word == "SW128_32B"                     ? "12832"
         : word == "SW64"                          ? "64"
         : word == "SW32"                          ? "32"
         : word == "INTER" || word == "INTERLEAVE" ? "0"
                                                   : "";
}

/// Layout_K_SW128_Atom, Layout_MN_INTER_Atom as "K,128" and "MN,0"; else empty.
std::string major_and_bytes(std::string_view name) {
  if (!name.starts_with("Layout_") || !name.ends_with("_Atom")) return {};
  std::string_view const rest = name.substr(7, name.size() - 12);
  std::size_t const bar = rest.find('_');
  if (bar == std::string_view::npos) return {};
  std::string_view const major = rest.substr(0, bar),
                         bytes = bytes_of_swizzle(rest.substr(bar + 1));
  if ((major != "K" && major != "MN") || bytes.empty()) return {};
  return fmt::format("{},{}", major, bytes);
}

/// An atom whose elements, or whose major, the text does not say.
[[noreturn]] void refuse_atom(std::string_view got, std::string_view arguments) {
  throw rejected(
      {"TW0101", "text of a layout", fmt::format("'{}'", got),
       "the major and the bits of an element too",
       fmt::format("with 16-bit elements write smem_atom({},16); {}<half_t> is read, {} "
                   "alone is not a layout",
                   arguments, got.starts_with("Layout_") ? got : "Layout_K_SW128_Atom", got)});
}

/// A call of CuTe's as ours: make_shape(4,8) is (4,8); nothing where the name is not one of them.
std::string of_call(std::string_view name, std::string_view inside) {
  std::vector<std::string> args = pieces_of(inside);
  for (std::string& a : args) {
    a = rewritten(a);
    a.erase(0, std::min(a.find_first_not_of(' '), a.size()));
  }
  auto const list = [&args](std::size_t from, std::size_t to) {
    std::string all;
    for (std::size_t i = from; i < to; ++i) all += (i == from ? "" : ",") + args[i];
    return all;
  };
  if (name == "make_shape" || name == "make_stride" || name == "make_coord" ||
      name == "make_tile" || name == "make_step" || name == "make_tuple") {
    return "(" + list(0, args.size()) + ")";
  }
  if (name == "make_layout" && args.size() == 2) {
    if (args[1] == "LayoutRight" || args[1] == "GenRowMajor") {
      return "make_layout_right(" + args[0] + ")";
    }
    if (args[1] == "LayoutLeft" || args[1] == "GenColMajor") {
      return "make_layout_left(" + args[0] + ")";
    }
  }
  if (name == "make_tiled_mma") return "tiled_mma(" + list(0, args.size()) + ")";
  if (name == "make_tiled_copy") return "tiled_copy(" + list(0, args.size()) + ")";
  if (name.starts_with("make_tiled_copy_") || name == "make_cotiled_copy") {
    return std::string(name.substr(5)) + "(" + list(0, args.size()) + ")";
  }
  if ((name == "print" || name == "print_layout" || name == "print_latex") && args.size() == 1) {
    return args[0];
  }
  bool const swizzle = name == "composition" && args.size() > 1 && args[0].starts_with("Sw<") &&
                       args[0].find('>') == args[0].size() - 1;
  std::string const& inner = args.back();
  bool const literal = inner.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
  if (swizzle && literal && (args.size() == 2 || args.size() == 3)) {
    return args[0] + " o " + (args.size() == 3 ? args[1] : "0") + " o " + inner;
  }
  return {};
}

/// NAME<...> as ours; nothing where the name is not one of CuTe's.
std::string of_template(std::string_view name, std::string_view inside) {
  std::vector<std::string> args = pieces_of(inside);
  for (std::string& a : args) a = rewritten(a);
  std::string list;
  for (std::string const& a : args) list += (list.empty() ? "" : ",") + a;
  if (name == "Shape" || name == "Stride" || name == "Step" || name == "Coord" || name == "Tile" ||
      name == "tuple") {
    return "(" + list + ")";
  }
  if ((name == "Int" || name == "C") && args.size() == 1) return args[0];
  if ((name == "Swizzle" || name == "S") && args.size() == 3) return "Sw<" + list + ">";
  if (name == "Layout" && args.size() == 2) return args[0] + ":" + args[1];
  if (name == "Layout" && args.size() == 1) return args[0];
  if (name == "ComposedLayout" && args.size() == 3) {
    return args[0] + " o " + args[1] + " o " + args[2];
  }
  if (name == "MMA_Atom" && args.size() == 1) return args[0];
  if (name == "TiledMMA" && args.size() > 1) return "tiled_mma(" + list + ")";
  if (name == "Copy_Atom" && args.size() == 2 && bits_of_type(args[1]) != 0) {
    return fmt::format("copy_atom({},{})", args[0], bits_of_type(args[1]));
  }
  if (name == "UniversalCopy" && !args.empty() && bits_of_type(args[0]) != 0) {
    return fmt::format("copy.universal.{}", bits_of_type(args[0]));
  }
  std::string const arguments = major_and_bytes(name);
  if (arguments.empty()) return {};
  if (args.size() != 1 || bits_of_type(args[0]) == 0) refuse_atom(name, arguments);
  return fmt::format("smem_atom({},{})", arguments, bits_of_type(args[0]));
}

/// A word that stands alone, as ours.
std::string of_word(std::string_view name) {
  bool const number =
      name.size() > 1 && name[0] == '_' &&
      std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; });
  if (number) return std::string(name.substr(1));
  if (name == "Underscore" || name == "X") return "_";
  std::string const arguments = major_and_bytes(name);
  if (!arguments.empty()) refuse_atom(name, arguments);
  if (name.starts_with("SW") && !bytes_of_swizzle(name).empty()) {
    refuse_atom(name, fmt::format("K,{}", bytes_of_swizzle(name)));
  }
  return std::string(name);
}

std::string rewritten(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (!word_character(text[i]) || (i > 0 && word_character(text[i - 1]))) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && word_character(text[end])) ++end;
    std::string_view const name = text.substr(i, end - i);
    if (text.substr(end).starts_with("::")) {  // cute::, GMMA::, cutlass::
      i = end + 2;
      continue;
    }
    std::size_t open = end;
    while (open < text.size() && text[open] == ' ') ++open;  // Shape <...>
    std::size_t const close = open < text.size() && text[open] == '<' ? after_bracket(text, open)
                                                                      : std::string_view::npos;
    std::string ours = close == std::string_view::npos
                           ? ""
                           : of_template(name, text.substr(open + 1, close - open - 2));
    std::size_t after = close;
    if (close == std::string_view::npos && end < text.size() && text[end] == '(') {
      after = after_bracket(text, end);
      if (after != std::string_view::npos) {
        ours = of_call(name, text.substr(end + 1, after - end - 2));
      }
    }
    i = ours.empty() ? end : after;
    out += ours.empty() ? of_word(name) : ours;
    if (text.substr(i).starts_with("{}")) i += 2;  // a value of the type
  }
  return out;
}

/// "Sw<3,4,3> o smem_ptr[16b](unset) o L": CuTe prints the swizzle of bytes and L in elements.
std::string without_pointer(std::string text) {
  std::size_t const at = text.find("smem_ptr[");
  if (at == std::string::npos) return text;
  std::size_t const close = text.find(')', at);
  int bits = 0;
  for (std::size_t i = at + 9; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    bits = bits * 10 + (text[i] - '0');
  }
  int bytes_log2 = 0;
  while ((8 << bytes_log2) < bits) ++bytes_log2;
  std::size_t const open = text.find("Sw<");
  std::size_t const comma = open == std::string::npos ? open : text.find(',', open);
  std::size_t const second = comma == std::string::npos ? comma : text.find(',', comma + 1);
  if (close == std::string::npos || bits < 8 || second == std::string::npos || comma > at) {
    return text;
  }
  int base = 0;
  for (std::size_t i = comma + 1; i < second; ++i) {
    if (text[i] >= '0' && text[i] <= '9') base = base * 10 + (text[i] - '0');
  }
  if (base < bytes_log2) return text;
  return text.substr(0, comma + 1) + std::to_string(base - bytes_log2) +
         text.substr(second, at - second) + "0" + text.substr(close + 1);
}

/// "gmem_ptr[32b](0x7f) o L", "ptr[16b](...) o L": L, whose offsets count from the pointer.
std::string without_address(std::string text) {
  for (std::string_view const pointer : {"gmem_ptr[", "rmem_ptr[", "ptr["}) {
    if (!text.starts_with(pointer)) continue;
    std::size_t const o = text.find(") o ");
    if (o != std::string::npos) return text.substr(o + 4);
  }
  return text;
}

int distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      int const above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string in_our_spelling(std::string_view text) {
  std::string ours = without_address(without_pointer(rewritten(text)));
  bool const swizzle = ours.starts_with("Sw<") && ours.find('>') == ours.find_last_not_of(' ');
  return swizzle ? "swizzle(" + ours + ")" : ours;
}

std::string_view nearest_name(std::string_view name, std::span<std::string_view const> names) {
  std::string_view nearest;
  int least = static_cast<int>(name.size()) / 3 + 1;
  for (std::string_view const other : names) {
    int const d = distance(name, other);
    if (d > least || (d == least && !nearest.empty())) continue;
    least = d;
    nearest = other;
  }
  return nearest;
}

}  // namespace tw::detail
