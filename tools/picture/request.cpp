// SPDX-License-Identifier: Apache-2.0
// request.cpp  Which maker, which writer.
#include "tools/picture/request.hpp"

#include "tilewright/layout/call.hpp"
#include "tools/io/refuse.hpp"
#include "tools/picture/layout_picture.hpp"
#include "tools/picture/steps_picture.hpp"
#include "tools/picture/tv_picture.hpp"
#include "tools/picture/write_html.hpp"
#include "tools/picture/write_json.hpp"
#include "tools/picture/write_latex.hpp"
#include "tools/picture/write_svg.hpp"
#include "tools/picture/write_text.hpp"

namespace tw {
namespace {

/// The tile of --tv: a shape or a layout.
layout tile_of_text(std::string const& text) {
  answer const a = evaluate(text);
  if (a.function) return *a.function;
  return parse_layout(a.res.data(), static_cast<int>(a.res.size()));
}

picture thread_values(picture_request const& r) {
  answer const a = evaluate(r.expression);
  if (!a.function) {
    refuse("TW0172", "thread-value layout", a.res, "a layout of two modes, (thread, value)");
  }
  return tv_picture(*a.function, tile_of_text(r.tv), r.expression);
}

}  // namespace

picture picture_of(picture_request const& r) {
  if (!r.slice.empty() + !r.tv.empty() + r.steps > 1) {
    refuse("TW0625", "options", "two of --slice, --tv and --steps", "one of them");
  }
  if (r.steps) return steps_picture(r.expression);
  if (!r.tv.empty()) return thread_values(r);
  if (r.slice.empty()) return layout_picture(evaluate(r.expression));
  return layout_picture(evaluate(r.expression),
                        parse_tree(r.slice.data(), static_cast<int>(r.slice.size())));
}

std::string written(picture const& p, std::string_view how, bool coloured) {
  if (how == "svg") return write_svg(p);
  if (how == "html") return write_html(p);
  if (how == "latex") return write_latex(p);
  if (how == "json") return write_json(p).dump(-1, ' ', false) + "\n";
  return write_text(p, coloured);
}

}  // namespace tw
