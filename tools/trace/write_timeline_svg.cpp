// SPDX-License-Identifier: Apache-2.0
// write_timeline_svg.cpp  The beginning of a timeline on a page: rows of the first CTAs, slices
//                         with what fits of their names, arrows to what they released.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/picture/escape.hpp"
#include "tools/picture/frame.hpp"
#include "tools/picture/palette.hpp"
#include "tools/trace/axis.hpp"
#include "tools/trace/write_timeline.hpp"

namespace tw {
namespace {

using emu::slice_kind;
using emu::timeline;
using emu::trace_slice;

constexpr double labels_width = 168, drawn_width = 528, side = 12;  // 720: the width of a page
constexpr double row_height = 22, row_gap = 4, font = 9.5;
constexpr double first_legend = 46, legend_height = 17;  // below the heading of three lines

struct look {
  slice_kind kind;
  char const* style;  // class of the fill
  char const* legend;
};
constexpr std::array looks{
    look{slice_kind::fill, "c0", "TMA load"},
    look{slice_kind::multiply, "c2", "tensor core"},
    look{slice_kind::store, "c1", "store"},
    look{slice_kind::epilogue, "c4", "shared memory"},
    look{slice_kind::wait, "cp", "wait: mbarrier"},
    look{slice_kind::wait_mma, "c5", "wait: wgmma"},
    look{slice_kind::wait_store, "c7", "wait: store"},
    look{slice_kind::barrier, "c6", "wait: barrier of threads"},
    look{slice_kind::arrive, "i", "arrive, issue, commit"},
    look{slice_kind::stuck, "c3", "never released"},
};

constexpr char const* arrow_legend = "releases";

char const* style_of(slice_kind k) {
  if (k == slice_kind::issue) k = slice_kind::arrive;
  return std::ranges::find(looks, k, &look::kind)->style;
}

/// Texts for a slice, the longest first.
std::vector<std::string> texts_of(trace_slice const& s) {
  std::vector<std::string> texts{s.name};
  auto const without = [&](char const* word) {
    if (s.name.starts_with(word))
      texts.push_back(s.name.substr(std::char_traits<char>::length(word)));
  };
  without("fill ");
  without("store ");
  without("wgmma ");
  without("multiplies ");
  if (auto const at = s.name.find(" phase "); at != std::string::npos)
    texts.push_back(s.name.substr(0, at));
  if (s.kind == slice_kind::fill || s.kind == slice_kind::wait) {  // the first object, its stage
    std::string const object = texts.back().substr(0, texts.back().find(','));
    texts.push_back(object);
    auto const open = object.find('['), close = object.find(']');
    if (open != std::string::npos && close != std::string::npos) {
      std::string const stage = object.substr(open, close - open + 1);
      if (s.kind == slice_kind::wait) texts.push_back(fmt::format("{} ph {}", stage, s.number));
      texts.push_back(stage);
    }
  } else if (s.number >= 0 && s.kind != slice_kind::barrier) {
    texts.push_back(fmt::format("{}", s.number));
  }
  return texts;
}

struct svg_place {
  double x0, x1, y;
  bool shown = false;
};

class timeline_drawing {
 public:
  timeline_drawing(timeline const& t, timeline_view const& view) : t_(t) {
    end_ = view.end_cycles > 0 ? std::min(view.end_cycles, t.cycles) : default_end(t);
    end_ = std::max<std::int64_t>(end_, 1);
    place_rows(view);
    place_legend();
    for (trace_slice const& s : t.slices) {
      double const y = row_y_[static_cast<std::size_t>(s.row)];
      places_.push_back(
          {x_of(s.begin), std::min(x_of(s.end), x_of(end_)), y, y >= 0 && s.begin < end_});
    }
  }

  std::string text() const {
    double const width = labels_width + drawn_width + 2 * side, height = bottom_ + side;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tw\" viewBox=\"0 0 {0} {1}\" "
               "width=\"{0}\" height=\"{1}\" role=\"img\">\n<title>{2}</title>\n"
               "<style>{3}</style>\n<path class=\"g\" d=\"M0 0h{0}v{1}h-{0}z\"/>\n",
               short_number(width), short_number(height), xml_text("Timeline: " + t_.run),
               rules()) +
           heading() + axis() + row_names() + slices() + arrows() + "</svg>\n";
  }

 private:
  static std::string rules() {
    auto const colours = [](paper const& p) {
      std::string out;
      for (int k = 0; k < 8; ++k)
        out += fmt::format(".tw .c{}{{fill:{}}}", k, p.fill[static_cast<std::size_t>(k)]);
      return out + fmt::format(
                       ".tw .cp{{fill:{0}}}.tw .g{{fill:{1}}}.tw text{{fill:{2}}}"
                       ".tw .q{{fill:{3}}}.tw .i{{fill:{2}}}.tw .l{{stroke:{3}}}"
                       ".tw .a{{stroke:{4}}}.tw .h{{fill:{4}}}.tw .r{{stroke:{3}}}",
                       p.pale_fill, p.ground, p.text, p.quiet_text, p.mark);
    };
    return ".tw{font-family:'DejaVu Sans',Verdana,Arial,sans-serif}"
           ".tw text{pointer-events:none}.tw .m{text-anchor:middle}.tw .b{font-weight:bold}"
           ".tw .e{text-anchor:end}.tw .r{stroke-width:.4}"
           ".tw .l{fill:none;stroke-width:.6;stroke-opacity:.45}"
           ".tw .a{fill:none;stroke-width:.7;stroke-opacity:.6}" +
           colours(light_paper) + "@media(prefers-color-scheme:dark){" + colours(dark_paper) + "}";
  }

  double x_of(std::int64_t cycle) const {
    return side + labels_width +
           drawn_width * static_cast<double>(cycle) / static_cast<double>(end_);
  }

  /// A second row of the same threads is drawn for slices of at least two pixels.
  bool is_seen(trace_slice const& s) const {
    bool const second =
        t_.rows[static_cast<std::size_t>(s.row)].name.find(", others") != std::string::npos;
    return s.begin < end_ && (!second || x_of(std::min(s.end, end_)) - x_of(s.begin) >= 2);
  }

  /// Rows of the first CTAs that have something to show; of threads those with roles, if any have.
  void place_rows(timeline_view const& view) {
    std::vector<char> used(t_.rows.size(), 0);
    for (trace_slice const& s : t_.slices)
      if (is_seen(s)) used[static_cast<std::size_t>(s.row)] = 1;
    bool const roles = std::ranges::any_of(t_.rows, &emu::trace_row::has_role);
    row_y_.assign(t_.rows.size(), -1);
    int last_cta = -1, ctas = 0, plain_rows = 0;
    double y = 0;
    for (std::size_t i = 0; i < t_.rows.size(); ++i) {
      emu::trace_row const& r = t_.rows[i];
      if (r.cluster != t_.rows.front().cluster || !used[i]) continue;
      if (r.kind == emu::row_kind::warps && roles && !r.has_role) continue;
      if (r.cta != last_cta) {
        if (++ctas > view.most_ctas) break;
        last_cta = r.cta;
        plain_rows = 0;
        y += 6;
        headings_.emplace_back(y + 11, fmt::format("CTA {}", r.cta));
        y += 18;
      }
      if (r.kind == emu::row_kind::warps && !roles && ++plain_rows > 8) continue;
      row_y_[i] = y;
      y += row_height + row_gap;
    }
    bottom_ = y;
  }

  struct legend_entry {
    look const* what;  // null: the arrow
    double x, y;
  };
  static double width_of(look const* l) {
    return 25 + 6.4 * static_cast<double>(
                          std::char_traits<char>::length(l == nullptr ? arrow_legend : l->legend));
  }

  /// The kinds of slices that are shown, in lines of the page's width; the rows come below.
  void place_legend() {
    std::vector<look const*> entries;
    for (look const& l : looks)
      if (std::ranges::any_of(t_.slices, [&](trace_slice const& s) {
            return style_of(s.kind) == l.style && row_y_[static_cast<std::size_t>(s.row)] >= 0 &&
                   s.begin < end_;
          }))
        entries.push_back(&l);
    entries.push_back(nullptr);
    double x = side, y = side + first_legend;
    for (look const* const l : entries) {
      if (x > side && x + width_of(l) > labels_width + drawn_width + 2 * side)
        x = side, y += legend_height;
      legend_.push_back({l, x, y});
      x += width_of(l);
    }
    axis_y_ = y + legend_height + 14;
    for (double& row : row_y_)
      if (row >= 0) row += axis_y_ + 4;
    for (auto& [at, name] : headings_) at += axis_y_ + 4;
    bottom_ += axis_y_ + 4;
  }

  std::string heading() const {
    std::string const shown = end_ == t_.cycles
                                  ? fmt::format("All {} cycles", end_)
                                  : fmt::format("The first {} of {} cycles", end_, t_.cycles);
    std::string out = fmt::format(
        "<text class=\"b\" x=\"{0}\" y=\"{1}\" font-size=\"14\">{2}</text>\n"
        "<text class=\"q\" x=\"{0}\" y=\"{3}\" font-size=\"10.5\">{4}.</text>\n"
        "<text class=\"q\" x=\"{0}\" y=\"{5}\" font-size=\"10.5\">Times come from a model of the "
        "chip "
        "(docs/timeline.md); they are no measurement.</text>\n",
        short_number(side), short_number(side + 12), shown, short_number(side + 27),
        xml_text(t_.run + (t_.cut_off.empty() ? "" : "; the recording was cut off")),
        short_number(side + 40));
    for (auto const& [what, x, y] : legend_) {
      if (what == nullptr)
        out += fmt::format(
            "<path class=\"a\" d=\"M{0} {1}h14\"/><path class=\"h\" d=\"M{2} {1}l-5 -2.5v5z\"/>",
            short_number(x), short_number(y + 6), short_number(x + 15));
      else
        out += fmt::format("<path class=\"{} r\" d=\"M{} {}h12v12h-12z\"/>", what->style,
                           short_number(x), short_number(y));
      out += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"10.5\">{}</text>\n",
                         short_number(x + 17), short_number(y + 10),
                         what == nullptr ? arrow_legend : what->legend);
    }
    return out;
  }

  /// Ticks about 80 pixels apart.
  std::string axis() const {
    std::int64_t const step = axis_step(80.0 / drawn_width * static_cast<double>(end_));
    double const top = axis_y_;
    std::string lines, texts;
    for (std::int64_t c = 0; c <= end_; c += step) {
      lines += fmt::format("M{} {}V{}", short_number(x_of(c)), short_number(top + 4),
                           short_number(bottom_));
      texts += fmt::format("<text class=\"q m\" x=\"{}\" y=\"{}\" font-size=\"10\">{}</text>\n",
                           short_number(x_of(c)), short_number(top), c);
    }
    texts += fmt::format("<text class=\"q\" x=\"{}\" y=\"{}\" font-size=\"10\">cycles</text>\n",
                         short_number(side), short_number(top));
    return fmt::format("<path class=\"l\" d=\"{}\"/>\n", lines) + texts;
  }

  std::string row_names() const {
    std::string out;
    for (auto const& [y, name] : headings_)
      out += fmt::format("<text class=\"b\" x=\"{}\" y=\"{}\" font-size=\"11.5\">{}</text>\n",
                         short_number(side), short_number(y), xml_text(name));
    for (std::size_t i = 0; i < t_.rows.size(); ++i) {
      if (row_y_[i] < 0) continue;
      out += fmt::format("<text class=\"e\" x=\"{}\" y=\"{}\" font-size=\"10.5\">{}</text>\n",
                         short_number(side + labels_width - 8), short_number(row_y_[i] + 15),
                         xml_text(t_.rows[i].name));
    }
    return out;
  }

  std::string slices() const {
    std::string out, texts;
    for (std::size_t i = 0; i < t_.slices.size(); ++i) {
      if (!places_[i].shown) continue;
      trace_slice const& s = t_.slices[i];
      svg_place const& p = places_[i];
      bool const tick = s.kind == slice_kind::arrive || s.kind == slice_kind::issue;
      double const w = std::max(p.x1 - p.x0, 1.0);
      if (!tick && w < 1.2 && s.end - s.begin <= 8) continue;  // a wait that passed at once
      std::string const shape = fmt::format(
          "<path class=\"{}{}\" d=\"M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z\"", style_of(s.kind),
          tick ? "" : " r", p.x0, p.y + (tick ? 6 : 0), w, tick ? row_height - 12 : row_height, w);
      if (tick) {  // too thin to point at
        out += shape + "/>\n";
        continue;
      }
      out +=
          shape +
          fmt::format("><title>{}</title></path>\n",
                      xml_text(fmt::format("{}: {} to {}. {}", s.name, s.begin, s.end, s.detail)));
      for (std::string const& text : texts_of(s)) {
        if (0.6 * font * static_cast<double>(characters(text)) + 3 > p.x1 - p.x0) continue;
        texts += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", (p.x0 + p.x1) / 2,
                             p.y + 14.5, xml_text(text));
        break;
      }
    }
    return out + fmt::format("<g class=\"m\" font-size=\"{}\">\n{}</g>\n", font, texts);
  }

  /// From the end of what released a wait to the end of the wait, inside a CTA.
  std::string arrows() const {
    std::string lines, heads;
    for (emu::trace_arrow const& a : t_.arrows) {
      svg_place const &from = places_[static_cast<std::size_t>(a.from)],
                      &to = places_[static_cast<std::size_t>(a.to)];
      if (cta_of(a.from) != cta_of(a.to)) continue;
      if (!from.shown || !to.shown || to.x1 - to.x0 < 3 || from.y == to.y ||
          t_.slices[static_cast<std::size_t>(a.to)].end > end_)
        continue;
      bool const down = to.y > from.y;
      double const y0 = from.y + (down ? row_height : 0), y1 = to.y + (down ? 0 : row_height);
      lines += fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", from.x1, y0, to.x1, y1);
      double const dx = to.x1 - from.x1, dy = y1 - y0,
                   r = std::max(std::sqrt(dx * dx + dy * dy), 0.1);
      double const ux = dx / r, uy = dy / r;  // a head of 4 x 3 pixels
      heads += fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z", to.x1, y1,
                           to.x1 - 4 * ux - 1.5 * uy, y1 - 4 * uy + 1.5 * ux,
                           to.x1 - 4 * ux + 1.5 * uy, y1 - 4 * uy - 1.5 * ux);
    }
    return fmt::format("<path class=\"a\" d=\"{}\"/>\n<path class=\"h\" d=\"{}\"/>\n", lines,
                       heads);
  }

  int cta_of(int slice) const {
    trace_slice const& s = t_.slices[static_cast<std::size_t>(slice)];
    return t_.rows[static_cast<std::size_t>(s.row)].cta;
  }

  std::size_t index(trace_slice const& s) const {
    return static_cast<std::size_t>(&s - t_.slices.data());
  }

  timeline const& t_;
  std::int64_t end_ = 0;
  double axis_y_ = 0, bottom_ = 0;
  std::vector<legend_entry> legend_;
  std::vector<double> row_y_;  // -1: not drawn
  std::vector<std::pair<double, std::string>> headings_;
  std::vector<svg_place> places_;
};

}  // namespace

std::int64_t default_end(timeline const& t) {
  constexpr std::int64_t pause = 1500;  // cycles without a store: a tile has ended
  constexpr int tiles = 2;
  std::vector<std::int64_t> engine_slices;
  std::int64_t end = 0, last = -1;
  int bursts = 0;
  for (trace_slice const& s : t.slices) {
    emu::trace_row const& r = t.rows[static_cast<std::size_t>(s.row)];
    if (r.kind != emu::row_kind::warps) engine_slices.push_back(s.end - s.begin);
    if (r.kind != emu::row_kind::tma_stores || r.cta != t.rows.front().cta) continue;
    if (last >= 0 && s.begin > last + pause) ++bursts;
    if (bursts < tiles) end = s.end;
    last = s.end;
  }
  end = end == 0 ? t.cycles : std::min(t.cycles, end + 800);
  if (engine_slices.empty()) return end;
  std::ranges::nth_element(
      engine_slices, engine_slices.begin() + static_cast<std::ptrdiff_t>(engine_slices.size() / 2));
  // The usual slice of an engine stays at least 8 pixels wide.
  auto const legible = static_cast<std::int64_t>(
      drawn_width / 8 * static_cast<double>(engine_slices[engine_slices.size() / 2]));
  return std::max<std::int64_t>(1, std::min(end, legible));
}

std::string timeline_svg(timeline const& t, timeline_view const& view) {
  return timeline_drawing(t, view).text();
}

}  // namespace tw
