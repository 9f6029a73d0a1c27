// SPDX-License-Identifier: Apache-2.0
// write_html.cpp  Heading, drawing, data and script of a page.
#include "tools/picture/write_html.hpp"

#include <fmt/format.h>

#include "tools/picture/escape.hpp"
#include "tools/picture/html_page.hpp"
#include "tools/picture/palette.hpp"
#include "tools/picture/write_json.hpp"
#include "tools/picture/write_svg.hpp"

namespace tw {
namespace {

/// The page's own colours as CSS variables.
std::string variables(paper const& c) {
  return fmt::format(":root{{--ground:{};--text:{};--quiet:{};--pale:{};--mark:{}}}", c.ground,
                     c.text, c.quiet_text, c.pale_fill, c.mark);
}

std::string legend(picture const& p) {
  std::string out;
  for (legend_entry const& e : p.legend) {
    out += fmt::format(
        "<span><svg class=\"tw\" width=\"16\" height=\"16\" aria-hidden=\"true\">"
        "<path class=\"c{}\" d=\"M0 0h16v16h-16z\"/></svg> {}</span>\n",
        letter_of(e.colour), xml_text(e.text));
  }
  return out.empty() ? out : "<p class=\"legend\">" + out + "</p>\n";
}

}  // namespace

std::string write_html(picture const& p) {
  check_cells(cell_count(p));
  picture drawn = p;  // title, captions and legend are text of the page
  drawn.title.clear();
  drawn.captions.clear();
  drawn.legend.clear();
  picture_frame const f = frame_of(drawn);
  std::string captions;
  for (std::string const& c : p.captions) captions += "<p>" + xml_text(c) + "</p>\n";
  std::string const title = xml_text(p.title);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{}{}{}\n"
      "@media (prefers-color-scheme: dark) {{\n{}{}\n}}\n{}</style>\n</head>\n<body>\n"
      "<header>\n<h1>{}</h1>\n{}{}</header>\n{}<div id=\"paper\">\n{}</div>\n{}"
      "<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{}</script>\n"
      "</body>\n</html>\n",
      title, variables(light_paper), shape_rules(), colour_rules(light_paper),
      variables(dark_paper), colour_rules(dark_paper), page_style, title, captions, legend(p),
      page_tools, svg_element(drawn, f), page_status, page_data(drawn, f), page_script);
}

}  // namespace tw
