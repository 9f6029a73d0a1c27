// SPDX-License-Identifier: Apache-2.0
// tmem_picture.cpp  Cells from the maps of arch/tensor_memory.hpp and atom/tmem_fragment.hpp.
#include "tools/picture/tmem_picture.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>

#include "tilewright/arch/tensor_memory.hpp"
#include "tilewright/atom/tmem_fragment.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

constexpr int tmem_lanes_of_warp = 32;

[[noreturn]] void refuse_tmem_name(std::string_view text) {
  refuse("TW0626", "tensor memory", in_quotes(std::string(text)),
         "tmem.ld.SHAPE.xN or tmem.d.CTAScta.mMnN",
         "for example tmem.ld.32x32b.x8, tmem.ld.16x256b.x2, tmem.d.1cta.m128n16, "
         "tmem.d.2cta.m128n32");
}

/// Takes a prefix off the text.
bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}
std::optional<int> leading_number(std::string_view& text) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

panel empty_tmem(int columns) {
  panel p = make_panel("tensor memory", tmem_lanes, columns);
  p.row_name = "lane";
  p.column_name = "column";
  p.row_blocks = {32, 64, 96};
  for (int lane = 0; lane < tmem_lanes; ++lane)
    for (int c = 0; c < columns; ++c)
      p.at(lane, c).hint = fmt::format("lane {}, column {}: not used", lane, c);
  return p;
}

void put_cell(panel& p, int lane, int column, std::string text, std::string const& hint) {
  cell& k = p.at(lane, column);
  int const warp = lane / tmem_lanes_of_warp;
  k.text = std::move(text);
  k.hint = fmt::format("lane {}, column {}, reached by warp {}: {}", lane, column, warp, hint);
  k.colour = warp;
}

picture with_legend(panel p, std::string_view text, std::string caption) {
  picture all;
  all.title = std::string(text);
  all.captions.push_back(std::move(caption));
  all.owner_name = "thread";
  for (int warp = 0; warp < 4; ++warp)
    all.legend.push_back(
        {warp, fmt::format("warp {}: lanes {} to {}", warp, 32 * warp, 32 * warp + 31)});
  all.panels.push_back(std::move(p));
  return all;
}

struct load_shape {
  std::string_view text;
  tmem_shape shape;
  int columns;  // of a count of 1
};
constexpr load_shape load_shapes[] = {{"32x32b.x", tmem_shape::l32x32b, 1},
                                      {"16x64b.x", tmem_shape::l16x64b, 2},
                                      {"16x128b.x", tmem_shape::l16x128b, 4},
                                      {"16x256b.x", tmem_shape::l16x256b, 8},
                                      {"16x32bx2.x", tmem_shape::l16x32bx2, 2}};

picture tmem_load_picture(std::string_view text, std::string_view rest) {
  for (load_shape const& s : load_shapes) {
    std::string_view at = rest;
    if (!take_prefix(at, s.text)) continue;
    auto const count = leading_number(at);
    if (!count || !at.empty() || !is_tmem_count(s.shape, *count)) refuse_tmem_name(text);
    panel p = empty_tmem(s.columns * *count);
    for (int t = 0; t < tmem_lanes; ++t)
      for (int r = 0; r < tmem_registers(s.shape, *count); ++r) {
        // The second half of 16x32bx2 begins after the first.
        tmem_cell const c = tmem_cell_of(s.shape, t % tmem_lanes_of_warp, r, *count);
        int const lane = t / tmem_lanes_of_warp * tmem_lanes_of_warp + c.lane;
        put_cell(p, lane, c.column, fmt::format("T{}\nR{}", t % tmem_lanes_of_warp, r),
                 fmt::format("register {} of thread {} of the warp", r, t % tmem_lanes_of_warp));
        p.at(lane, c.column).owners.push_back({t, r});
      }
    picture all =
        with_legend(std::move(p), text,
                    "tcgen05.ld or tcgen05.st of four warps: T thread of its warp, R register");
    if (s.shape != tmem_shape::l32x32b)
      all.captions.emplace_back(
          "another instruction, which begins at lane 16, has the other lanes");
    return all;
  }
  refuse_tmem_name(text);
}

picture accumulator_picture(std::string_view text, std::string_view rest) {
  bool const pair = take_prefix(rest, "2cta.m");
  if (!pair && !take_prefix(rest, "1cta.m")) refuse_tmem_name(text);
  auto const m = leading_number(rest);
  if (!m || !take_prefix(rest, "n")) refuse_tmem_name(text);
  auto const n = leading_number(rest);
  int const ctas = pair ? 2 : 1, step = 8 * ctas;
  bool const fits = n && rest.empty() && (*m == 64 * ctas || *m == 128 * ctas) && *n >= step &&
                    *n <= 256 && *n % step == 0;
  if (!fits) refuse_tmem_name(text);
  int const rows = *m / ctas;
  layout const where = tmem_accumulator(ctas, rows, *n, tree(make_shape(1)));
  panel p = empty_tmem(pair && rows == 64 ? *n / 2 : *n);
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i < rows; ++i) {
      i64 const address = where(i64{i} + i64{rows} * j);
      put_cell(p, static_cast<int>(address >> 16), static_cast<int>(address & 0xFFFF),
               fmt::format("{},{}", i, j), fmt::format("D({}, {})", i, j));
    }
  picture all = with_legend(
      std::move(p), text,
      fmt::format("D of a tcgen05.mma with M = {}, N = {}: row, column of float32", *m, *n));
  if (pair) all.captions.emplace_back("the part of one CTA of a pair: rows count from its first");
  return all;
}

}  // namespace

bool names_tmem(std::string_view text) { return text.starts_with("tmem."); }

picture tmem_picture(std::string_view text) {
  std::string_view rest = text;
  take_prefix(rest, "tmem.");
  if (take_prefix(rest, "ld.")) return tmem_load_picture(text, rest);
  if (take_prefix(rest, "d.")) return accumulator_picture(text, rest);
  refuse_tmem_name(text);
}

}  // namespace tw
