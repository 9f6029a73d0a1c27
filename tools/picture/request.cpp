// SPDX-License-Identifier: Apache-2.0
// request.cpp  Which maker, which writer.
#include "tools/picture/request.hpp"

#include "tilewright/atom/call.hpp"
#include "tools/io/refuse.hpp"
#include "tools/picture/atom_picture.hpp"
#include "tools/picture/bank_picture.hpp"
#include "tools/picture/fields_picture.hpp"
#include "tools/picture/layout_picture.hpp"
#include "tools/picture/steps_picture.hpp"
#include "tools/picture/tma_picture.hpp"
#include "tools/picture/tv_picture.hpp"
#include "tools/picture/write_html.hpp"
#include "tools/picture/write_json.hpp"
#include "tools/picture/write_latex.hpp"
#include "tools/picture/write_svg.hpp"
#include "tools/picture/write_text.hpp"
#include "tools/report/json_output.hpp"

namespace tw {
namespace {

tree tree_of(std::string const& text) {
  return parse_tree(text.data(), static_cast<int>(text.size()));
}

/// The layout that an expression gives.
layout layout_of(std::string const& expression, char const* what) {
  answer const a = evaluate(expression);
  if (!a.function) refuse("TW0170", what, a.res, "a layout", "such as (4,8):(8,1)");
  return *a.function;
}

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

picture box(picture_request const& r) {
  layout const gmem = layout_of(r.expression, "global tensor");
  layout const smem = layout_of(r.tma, "tile of --tma");
  tree const at = r.at.empty() ? make_coord(0, 0) : tree_of(r.at);
  if (at.n != 2 || rank(at) != 2 || at.leaf[0].unit != unit_none || at.leaf[1].unit != unit_none) {
    refuse("TW0176", "coordinate of --at", r.at, "(row, column)", "for example --at '(96,-8)'");
  }
  return tma_picture(gmem, smem, at.leaf[0].v, at.leaf[1].v, r.bits);
}

picture descriptor(picture_request const& r) {
  layout const tile = layout_of(r.expression, "operand tile");
  if (r.descriptor != "wgmma" && r.descriptor != "tcgen05") {
    refuse("TW0626", "--descriptor", r.descriptor, "wgmma or tcgen05");
  }
  auto const kind = r.descriptor == "wgmma" ? descriptor_kind::wgmma : descriptor_kind::tcgen05;
  return descriptor_picture(kind, tile, r.mn_major ? operand_major::mn : operand_major::k, r.bits,
                            r.step);
}

int chosen(picture_request const& r) {
  return !r.slice.empty() + !r.tv.empty() + !r.banks.empty() + !r.tma.empty() +
         !r.descriptor.empty() + r.steps;
}

}  // namespace

bool picture_request::special() const { return chosen(*this) > 0; }

picture picture_of(picture_request const& r) {
  if (chosen(r) > 1) {
    refuse("TW0625", "options", "several that choose a picture",
           "one of --slice, --tv, --banks, --tma, --descriptor, --steps");
  }
  if (r.steps) return steps_picture(r.expression);
  if (!r.tv.empty()) return thread_values(r);
  if (!r.banks.empty()) return bank_picture(r.banks, layout_of(r.expression, "tile"), r.bits);
  if (!r.tma.empty()) return box(r);
  if (!r.descriptor.empty()) return descriptor(r);
  if (r.slice.empty() && names_atom(r.expression)) return atom_picture(r.expression);
  if (r.slice.empty()) return layout_picture(evaluate(r.expression));
  return layout_picture(evaluate(r.expression), tree_of(r.slice));
}

std::string written(picture const& p, std::string_view how, bool coloured) {
  if (how == "svg") return write_svg(p);
  if (how == "html") return write_html(p);
  if (how == "latex") return write_latex(p);
  if (how == "json") return json_text(write_json(p)) + "\n";
  return write_text(p, coloured);
}

}  // namespace tw
