// SPDX-License-Identifier: Apache-2.0
// spelling.cpp  CuTe's spellings of layouts, shapes, swizzles and atoms, in the notation of
//               docs/layouts.md.
#include "atom/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "tilewright/base/check.hpp"

namespace tw::detail {
namespace {

bool word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Position after the bracket that closes the one at `open`; npos if none does.
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
  constexpr std::array<std::pair<std::string_view, int>, 28> types{
      {{"half_t", 16},        {"bfloat16_t", 16},  {"half", 16},         {"__half", 16},
       {"__nv_bfloat16", 16}, {"float", 32},       {"tfloat32_t", 32},   {"float_e4m3_t", 8},
       {"float_e5m2_t", 8},   {"int8_t", 8},       {"uint8_t", 8},       {"double", 64},
       {"uint16_t", 16},      {"uint32_t", 32},    {"int32_t", 32},      {"uint128_t", 128},
       {"int", 32},           {"unsigned", 32},    {"char", 8},          {"int16_t", 16},
       {"int64_t", 64},       {"uint64_t", 64},    {"int4b_t", 4},       {"uint4b_t", 4},
       {"uint4_t", 4},        {"float_e2m1_t", 4}, {"float_ue8m0_t", 8}, {"float_ue4m3_t", 8}}};
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

std::string trimmed(std::string const& text) {
  std::size_t const first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Sw<3,4,3>, which swizzles bytes, in elements: Sw<3,3,3> for 16 bits, Sw<3,7,3> for one bit.
/// Nothing where its base is inside an element.
std::string swizzle_in_elements(std::string const& swizzle, int bits) {
  std::size_t const comma = swizzle.find(','), second = swizzle.find(',', comma + 1);
  if (!swizzle.starts_with("Sw<") || second == std::string::npos || bits < 1) return {};
  int base = 3 + std::atoi(swizzle.c_str() + comma + 1);  // of bits
  while (bits > 1) bits /= 2, --base;
  if (base < 0) return {};
  return swizzle.substr(0, comma + 1) + std::to_string(base) + swizzle.substr(second);
}

/// Refuses a type that is not an element type of CuTe, for example the parameter of a template.
[[noreturn]] void refuse_type(std::string_view what, std::string_view type) {
  throw rejected({"TW0101", "text of a layout", fmt::format("'{}' in {}", type, what),
                  "a type of elements: half_t, bfloat16_t, float, float_e4m3_t, int8_t, ...",
                  fmt::format("write the type of your elements for {}", type)});
}

/// Is it a layout with numbers, or a call that may return one?
bool is_written_layout(std::string_view text) { return text.find(':') != std::string_view::npos; }
bool is_call(std::string_view text) { return !text.empty() && text[0] >= 'a' && text[0] <= 'z'; }

/// "(4,8):(8,1)" and "2:1" as one, "((4,8),2):((8,1),1)": what make_layout does with layouts.
std::string joined(std::vector<std::string> const& layouts) {
  std::string shape, stride;
  for (std::string const& l : layouts) {
    std::size_t const colon = l.find(':');
    if (colon == std::string::npos || is_call(l)) return {};
    shape += (shape.empty() ? "" : ",") + l.substr(0, colon);
    stride += (stride.empty() ? "" : ",") + l.substr(colon + 1);
  }
  return fmt::format("({}):({})", shape, stride);
}

/// Calls whose arguments CuTe takes in another order or number; nothing for others.
std::string of_argument_order(std::string_view name, std::vector<std::string> const& args) {
  std::size_t const n = args.size();
  if (name == "crd2idx" && n == 3)
    return fmt::format("crd2idx3({},{},{})", args[0], args[1], args[2]);
  if (name == "idx2crd" && n == 3)
    return fmt::format("idx2crd3({},{},{})", args[0], args[1], args[2]);
  bool const keeps = n == 2 && args[0].find('_') != std::string::npos && !is_call(args[0]) &&
                     args[1].find('_') == std::string::npos;
  if (keeps && (name == "slice" || name == "dice"))
    return fmt::format("{}({},{})", name, args[1], args[0]);
  if (n != 2 || is_written_layout(args[0]) || is_call(args[0])) return {};
  if (!is_written_layout(args[1]) && !is_call(args[1])) return {};
  // The coordinate comes first.
  if (name == "crd2idx" || name == "slice_and_offset")
    return fmt::format("{}({})", args[1], args[0]);
  if (name == "slice" || name == "dice") return fmt::format("{}({},{})", name, args[1], args[0]);
  return {};
}

std::string of_word(std::string_view name);

/// A call of CuTe's as ours: make_shape(4,8) is (4,8). Other calls keep their name. Each argument
/// is rewritten once, however deep the calls are nested.
std::string of_call(std::string_view name, std::string_view inside) {
  std::vector<std::string> args = pieces_of(inside);
  std::string as_written;
  for (std::string& a : args) {
    a = rewritten(a);
    as_written += (as_written.empty() ? "" : ",") + a;  // with the blanks: a mark stands under it
    a = trimmed(a);
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
  if (name == "make_layout" && args.size() > 1) {
    if (std::string all = joined(args); !all.empty()) return all;
  }
  if (name == "make_composed_layout" && args.size() == 3) {
    return args[0] + " o " + args[1] + " o " + args[2];
  }
  if (name == "make_identity_tensor") return "make_identity_layout(" + list(0, args.size()) + ")";
  if (name == "decltype" && args.size() == 1) return args[0];
  // A tensor's layout: what the pointer is does not change it.
  if (name == "make_tensor" && args.size() == 2) return args[1];
  if (name == "product") return "size(" + list(0, args.size()) + ")";
  if (std::string ordered = of_argument_order(name, args); !ordered.empty()) return ordered;
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
  return of_word(name) + "(" + as_written + ")";
}

/// NAME<...> as ours; other names stay.
std::string of_template(std::string_view name, std::string_view inside) {
  std::vector<std::string> args = pieces_of(inside);
  for (std::string& a : args) a = trimmed(rewritten(a));
  std::string list;
  for (std::string const& a : args) list += (list.empty() ? "" : ",") + a;
  if (name == "Shape" || name == "Stride" || name == "Step" || name == "Coord" || name == "Tile" ||
      name == "tuple") {
    return "(" + list + ")";
  }
  if ((name == "Int" || name == "C") && args.size() == 1) return args[0];
  if ((name == "Swizzle" || name == "S") && args.size() == 3) return "Sw<" + list + ">";
  if (name == "Layout" && args.size() == 2) {
    if (args[1] == "LayoutRight" || args[1] == "GenRowMajor")
      return "make_layout_right(" + args[0] + ")";
    if (args[1] == "LayoutLeft" || args[1] == "GenColMajor")
      return "make_layout_left(" + args[0] + ")";
    return args[0] + ":" + args[1];
  }
  if (name == "Layout" && args.size() == 1) return args[0];
  constexpr std::string_view pointer = "smem_ptr_flag";
  if (name == "ComposedLayout" && args.size() == 3 && args[1].starts_with(pointer)) {
    // smem_ptr_flag_bits<16>: of elements of 16 bits; without a number, of one.
    std::size_t const open = args[1].find('<');
    int const bits = open == std::string::npos ? 1 : std::atoi(args[1].c_str() + open + 1);
    std::string const swizzle = swizzle_in_elements(args[0], bits);
    if (!swizzle.empty()) return swizzle + " o 0 o " + args[2];
  }
  if (name == "ComposedLayout" && args.size() == 3) {
    return args[0] + " o " + args[1] + " o " + args[2];
  }
  if (name == "MMA_Atom" && args.size() == 1) return args[0];
  if (name == "TiledMMA" && args.size() > 1) return "tiled_mma(" + list + ")";
  if (name == "Copy_Atom" && args.size() == 2) {
    if (bits_of_type(args[1]) == 0) refuse_type(name, args[1]);
    return fmt::format("copy_atom({},{})", args[0], bits_of_type(args[1]));
  }
  if (name.starts_with("SM80_CP_ASYNC_CACHE") && !args.empty()) {
    if (bits_of_type(args[0]) == 0) refuse_type(name, args[0]);
    return fmt::format("{}_{}b", name, bits_of_type(args[0]));
  }
  if (name == "AutoVectorizingCopyWithAssumedAlignment") return "AutoVectorizingCopy";
  if (name == "sizeof_bits" || name == "sizeof_bits_v") {
    if (list.empty() || bits_of_type(list) == 0) refuse_type(name, list);
    return std::to_string(bits_of_type(list));
  }
  if (name == "UniversalCopy" && !args.empty() && bits_of_type(args[0]) != 0) {
    return fmt::format("copy.universal.{}", bits_of_type(args[0]));
  }
  std::string const arguments = major_and_bytes(name);
  if (arguments.empty()) return fmt::format("{}<{}>", name, list);
  if (args.size() != 1 || bits_of_type(args[0]) == 0) refuse_atom(name, arguments);
  return fmt::format("smem_atom({},{})", arguments, bits_of_type(args[0]));
}

/// NAME<...>(...) as ours; nothing where the name is not one of CuTe's.
std::string of_templated_call(std::string_view name, std::string_view parameters,
                              std::string_view inside) {
  std::vector<std::string> given = pieces_of(parameters), args = pieces_of(inside);
  std::string list;
  for (std::string& g : given) {
    g = rewritten(g);
    g.erase(std::remove(g.begin(), g.end(), ' '), g.end());
    if (int const bits = bits_of_type(g); bits != 0 && name == "recast_layout")
      g = std::to_string(bits);
    list += (list.empty() ? "" : ",") + g;
  }
  if ((name == "make_tensor" || name == "make_fragment_like") && args.size() == 1)
    return rewritten(args[0]);  // make_tensor<float>(layout): in registers
  bool const numbers =
      std::ranges::all_of(list, [](char c) { return (c >= '0' && c <= '9') || c == ','; });
  if (!numbers || args.size() != 1) return {};
  std::string const of = rewritten(args[0]);
  std::size_t const n = given.size();
  if (((name == "upcast" || name == "downcast") && n == 1) ||
      ((name == "recast_layout" || name == "take") && n == 2)) {
    return fmt::format("{}({},{})", name, of, list);
  }
  if ((name == "group" || name == "group_modes") && n == 2)
    return fmt::format("group({},{})", of, list);
  if (name == "select") return fmt::format("select({},({}))", of, list);
  if (name == "append" && list == "4") return fmt::format("append4({})", of);
  std::string part = of;  // get<1,0>(L): mode 0 of mode 1
  for (std::string const& g : given) part = fmt::format("mode({},{})", part, g);
  if (name == "get" || name == "layout") return part;
  constexpr std::array of_a_mode{"size", "rank", "depth", "cosize", "shape", "stride", "coshape"};
  return std::ranges::find(of_a_mode, name) == of_a_mode.end() ? ""
                                                               : fmt::format("{}({})", name, part);
}

/// A word that stands alone, as ours.
std::string of_word(std::string_view name) {
  bool const number =
      name.size() > 1 && name[0] == '_' &&
      std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; });
  if (number) return std::string(name.substr(1));
  if (name == "Underscore" || name == "X") return "_";
  constexpr std::string_view in_bits = "_Bits";
  if (name.ends_with(in_bits)) {
    std::string const of_bits = major_and_bytes(name.substr(0, name.size() - in_bits.size()));
    if (!of_bits.empty()) return fmt::format("smem_atom({},1)", of_bits);
  }
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
    bool const is_template = close != std::string_view::npos;
    std::size_t const call = is_template ? close : end;
    std::size_t const after = call < text.size() && text[call] == '(' ? after_bracket(text, call)
                                                                      : std::string_view::npos;
    bool const is_call = after != std::string_view::npos;
    std::string_view const parameters =
        is_template ? text.substr(open + 1, close - open - 2) : std::string_view();
    std::string_view const inside =
        is_call ? text.substr(call + 1, after - call - 2) : std::string_view();
    std::string ours = is_template && is_call ? of_templated_call(name, parameters, inside) : "";
    if (!ours.empty()) {
      i = after;
    } else if (is_template) {
      ours = of_template(name, parameters);
      i = close;
    } else if (is_call) {
      ours = of_call(name, inside);
      i = after;
    } else {
      ours = of_word(name);
      i = end;
    }
    out += ours;
    if (text.substr(i).starts_with("::value")) i += 7;  // sizeof_bits<T>::value
    if (text.substr(i).starts_with("{}")) i += 2;       // a value of the type
  }
  return out;
}

/// "Sw<3,4,3> o smem_ptr[16b](unset) o L": CuTe prints the swizzle of bytes and L in elements.
std::string without_pointer(std::string text) {
  std::size_t const at = text.find("smem_ptr["), open = text.find("Sw<");
  if (at == std::string::npos || open > at) return text;
  std::size_t const close = text.find(')', at), end = text.find('>', open);
  if (close == std::string::npos || end > at) return text;
  std::string const swizzle =
      swizzle_in_elements(text.substr(open, end + 1 - open), std::atoi(text.c_str() + at + 9));
  return swizzle.empty() ? text : text.substr(0, open) + swizzle + " o 0" + text.substr(close + 1);
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
  std::string ours = without_address(without_pointer(rewritten(one_expression(text))));
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
