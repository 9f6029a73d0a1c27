// SPDX-License-Identifier: Apache-2.0
// tmem_names.cpp  The words of a name from left to right, then its layout.
#include "tools/report/tmem_names.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "tilewright/atom/tmem_layout.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

[[noreturn]] void refuse_tmem_name(std::string_view text, std::string const& need) {
  refuse("TW0626", "tensor memory", in_quotes(std::string(text)), need,
         "for example tmem.ld.16x256b.x2, tmem.d.2cta.m128n32, tmem.a.1cta.m128.f16, "
         "tmem.sfa.1cta.m128.mxf4, tmem.sfb.1cta.m128n64.mxf4nvf4, tmem.cp.32x128b.warpx4; "
         "docs/pictures.md has all");
}

/// Takes a prefix off the text.
bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

struct load_shape {
  std::string_view text;
  tmem_shape shape;
  int columns;  // of a count of 1
};
constexpr load_shape load_shapes[] = {{"32x32b", tmem_shape::l32x32b, 1},
                                      {"16x64b", tmem_shape::l16x64b, 2},
                                      {"16x128b", tmem_shape::l16x128b, 4},
                                      {"16x256b", tmem_shape::l16x256b, 8},
                                      {"16x32bx2", tmem_shape::l16x32bx2, 2}};
load_shape const& shape_of(tmem_shape s) { return load_shapes[static_cast<int>(s)]; }

struct copy_word {
  std::string_view text;
  tmem_copy_shape shape;
};
constexpr copy_word copy_words[] = {{"128x256b", tmem_copy_shape::c128x256b},
                                    {"128x128b", tmem_copy_shape::c128x128b},
                                    {"64x128b.warpx2::02_13", tmem_copy_shape::c64x128b_02_13},
                                    {"64x128b.warpx2::01_23", tmem_copy_shape::c64x128b_01_23},
                                    {"32x128b.warpx4", tmem_copy_shape::c32x128b_x4}};

constexpr std::string_view kind_words[] = {"f16", "tf32", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4"};

void read_load(tmem_name& n, std::string_view at) {
  for (load_shape const& s : load_shapes) {
    std::string_view rest = at;
    if (!take_prefix(rest, s.text) || !take_prefix(rest, ".x")) continue;
    auto const count = take_number(rest);
    if (!count || !rest.empty() || !is_tmem_count(s.shape, *count)) break;
    n.shape = s.shape, n.count = *count;
    return;
  }
  refuse_tmem_name(n.text,
                   "tmem.ld.SHAPE.xN with 32x32b, 16x64b, 16x32bx2 (N a power of two up to 128), "
                   "16x128b (up to 64) or 16x256b (up to 32)");
}

void read_copy(tmem_name& n, std::string_view at) {
  for (copy_word const& c : copy_words) {
    std::string_view rest = at;
    if (!take_prefix(rest, c.text)) continue;
    n.copy = c.shape;
    if (take_prefix(rest, ".b8x16.b4x16_p64")) n.unpack = tmem_unpack::b4;
    if (take_prefix(rest, ".b8x16.b6x16_p32")) n.unpack = tmem_unpack::b6;
    if (rest.empty()) return;
  }
  refuse_tmem_name(n.text,
                   "tmem.cp.SHAPE with 128x256b, 128x128b, 64x128b.warpx2::02_13, "
                   "64x128b.warpx2::01_23 or 32x128b.warpx4, then perhaps .b8x16.b4x16_p64 or "
                   ".b8x16.b6x16_p32");
}

/// "1cta.m", "2cta.m" or, if it is allowed, "ws.m"; M; and if there is one, "n" and N.
bool read_shape(tmem_name& n, std::string_view& rest, bool ws_allowed, bool has_n) {
  n.ws = ws_allowed && take_prefix(rest, "ws.m");
  n.ctas = !n.ws && take_prefix(rest, "2cta.m") ? 2 : 1;
  if (!n.ws && n.ctas == 1 && !take_prefix(rest, "1cta.m")) return false;
  auto const m = take_number(rest);
  if (!m) return false;
  n.m = *m;
  if (!has_n) return true;
  if (!take_prefix(rest, "n")) return false;
  auto const columns = take_number(rest);
  if (!columns) return false;
  n.n = *columns;
  return true;
}

bool has_rows(tmem_name const& n) {
  if (is_block_scaled(n.kind) && n.rows() == 64 && n.ctas == 1) return false;
  return n.m == 64 * n.ctas || n.m == 128 * n.ctas;
}
bool has_columns(tmem_name const& n) {
  int const step = 8 * n.ctas;
  return n.n >= step && n.n <= 256 && n.n % step == 0;
}

void read_accumulator(tmem_name& n, std::string_view rest) {
  bool const read = read_shape(n, rest, true, true) && rest.empty();
  bool const ws = (n.m == 32 || n.m == 64 || n.m == 128) && (n.n == 64 || n.n == 128 || n.n == 256);
  if (read && (n.ws ? ws : has_rows(n) && has_columns(n))) return;
  refuse_tmem_name(n.text,
                   "tmem.d.1cta.mMnN (M 64, 128; N 8 to 256 in steps of 8), 2cta (M 128, 256; N "
                   "16 to 256 in steps of 16) or ws (M 32, 64, 128; N 64, 128, 256)");
}

bool read_kind(tmem_name& n, std::string_view& rest, umma_kind first) {
  if (!take_prefix(rest, ".")) return false;
  std::string_view const word = rest.substr(0, rest.find('.'));
  for (int i = static_cast<int>(first); i < static_cast<int>(std::size(kind_words)); ++i)
    if (kind_words[i] == word) {
      n.kind = static_cast<umma_kind>(i);
      rest.remove_prefix(word.size());
      return true;
    }
  return false;
}

void read_operand_a(tmem_name& n, std::string_view rest) {
  if (read_shape(n, rest, false, false) && read_kind(n, rest, umma_kind::f16) && rest.empty() &&
      has_rows(n))
    return;
  refuse_tmem_name(n.text,
                   "tmem.a.1cta.mM.KIND (M 64, 128) or 2cta (M 128, 256) with f16, tf32, f8f6f4, "
                   "mxf8f6f4, mxf4 or mxf4nvf4; the last three have no M 64");
}

void read_scales(tmem_name& n, std::string_view rest) {
  bool const is_b = n.operand == 'B';
  bool good = read_shape(n, rest, false, is_b) && read_kind(n, rest, umma_kind::mxf8f6f4);
  n.block = n.kind == umma_kind::mxf4nvf4 ? 16 : 32;
  if (take_prefix(rest, ".block")) n.block = take_number(rest).value_or(0);
  good = good && rest.empty() && has_rows(n) && has_scale_block(n.kind, n.block) &&
         (!is_b || has_columns(n));
  if (good && n.halves() && n.n % 64 != 0)
    refuse_tmem_name(n.text,
                     "N a multiple of 64: for others of a CTA pair with M = 128 the place "
                     "of the factors of B is shown by pictures of the PTX ISA alone");
  if (good) return;
  refuse_tmem_name(n.text,
                   "tmem.sfa.1cta.m128.KIND or tmem.sfb.1cta.m128nN.KIND, 2cta with M 128 or 256, "
                   "KIND mxf8f6f4, mxf4, mxf4nvf4 (blocks of 16) or mxf4nvf4.block32");
}

}  // namespace

int tmem_name::bits() const {
  if (what == tmem_what::scales || what == tmem_what::copy) return 8;
  if (what != tmem_what::operand_a) return 32;
  return kind == umma_kind::tf32   ? 32
         : kind == umma_kind::f16  ? 16
         : kind >= umma_kind::mxf4 ? 4
                                   : 8;
}

bool names_tmem(std::string_view text) { return text.starts_with("tmem."); }

tmem_name parse_tmem(std::string_view text) {
  tmem_name n;
  n.text = std::string(text);
  std::string_view rest = text;
  take_prefix(rest, "tmem.");
  if (take_prefix(rest, "ld.")) {
    read_load(n, rest);
  } else if (take_prefix(rest, "d.")) {
    n.what = tmem_what::accumulator;
    read_accumulator(n, rest);
  } else if (take_prefix(rest, "a.")) {
    n.what = tmem_what::operand_a;
    read_operand_a(n, rest);
  } else if (rest.starts_with("sfa.") || rest.starts_with("sfb.")) {
    n.what = tmem_what::scales;
    n.operand = rest[2] == 'a' ? 'A' : 'B';
    read_scales(n, rest.substr(4));
  } else if (take_prefix(rest, "cp.")) {
    n.what = tmem_what::copy;
    read_copy(n, rest);
  } else {
    refuse_tmem_name(text,
                     "a name that begins with tmem.ld., tmem.d., tmem.a., tmem.sfa., "
                     "tmem.sfb. or tmem.cp.");
  }
  return n;
}

layout layout_of(tmem_name const& n) {
  switch (n.what) {
    // The second half of 16x32bx2 begins after the first.
    case tmem_what::load: return tmem_transfer(n.shape, n.count, n.count);
    case tmem_what::accumulator:
      return n.ws ? tmem_accumulator_ws(n.m, n.n)
                  : mode(tmem_accumulator(n.ctas, n.rows(), n.n, tree(make_shape(1))), 0);
    case tmem_what::operand_a: return tmem_operand_a(n.ctas, n.rows(), n.bits());
    case tmem_what::scales:
      return tmem_scale_factors(n.operand == 'A' ? n.rows() : n.n, n.halves());
    case tmem_what::copy: return tmem_copy_places(n.copy);
  }
  return {};
}

std::string_view modes_of(tmem_name const& n) {
  switch (n.what) {
    case tmem_what::load: return "((thread, warp), register) -> address";
    case tmem_what::accumulator: return "(row, column) -> address";
    case tmem_what::operand_a: return "(row, k, copies) -> element";
    case tmem_what::scales: return "(row, factor, copies) -> byte";
    case tmem_what::copy: return "(row, byte, copies) -> byte";
  }
  return "";
}

int columns_of(tmem_name const& n) {
  switch (n.what) {
    case tmem_what::load: return shape_of(n.shape).columns * n.count;
    case tmem_what::accumulator:
      return n.ws ? n.n * n.m / 128 : n.ctas == 2 && n.m == 128 ? n.n / 2 : n.n;
    case tmem_what::operand_a: return 8;
    case tmem_what::scales:
      return n.halves() ? n.n / 64 : ((n.operand == 'A' ? n.rows() : n.n) + 31) / 32;
    case tmem_what::copy: return 4 * tmem_copy_chunks(n.copy);
  }
  return 0;
}

std::string shape_text(tmem_name const& n) {
  return n.what == tmem_what::copy ? std::string(copy_words[static_cast<int>(n.copy)].text)
                                   : fmt::format("{}.x{}", shape_of(n.shape).text, n.count);
}

}  // namespace tw
