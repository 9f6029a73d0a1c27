// SPDX-License-Identifier: Apache-2.0
// write_json.cpp  Cells as objects for programs, as arrays for the page.
#include "tools/picture/write_json.hpp"

#include <fmt/format.h>

#include "tools/picture/escape.hpp"
#include "tools/report/json_output.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

json colour_json(int colour) {
  if (colour >= 0) return colour % colours;
  if (colour == blank) return nullptr;
  return colour == pale ? "pale" : "warning";
}

json cell_json(cell const& k) {
  json owners = json::array();
  for (cell_owner const& o : k.owners) owners.push_back({o.thread, o.value});
  return {{"text", k.text},
          {"hint", k.hint},
          {"colour", colour_json(k.colour)},
          {"owners", std::move(owners)}};
}

json panel_json(panel const& p) {
  json out{{"title", p.title},
           {"caption", p.caption},
           {"place", {p.place_row, p.place_column}},
           {"row_name", p.row_name},
           {"column_name", p.column_name},
           {"rows", p.rows},
           {"columns", p.columns},
           {"row_blocks", p.row_blocks},
           {"column_blocks", p.column_blocks}};
  json& rows = out["row_labels"] = json::array();
  json& columns = out["column_labels"] = json::array();
  for (i64 r = 0; r < p.rows; ++r) rows.push_back(p.row_label(r));
  for (i64 c = 0; c < p.columns; ++c) columns.push_back(p.column_label(c));
  json& cells = out["cells"] = json::array();
  for (cell const& k : p.cells) cells.push_back(cell_json(k));
  return out;
}

}  // namespace

json write_json(picture const& p) {
  check_cells(cell_count(p));
  json out{{"title", p.title}, {"captions", p.captions}, {"owner_name", p.owner_name}};
  json& legend = out["legend"] = json::array();
  for (legend_entry const& e : p.legend) {
    legend.push_back({{"colour", colour_json(e.colour)}, {"text", e.text}});
  }
  json& panels = out["panels"] = json::array();
  for (panel const& q : p.panels) panels.push_back(panel_json(q));
  return out;
}

std::string page_data(picture const& p, picture_frame const& f) {
  std::string out = R"({"owner":)";
  append_json_string(out, p.owner_name);
  out += R"(,"panels":[)";
  auto const cells = [&](char const* name, panel const& q, auto const& append) {
    out += fmt::format(",\"{}\":[", name);
    for (cell const& k : q.cells) {
      append(k);
      out += ',';
    }
    if (out.back() == ',') out.pop_back();
    out += ']';
  };
  for (std::size_t i = 0; i < p.panels.size(); ++i) {
    panel const& q = p.panels[i];
    panel_frame const& g = f.panels[i];
    out += i == 0 ? "" : ",";
    out += harmless(json_text({{"rows", q.rows},
                               {"columns", q.columns},
                               {"x", g.x},
                               {"y", g.y},
                               {"w", g.cell_width},
                               {"h", g.cell_height},
                               {"font", g.font},
                               {"title", q.title}}));
    out.pop_back();  // the arrays of cells follow
    cells("texts", q, [&](cell const& k) { append_json_string(out, k.text); });
    cells("hints", q, [&](cell const& k) { append_json_string(out, k.hint); });
    cells("owners", q, [&](cell const& k) {
      out += '[';
      for (cell_owner const& o : k.owners) {
        if (out.back() != '[') out += ',';
        out += std::to_string(o.thread) + ',' + std::to_string(o.value);
      }
      out += ']';
    });
    out += '}';
  }
  return out + "]}";
}

}  // namespace tw
