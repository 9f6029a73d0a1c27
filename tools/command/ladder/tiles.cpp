// SPDX-License-Identifier: Apache-2.0
// tiles.cpp  Places of a tile_order as a picture.
#include "tools/command/ladder/tiles.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/check/rungs/rungs.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/measure/environment.hpp"
#include "tools/picture/escape.hpp"
#include "tools/report/json_output.hpp"

namespace ladder {

namespace {

constexpr int cell = 40, left = 12, above = 44;
constexpr int at_once = 16;  // tiles of one shade
constexpr int most_tiles = 32;
constexpr char const* shades[] = {"#dbe7f3", "#f6e3cc"};

}  // namespace

std::string svg_of(tw::tile_order const& order, std::string const& title) {
  int const width = 2 * left + cell * order.n_tiles, height = above + left + cell * order.m_tiles;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "<text x=\"{2}\" y=\"26\" font-size=\"13\" fill=\"#222222\">{3}</text>\n",
      width, height, left, tw::xml_text(title));
  std::string line, numbers;
  for (int i = 0; i < order.tiles(); ++i) {
    tw::tile_place const at = order.place(i);
    int const x = left + cell * at.n, y = above + cell * at.m;
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#ffffff\"/>\n", x,
        y, cell, cell, shades[i / at_once % 2]);
    line += fmt::format("{}{},{}", line.empty() ? "" : " ", x + cell / 2, y + cell / 2);
    numbers +=
        fmt::format("<text x=\"{}\" y=\"{}\" fill=\"#222222\">{}</text>\n", x + 4, y + 13, i);
  }
  svg += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"#4878a8\" stroke-width=\"2\"/>\n", line);
  return svg + numbers + "</svg>\n";
}

tw::exit_status draw_tiles(request const& r) {
  if (r.rung < 8 || r.rung > 11 || r.side)
    tw::refuse("TW0681", "--tiles",
               r.side       ? "--side"
               : r.rung > 0 ? fmt::format("rung {}", r.rung)
                            : "all rungs",
               "--rung 8, 9, 10 or 11, whose tiles have an order",
               "tilewright ladder --rung 11 --size 2048 --tiles order.svg");
  rung const& one = rungs()[static_cast<std::size_t>(r.rung - 1)];
  int const size = r.size > 0 ? r.size : 2048;
  tw::tile_order const order = one.order(
      {nullptr, nullptr, nullptr, size, size, size, size, size, size, 1, tw::target::emu});
  if (order.m_tiles > most_tiles || order.n_tiles > most_tiles)
    tw::refuse("TW0681", "--tiles", fmt::format("{} x {} tiles", order.m_tiles, order.n_tiles),
               fmt::format("at most {} x {}", most_tiles, most_tiles), "a smaller --size");
  tw::bench::write_text(
      r.tiles, "--tiles",
      svg_of(order, fmt::format("{}: {} x {} tiles of a cluster, {} order", one.name, order.m_tiles,
                                order.n_tiles, tw::order_names[static_cast<int>(order.kind)])));
  char const* const kind = tw::order_names[static_cast<int>(order.kind)];
  if (r.json)
    tw::print_json("tilewright.ladder.tiles/1", {{"file", r.tiles},
                                                 {"rung", r.rung},
                                                 {"m_tiles", order.m_tiles},
                                                 {"n_tiles", order.n_tiles},
                                                 {"order", kind}});
  else
    tw::to_stdout("tiles    {}: {} x {} tiles of a cluster, {} order\n", r.tiles, order.m_tiles,
                  order.n_tiles, kind);
  return tw::exit_status::done;
}

}  // namespace ladder
