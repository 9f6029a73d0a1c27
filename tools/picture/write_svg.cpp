// SPDX-License-Identifier: Apache-2.0
// write_svg.cpp  Fills first, then texts, lines between blocks, labels, titles.
#include "tools/picture/write_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/picture/escape.hpp"
#include "tools/picture/palette.hpp"

namespace tw {
namespace {

using n = double;  // of counts
std::string num_text(double v) { return short_number(v); }

std::string text_at(double x, double y, double font, char const* classes, std::string const& text) {
  return fmt::format("<text{}{} x=\"{}\" y=\"{}\" font-size=\"{}\">{}</text>\n",
                     *classes != '\0' ? " class=" : "",
                     *classes != '\0' ? fmt::format("\"{}\"", classes) : "", num_text(x),
                     num_text(y), num_text(font), xml_text(text));
}

/// The texts one after another. A picture has thousands of cells, and fmt::format takes several
/// times as long.
template <class... Texts>
void append(std::string& out, Texts const&... texts) {
  (out.append(texts), ...);
}

void append_rectangle(std::string& out, double x, double y, double w, double h) {
  std::string const width = num_text(w);
  append(out, "M", num_text(x), " ", num_text(y), "h", width, "v", num_text(h), "h-", width, "z");
}

std::string rectangle(double x, double y, double w, double h) {
  std::string out;
  append_rectangle(out, x, y, w, h);
  return out;
}

/// One element per cell, with its hint.
std::string cells_with_hints(panel const& p, panel_frame const& f) {
  std::string out;
  for (i64 r = 0; r < p.rows; ++r) {
    for (i64 c = 0; c < p.columns; ++c) {
      cell const& k = p.at(r, c);
      if (k.colour == blank && k.text.empty()) continue;
      out += fmt::format("<path class=\"c{}\" d=\"{}\">", letter_of(k.colour),
                         rectangle(static_cast<n>(c) * f.cell_width,
                                   static_cast<n>(r) * f.cell_height, f.cell_width, f.cell_height));
      if (!k.hint.empty()) out += "<title>" + xml_text(k.hint) + "</title>";
      out += "</path>\n";
    }
  }
  return out;
}

/// One path per colour; neighbours in a row are one rectangle where no line separates them.
std::string cells_by_colour(panel const& p, panel_frame const& f) {
  std::map<int, std::string> paths;
  for (i64 r = 0; r < p.rows; ++r) {
    for (i64 c = 0; c < p.columns;) {
      int const colour = p.at(r, c).colour;
      i64 end = c + 1;
      while (f.font == 0 && end < p.columns && p.at(r, end).colour == colour) ++end;
      if (colour != blank) {
        append_rectangle(paths[colour], static_cast<n>(c) * f.cell_width,
                         static_cast<n>(r) * f.cell_height, static_cast<n>(end - c) * f.cell_width,
                         f.cell_height);
      }
      c = end;
    }
  }
  std::string out;
  for (auto const& [colour, path] : paths) {
    out += fmt::format("<path class=\"c{}\" d=\"{}\"/>\n", letter_of(colour), path);
  }
  return out;
}

void put_text(std::string& out, cell const& k, double x, double y, double font) {
  std::vector<std::string> const lines = lines_of(k.text);
  double const step = 1.09 * font;
  double at = y + 0.36 * font - step * static_cast<n>(lines.size() - 1) / 2;
  for (std::string const& line : lines) {
    append(out, "<text x=\"", num_text(x), "\" y=\"", num_text(at), "\">", xml_text(line),
           "</text>\n");
    at += step;
  }
}

std::string svg_texts(panel const& p, panel_frame const& f) {
  bool const all = f.font > 0;
  if (!all && (f.block_rows == 0 || f.block_columns == 0)) return {};
  double const font = all ? f.font : 8;
  std::string out =
      fmt::format("<g class=\"{}\" font-size=\"{}\">\n", all ? "t" : "t k", num_text(font));
  for (i64 r = 0; r < p.rows; r += all ? 1 : f.block_rows) {
    for (i64 c = 0; c < p.columns; c += all ? 1 : f.block_columns) {
      cell const& k = p.at(r, c);
      if (k.text.empty()) continue;
      if (all) {
        put_text(out, k, (static_cast<n>(c) + 0.5) * f.cell_width,
                 (static_cast<n>(r) + 0.5) * f.cell_height, font);
      } else {
        double const half = 0.55 * font * static_cast<n>(lines_of(k.text).size()) + 1;
        put_text(out, k, static_cast<n>(c) * f.cell_width + 3,
                 static_cast<n>(r) * f.cell_height + half + 1, font);
      }
    }
  }
  return out + "</g>\n";
}

std::string block_lines(panel const& p, panel_frame const& f) {
  std::string out;
  for (frame_lines const& l : f.column_lines) {
    std::string d;
    for (i64 c = l.every; c < p.columns; c += l.every) {
      d += fmt::format("M{} 0v{}", num_text(static_cast<n>(c) * f.cell_width),
                       num_text(f.height(p)));
    }
    out += fmt::format("<path class=\"l\" stroke-width=\"{}\" d=\"{}\"/>\n", num_text(l.width), d);
  }
  for (frame_lines const& l : f.row_lines) {
    std::string d;
    for (i64 r = l.every; r < p.rows; r += l.every) {
      d += fmt::format("M0 {}h{}", num_text(static_cast<n>(r) * f.cell_height),
                       num_text(f.width(p)));
    }
    out += fmt::format("<path class=\"l\" stroke-width=\"{}\" d=\"{}\"/>\n", num_text(l.width), d);
  }
  return out + fmt::format("<path class=\"l\" stroke-width=\"1\" d=\"{}\"/>\n",
                           rectangle(0, 0, f.width(p), f.height(p)));
}

std::string svg_labels(panel const& p, panel_frame const& f) {
  std::string out;
  for (i64 c = 0; c < p.columns; c += f.column_step) {
    double const x = (static_cast<n>(c) + 0.5) * f.cell_width;
    out += text_at(x, -5, label_font, "q", p.column_label(c));
  }
  for (i64 r = 0; r < p.rows; r += f.row_step) {
    double const y = (static_cast<n>(r) + 0.5) * f.cell_height + 0.36 * label_font;
    out += text_at(-6, y, label_font, "q e", p.row_label(r));
  }
  if (!p.column_name.empty()) {
    out += text_at(f.width(p) / 2, -18, label_font, "q", p.column_name);
  }
  if (!p.row_name.empty()) {
    double const x = -f.label_width - 14;
    out += fmt::format(
        "<text class=\"q\" transform=\"translate({} {}) rotate(-90)\" "
        "font-size=\"{}\">{}</text>\n",
        num_text(x), num_text(f.height(p) / 2), num_text(label_font), xml_text(p.row_name));
  }
  double const above = p.column_name.empty() ? -20 : -34;
  if (!p.title.empty()) out += text_at(0, above, 13, "s b", p.title);
  if (!p.caption.empty()) out += text_at(0, f.height(p) + 16, caption_font, "s", p.caption);
  return out;
}

std::string svg_heading(picture const& p, picture_frame const& f) {
  std::string out;
  if (!p.title.empty()) out += text_at(margin, margin + title_font, title_font, "s b", p.title);
  double y = f.captions_y + 4;
  for (std::string const& c : p.captions) {
    out += text_at(margin, y, caption_font, "s", c);
    y += 18;
  }
  for (std::size_t i = 0; i < p.legend.size(); ++i) {
    double const x = f.legend_x[i];
    out += fmt::format("<path class=\"c{}\" d=\"{}\"/>\n", letter_of(p.legend[i].colour),
                       rectangle(x, f.legend_y, 16, 16));
    out += text_at(x + 21, f.legend_y + 12, label_font, "s", p.legend[i].text);
  }
  return out;
}

std::string drawing(picture const& p, picture_frame const& f, bool hints) {
  std::string out = svg_heading(p, f);
  for (std::size_t i = 0; i < p.panels.size(); ++i) {
    panel const& q = p.panels[i];
    panel_frame const& g = f.panels[i];
    out += fmt::format("<g transform=\"translate({} {})\">\n<g class=\"{}\">\n", num_text(g.x),
                       num_text(g.y), g.font > 0 ? "f" : "f m");
    out += hints ? cells_with_hints(q, g) : cells_by_colour(q, g);
    out += "</g>\n" + svg_texts(q, g) + block_lines(q, g) + svg_labels(q, g) + "</g>\n";
  }
  return out;
}

/// Rules that do not depend on colours. f: fills, m: of cells without borders, t: texts of cells,
/// k: texts at corners of blocks, l: lines, q: quiet labels, s: from the left, e: to the right,
/// b: bold.
constexpr std::string_view shapes =
    ".tw{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace}"
    ".tw text{text-anchor:middle;pointer-events:none;white-space:pre}"
    ".tw .s,.tw .k text{text-anchor:start}.tw .e{text-anchor:end}.tw .b{font-weight:bold}"
    ".tw .l{fill:none;pointer-events:none}.tw .f{stroke-width:.7}.tw .m{stroke:none}"
    ".tw .k text{paint-order:stroke;stroke-width:2.5px;stroke-linejoin:round}";

}  // namespace

std::string colour_rules(paper const& c) {
  std::string out;
  for (int k = warning; k < colours; ++k) {
    out += fmt::format(".tw .c{}{{fill:{}}}", letter_of(k), fill_of(c, k));
  }
  return out + fmt::format(
                   ".tw text{{fill:{0}}}.tw .q{{fill:{1}}}.tw .l{{stroke:{2}}}"
                   ".tw .f{{stroke:{3}}}.tw .m{{stroke:none}}.tw .k text{{stroke:{3}}}",
                   c.text, c.quiet_text, c.line, c.ground);
}

std::string_view shape_rules() { return shapes; }

std::string svg_element(picture const& p, picture_frame const& f) {
  return fmt::format("<svg class=\"tw\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n",
                     num_text(f.width), num_text(f.height)) +
         drawing(p, f, false) + "</svg>\n";
}

std::string write_svg(picture const& p) {
  check_cells(cell_count(p));
  picture_frame const f = frame_of(p);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tw\" viewBox=\"0 0 {0} {1}\" "
             "width=\"{0}\" height=\"{1}\" role=\"img\" "
             "xml:space=\"preserve\">\n<title>{2}</title>\n"
             "<style>{3}{4}</style>\n<path fill=\"{5}\" d=\"M0 0h{0}v{1}h-{0}z\"/>\n",
             num_text(f.width), num_text(f.height), xml_text(p.title), shape_rules(),
             colour_rules(light_paper), light_paper.ground) +
         drawing(p, f, true) + "</svg>\n";
}

}  // namespace tw
