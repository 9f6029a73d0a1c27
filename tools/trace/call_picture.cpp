// SPDX-License-Identifier: Apache-2.0
// call_picture.cpp  Rows of blocks with their names if they fit, on an axis that the panels share.
#include "tools/trace/call_picture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/picture/escape.hpp"
#include "tools/picture/palette.hpp"
#include "tools/trace/axis.hpp"

namespace tw {
namespace {

class call_drawing {
 public:
  explicit call_drawing(call_picture const& p) : p_(p) {
    for (int r = 0; r < p.ranks; ++r) {
      rows_.push_back({r, false});
      if (std::ranges::find(p.engines, r) != p.engines.end()) rows_.push_back({r, true});
    }
    end_ = p.end;
    for (call_panel const& x : p.panels) end_ = std::max(end_, end_of(x.blocks));
    step_ = axis_step(110 / (width - left - right) * end_);
    end_ = static_cast<double>(step_) * std::ceil(std::max(end_, 1.0) / static_cast<double>(step_));
    of_panel_ = head + static_cast<double>(rows_.size()) * row + gap;
    legend_y_ = 4 + line * static_cast<double>(p.heading.size());
    axis_y_ = legend_y_ + 34;
    height_ = axis_y_ + of_panel_ * static_cast<double>(p.panels.size());
  }

  std::string text() const {
    paper const& paint = light_paper;
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"{4}\" fill=\"{3}\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"{2}\"/>\n",
        width, height_, paint.ground, paint.text, font);
    for (std::size_t i = 0; i < p_.heading.size(); ++i)
      out += write(8, line * static_cast<double>(i + 1), p_.heading[i]);
    out += kinds() + axis();
    for (std::size_t i = 0; i < p_.panels.size(); ++i)
      out += panel(p_.panels[i], axis_y_ + static_cast<double>(i) * of_panel_);
    return out + "</svg>\n";
  }

 private:
  struct row_of_blocks {
    int rank;
    bool engine;
  };
  static constexpr double width = 720, left = 110, right = 26, row = 20, bar = 16, gap = 12,
                          head = 24;
  static constexpr double line = 15, font = 11, pixels_of_char = 6.2;
  static constexpr std::array<char const*, 4> legend{"GEMM", "copy", "addition", "wait"};

  static std::string_view colour_of(call_act act) {
    paper const& paint = light_paper;
    return act == call_act::wait ? paint.pale_fill : paint.fill[static_cast<std::size_t>(act)];
  }

  static std::string label_of(call_block const& b) {
    switch (b.act) {
      case call_act::gemm: return fmt::format("rows {}-{}", b.rows.begin, b.rows.end() - 1);
      case call_act::copy:
        return b.peers.empty() ? "copy" : fmt::format("to {}", fmt::join(b.peers, ", "));
      case call_act::add: return "add";
      case call_act::wait: break;
    }
    return fmt::format("wait for {}", fmt::join(b.peers, ", "));
  }

  /// The label with the kind of the act.
  static std::string name_of(call_block const& b) {
    std::string const label = label_of(b);
    return b.act == call_act::gemm                       ? "GEMM of " + label
           : b.act == call_act::copy && !b.peers.empty() ? "copy " + label
                                                         : label;
  }

  double x_of(double time) const { return left + time / end_ * (width - left - right); }

  static std::string write(double x, double y, std::string const& text, char const* how = "") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, how, xml_text(text));
  }
  static std::string rectangle(double x, double y, double w, double h, call_act act) {
    return fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" "
        "stroke=\"{}\" stroke-width=\"0.5\"",
        x, y, w, h, colour_of(act), light_paper.line);
  }

  /// The kinds of acts that there are.
  std::string kinds() const {
    std::string out;
    double x = 8;
    for (std::size_t i = 0; i < legend.size(); ++i) {
      auto const act = static_cast<call_act>(i);
      if (!std::ranges::any_of(p_.panels, [&](call_panel const& panel) {
            return std::ranges::any_of(panel.blocks,
                                       [&](call_block const& b) { return b.act == act; });
          }))
        continue;
      out += rectangle(x, legend_y_ + 2, 12, 12, act) + "/>\n";
      out += write(x + 17, legend_y_ + 12, legend[i]);
      x += 34 + pixels_of_char * static_cast<double>(std::string_view(legend[i]).size());
    }
    return out;
  }

  std::string axis() const {
    std::string lines, numbers;
    for (std::int64_t t = 0; static_cast<double>(t) <= end_; t += step_) {
      double const x = x_of(static_cast<double>(t));
      for (std::size_t i = 0; i < p_.panels.size(); ++i) {
        double const top = axis_y_ + static_cast<double>(i) * of_panel_;
        lines += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, top + head - 3, top + of_panel_ - gap + 1);
      }
      numbers +=
          write(x, axis_y_ - 2, thousands(static_cast<double>(t)), " text-anchor=\"middle\"");
    }
    return fmt::format("<path d=\"{}\" stroke=\"{}\" stroke-width=\"0.5\" opacity=\"0.3\"/>\n",
                       lines, light_paper.line) +
           write(8, axis_y_ - 2, p_.unit) + numbers;
  }

  std::string panel(call_panel const& panel, double top) const {
    std::string out = write(8, top + 16, panel.title, " font-weight=\"bold\"");
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      double const y = top + head + static_cast<double>(i) * row;
      auto const [rank, engine] = rows_[i];
      out += write(8, y + 12, fmt::format("{}rank {}", engine ? "copies of " : "", rank));
      for (call_block const& b : panel.blocks)
        if (b.rank == rank && b.by_engine == engine) out += block(b, y);
    }
    return out;
  }

  std::string block(call_block const& b, double y) const {
    double const x = x_of(b.begin), w = x_of(b.end) - x;
    std::string const label = label_of(b);
    std::string out =
        rectangle(x, y, w, bar, b.act) +
        fmt::format("><title>{}: {:.{}f} to {:.{}f} {}</title></rect>\n", xml_text(name_of(b)),
                    b.begin, digits(), b.end, digits(), p_.unit);
    for (std::string const& text : {label, shorter(b)})
      if (w > pixels_of_char * static_cast<double>(text.size()) + 4)
        return out + write(x + 4, y + 12, text);
    return out;
  }
  static std::string shorter(call_block const& b) {
    if (b.act == call_act::gemm) return fmt::format("{}-{}", b.rows.begin, b.rows.end() - 1);
    return b.act == call_act::wait ? "wait" : label_of(b);
  }
  /// Of times in the marks of hovering.
  int digits() const { return end_ < 10000 ? 1 : 0; }

  call_picture const& p_;
  std::vector<row_of_blocks> rows_;
  std::int64_t step_ = 1;
  double end_ = 0, of_panel_ = 0, legend_y_ = 0, axis_y_ = 0, height_ = 0;
};

}  // namespace

double end_of(std::vector<call_block> const& blocks) {
  double end = 0;
  for (call_block const& b : blocks) end = std::max(end, b.end);
  return end;
}

std::string thousands(double x) {
  std::string text = fmt::format("{:.0f}", x);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string call_svg(call_picture const& p) { return call_drawing(p).text(); }

}  // namespace tw
