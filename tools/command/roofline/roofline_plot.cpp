// SPDX-License-Identifier: Apache-2.0
// roofline_plot.cpp  The roofline as SVG: ceilings as lines, the GEMM as a point on each level.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tilewright/base/elem.hpp"
#include "tools/command/roofline/roofline_report.hpp"
#include "tools/picture/escape.hpp"
#include "tools/picture/palette.hpp"

namespace tw {
namespace {

constexpr double width = 820, height = 520, left = 74, right = 24, top = 78, bottom = 58;

/// A logarithmic axis between two pixels.
struct axis {
  double low, high, from, to;
  double at(double x) const {
    return from + (to - from) * std::log10(x / low) / std::log10(high / low);
  }
};

/// A dark line for each level, and for the tensor cores.
constexpr std::string_view colours[] = {"#1f5fa8", "#9a4d00", "#2b6130", "#c00000"};

class drawing {
 public:
  explicit drawing(roofline const& r) : r_(r) {
    double most_x = 1000, least_y = 1e9;
    for (roofline_level const& l : r.levels) {
      most_x = std::max(most_x, 4 * l.intensity);
      least_y = std::min(least_y, attainable(l, l.intensity));
    }
    double const most_y = std::max(r.tflops.data_sheet, r.tflops.measured);
    x_ = {1, std::pow(10, std::ceil(std::log10(most_x))), left, width - right};
    double const low = std::min(least_y / 2, most_y / 300);
    y_ = {std::pow(10, std::floor(std::log10(low))), 2.5 * most_y, height - bottom, top};
  }

  std::string svg() {
    text_ += fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"{2}\"/>\n",
        width, height, light_paper.ground);
    grid();
    roofs();
    tensor_roof();
    points();
    title();
    return text_ + "</svg>\n";
  }

 private:
  double attainable(roofline_level const& l, double intensity) const {
    double const slope = l.gb_per_s.best() > 0 ? l.gb_per_s.best() * 1e-3 * intensity : 1e30;
    return std::min(slope, r_.tflops.best());
  }
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double thickness,
            bool dashed = false) {
    text_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"{}\"{}/>\n",
        x1, y1, x2, y2, colour, thickness, dashed ? " stroke-dasharray=\"6 4\"" : "");
  }
  void label(double x, double y, std::string const& words, std::string_view colour,
             std::string_view anchor = "start", double angle = 0) {
    std::string const turn =
        angle == 0 ? "" : fmt::format(" transform=\"rotate({:.2f} {:.1f} {:.1f})\"", angle, x, y);
    text_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\" text-anchor=\"{}\"{}>{}</text>\n",
                    x, y, colour, anchor, turn, xml_text(words));
  }

  void grid() {
    for (double x = x_.low; x <= x_.high * 1.01; x *= 10) {
      line(x_.at(x), top, x_.at(x), height - bottom, "#dddddd", 1);
      label(x_.at(x), height - bottom + 18, fmt::format("{:.0f}", x), light_paper.text, "middle");
    }
    for (double y = y_.low; y <= y_.high; y *= 10) {
      line(left, y_.at(y), width - right, y_.at(y), "#dddddd", 1);
      label(left - 8, y_.at(y) + 4, fmt::format("{:g}", y), light_paper.text, "end");
    }
    line(left, height - bottom, width - right, height - bottom, light_paper.line, 1);
    line(left, top, left, height - bottom, light_paper.line, 1);
    label((left + width - right) / 2, height - 16, "arithmetic intensity, FLOP per byte",
          light_paper.text, "middle");
    label(20, (top + height - bottom) / 2, "TFLOP/s", light_paper.text, "middle", -90);
  }

  /// A rate in TB/s as a line up to the tensor cores' rate.
  void slope(double tb_per_s, double tflops, std::string_view colour, bool dashed) {
    double const x1 = std::max(x_.low, y_.low / tb_per_s),
                 x2 = std::min(tflops / tb_per_s, x_.high);
    if (x1 >= x2) return;
    line(x_.at(x1), y_.at(tb_per_s * x1), x_.at(x2), y_.at(tb_per_s * x2), colour, 2, dashed);
  }
  void roofs() {
    double const rise = (y_.from - y_.to) / std::log10(y_.high / y_.low) /
                        ((x_.to - x_.from) / std::log10(x_.high / x_.low));
    double const angle = -std::atan(rise) * 180 / 3.14159265358979;
    for (std::size_t i = 0; i < r_.levels.size(); ++i) {
      ceiling_pair const& c = r_.levels[i].gb_per_s;
      if (c.data_sheet > 0)
        slope(c.data_sheet * 1e-3, r_.tflops.data_sheet, colours[i], c.measured > 0);
      if (c.measured > 0) slope(c.measured * 1e-3, r_.tflops.best(), colours[i], false);
      if (c.best() == 0) continue;
      // Above the line, at a quarter of the way up.
      double const tb = c.best() * 1e-3;
      double const low = std::max(y_.low, tb * x_.low),
                   y = low * std::pow(r_.tflops.best() / low, 0.2);
      label(x_.at(y / tb) - 6, y_.at(y) - 8,
            fmt::format("{}, {:.2f} TB/s{}", r_.levels[i].name, tb,
                        c.measured > 0 ? "" : " (data sheet)"),
            colours[i], "start", angle);
    }
  }

  void tensor_roof() {
    // From where the steepest level reaches it.
    double steepest = 0;
    for (roofline_level const& l : r_.levels) steepest = std::max(steepest, l.gb_per_s.best());
    auto const roof = [&](double tflops, bool dashed) {
      double const from = std::max(x_.low, tflops / (steepest * 1e-3));
      line(x_.at(from), y_.at(tflops), width - right, y_.at(tflops), colours[3], 2, dashed);
    };
    bool const measured = r_.tflops.measured > 0;
    roof(r_.tflops.data_sheet, measured);
    if (measured) roof(r_.tflops.measured, false);
    double const highest = std::max(r_.tflops.data_sheet, r_.tflops.measured);
    label(width - right, y_.at(highest) - 8,
          measured ? fmt::format("tensor cores, {:.0f} TFLOP/s measured ({:.0f} data sheet)",
                                 r_.tflops.measured, r_.tflops.data_sheet)
                   : fmt::format("tensor cores, {:.0f} TFLOP/s (data sheet)", r_.tflops.data_sheet),
          colours[3], "end");
  }

  /// Where the GEMM would be if only this level and the tensor cores bounded it.
  void points() {
    double below = 0;
    for (std::size_t i = 0; i < r_.levels.size(); ++i) {
      roofline_level const& l = r_.levels[i];
      if (l.gb_per_s.best() == 0 || l.intensity < x_.low) continue;
      double const x = x_.at(l.intensity), y = y_.at(attainable(l, l.intensity));
      line(x, y, x, height - bottom, colours[i], 1, true);
      text_ +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\" stroke=\"{}\"/>\n",
                      x, y, colours[i], light_paper.ground);
      label(x + 6, height - bottom - 10 - below, fmt::format("{} {:.0f}", l.name, l.intensity),
            colours[i]);
      below += 16;
    }
  }

  void title() {
    roofline_problem const& p = r_.problem;
    text_ += fmt::format(
        "<text x=\"{}\" y=\"26\" font-size=\"15\" fill=\"{}\">GEMM {} x {} x {}, {} to {}, on "
        "{}</text>\n",
        left, light_paper.text, p.m, p.n, p.k, p.format ? traits_of(*p.format).name : name(p.ab),
        name(p.d), xml_text(r_.dev.name));
    roofline_level const* const bound = r_.bound();
    label(left, 46,
          fmt::format("bound by {}: at most {:.0f} TFLOP/s; tiles of {}x{}, clusters of {}x{}; "
                      "dashed: data sheet",
                      bound == nullptr ? "the tensor cores" : bound->name, r_.attainable_tflops(),
                      p.tile_m, p.tile_n, p.cluster_m, p.cluster_n),
          light_paper.quiet_text);
  }

  roofline const& r_;
  axis x_{}, y_{};
  std::string text_;
};

}  // namespace

std::string roofline_svg(roofline const& r) { return drawing(r).svg(); }

}  // namespace tw
