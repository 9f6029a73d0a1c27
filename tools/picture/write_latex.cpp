// SPDX-License-Identifier: Apache-2.0
// write_latex.cpp  The frame of the SVG, in TikZ.
#include "tools/picture/write_latex.hpp"

#include <fmt/format.h>

#include "tools/picture/escape.hpp"
#include "tools/picture/frame.hpp"
#include "tools/picture/palette.hpp"

namespace tw {
namespace {

constexpr std::string_view head = R"(\documentclass[tikz,border=4pt]{standalone}
\usepackage{fix-cm}
\pagestyle{empty}
)";
constexpr std::string_view macros =
    R"(\newcommand\twfill[5]{\path[fill=tw#1](#2,#3)rectangle+(#4,#5);}
\newcommand\twcell[5]{\path[fill=tw#1,draw=white,line width=.4pt](#2,#3)rectangle+(#4,#5);}
\newcommand\twsize[1]{\fontsize{#1bp}{#1bp}\selectfont\ttfamily}
\newcommand\twtext[4]{\node[anchor=#1,inner sep=0pt,align=center]at(#2,#3){#4};}
)";

std::string hex(std::string_view colour) {
  std::string out(colour.substr(1));
  for (char& c : out) c = static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c);
  return out;
}

std::string text_at(char const* anchor, double x, double y, std::string const& text) {
  return fmt::format("\\twtext{{{}}}{{{}}}{{{}}}{{{}}}\n", anchor, short_number(x), short_number(y),
                     tex_text(text));
}

std::string size(double font) { return fmt::format("\\twsize{{{}}}", short_number(0.75 * font)); }

std::string fills(panel const& p, panel_frame const& f) {
  std::string out;
  for (i64 r = 0; r < p.rows; ++r) {
    for (i64 c = 0; c < p.columns;) {
      int const colour = p.at(r, c).colour;
      i64 end = c + 1;
      while (f.font == 0 && end < p.columns && p.at(r, end).colour == colour) ++end;
      if (colour != blank) {
        out += fmt::format("\\tw{}{{{}}}{{{}}}{{{}}}{{{}}}{{{}}}\n", f.font > 0 ? "cell" : "fill",
                           letter_of(colour), short_number(static_cast<double>(c) * f.cell_width),
                           short_number(static_cast<double>(r) * f.cell_height),
                           short_number(static_cast<double>(end - c) * f.cell_width),
                           short_number(f.cell_height));
      }
      c = end;
    }
  }
  return out;
}

std::string latex_texts(panel const& p, panel_frame const& f) {
  if (f.font == 0) return {};
  std::string out = size(f.font) + "\n";
  for (i64 r = 0; r < p.rows; ++r) {
    for (i64 c = 0; c < p.columns; ++c) {
      if (p.at(r, c).text.empty()) continue;
      out += text_at("center", (static_cast<double>(c) + 0.5) * f.cell_width,
                     (static_cast<double>(r) + 0.5) * f.cell_height, p.at(r, c).text);
    }
  }
  return out;
}

std::string lines(panel const& p, panel_frame const& f) {
  std::string out;
  for (frame_lines const& l : f.column_lines) {
    for (i64 c = l.every; c < p.columns; c += l.every) {
      out += fmt::format("\\draw[line width={}bp]({},0)--+(0,{});\n", short_number(0.6 * l.width),
                         short_number(static_cast<double>(c) * f.cell_width),
                         short_number(f.height(p)));
    }
  }
  for (frame_lines const& l : f.row_lines) {
    for (i64 r = l.every; r < p.rows; r += l.every) {
      out += fmt::format("\\draw[line width={}bp](0,{})--+({},0);\n", short_number(0.6 * l.width),
                         short_number(static_cast<double>(r) * f.cell_height),
                         short_number(f.width(p)));
    }
  }
  return out + fmt::format("\\draw(0,0)rectangle({},{});\n", short_number(f.width(p)),
                           short_number(f.height(p)));
}

std::string latex_labels(panel const& p, panel_frame const& f) {
  std::string out = size(label_font) + "\n";
  for (i64 c = 0; c < p.columns; c += f.column_step) {
    out += text_at("base", (static_cast<double>(c) + 0.5) * f.cell_width, -5, p.column_label(c));
  }
  for (i64 r = 0; r < p.rows; r += f.row_step) {
    out += text_at("east", -6, (static_cast<double>(r) + 0.5) * f.cell_height, p.row_label(r));
  }
  if (!p.column_name.empty()) out += text_at("base", f.width(p) / 2, -18, p.column_name);
  if (!p.row_name.empty()) {
    out += fmt::format("\\node[rotate=90,inner sep=0pt]at({},{}){{{}}};\n",
                       short_number(-f.label_width - 14), short_number(f.height(p) / 2),
                       tex_text(p.row_name));
  }
  out += size(12) + "\n";
  double const above = p.column_name.empty() ? -20 : -34;
  if (!p.title.empty()) out += text_at("base west", 0, above, p.title);
  if (!p.caption.empty()) out += text_at("base west", 0, f.height(p) + 16, p.caption);
  return out;
}

std::string latex_heading(picture const& p, picture_frame const& f) {
  std::string out = size(title_font) + "\n";
  if (!p.title.empty()) out += text_at("base west", margin, margin + title_font, p.title);
  out += size(caption_font) + "\n";
  double y = f.captions_y + 4;
  for (std::string const& c : p.captions) {
    out += text_at("base west", margin, y, c);
    y += 18;
  }
  out += size(label_font) + "\n";
  for (std::size_t i = 0; i < p.legend.size(); ++i) {
    out += fmt::format("\\twfill{{{}}}{{{}}}{{{}}}{{16}}{{16}}\n", letter_of(p.legend[i].colour),
                       short_number(f.legend_x[i]), short_number(f.legend_y));
    out += text_at("base west", f.legend_x[i] + 21, f.legend_y + 12, p.legend[i].text);
  }
  return out;
}

}  // namespace

std::string write_latex(picture const& p) {
  check_cells(cell_count(p));
  picture_frame const f = frame_of(p);
  std::string out(head);
  for (int k = warning; k < colours; ++k) {
    out += fmt::format("\\definecolor{{tw{}}}{{HTML}}{{{}}}\n", letter_of(k),
                       hex(fill_of(light_paper, k)));
  }
  out += macros;
  out += "\\begin{document}\n\\begin{tikzpicture}[x=0.75bp,y=-0.75bp]\n";
  out += latex_heading(p, f);
  for (std::size_t i = 0; i < p.panels.size(); ++i) {
    panel_frame const& g = f.panels[i];
    out +=
        fmt::format("\\begin{{scope}}[shift={{({},{})}}]\n", short_number(g.x), short_number(g.y));
    out += fills(p.panels[i], g) + latex_texts(p.panels[i], g) + lines(p.panels[i], g) +
           latex_labels(p.panels[i], g) + "\\end{scope}\n";
  }
  return out + "\\end{tikzpicture}\n\\end{document}\n";
}

}  // namespace tw
