// SPDX-License-Identifier: Apache-2.0
// roofline_report.cpp  The table of levels, and why one of them bounds the GEMM.
#include "tools/command/roofline/roofline_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tilewright/base/elem.hpp"
#include "tools/report/grouped.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

/// "134.2 MB": powers of 10.
std::string bytes_text(double bytes) {
  char const* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 5) bytes /= 1000, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

/// Four digits, with a comma between thousands: 1,365, 32.0.
std::string intensity_text(double x) {
  if (x <= 0) return "-";
  if (x >= 100) return grouped(std::llround(x));
  return fmt::format("{:.{}f}", x, x >= 10 ? 1 : 2);
}

std::string rate_text(double gb_per_s) {
  return gb_per_s > 0 ? fmt::format("{:.2f}", gb_per_s * 1e-3) : "-";
}
/// Numbers that two decimals do not show have two digits: 1.3e-06.
std::string us_text(double us) {
  if (us <= 0) return "-";
  return us < 0.01 ? fmt::format("{:.2g}", us) : fmt::format("{:.{}f}", us, us < 10 ? 2 : 1);
}
std::string tflops_text(double x) {
  return x < 0.1 ? fmt::format("{:.2g}", x) : fmt::format("{:.1f}", x);
}

/// A number of operations with its unit: "137.4 GFLOP", "2 FLOP".
std::string flop_text(double flop) {
  char const* const units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP"};
  int unit = 0;
  while (flop >= 1000 && unit < 3) flop /= 1000, ++unit;
  return fmt::format("{:.{}f} {}", flop, unit == 0 ? 0 : 1, units[unit]);
}

char const* type_text(roofline_problem const& p) {
  return p.format ? traits_of(*p.format).name : name(p.ab);
}

/// "128x256 of a CTA, clusters of 2x1": what the bytes of L2 and shared memory depend on.
std::string tiles_text(roofline const& r) {
  roofline_problem const& p = r.problem;
  std::string text = fmt::format("{}x{} of a CTA", p.tile_m, p.tile_n);
  if (has_clusters(r.dev)) text += fmt::format(", clusters of {}x{}", p.cluster_m, p.cluster_n);
  if (multiplies_in_pairs(p, r.dev))
    text += fmt::format(", pairs of {}x{}", 2 * p.tile_m, p.tile_n);
  return text + fmt::format(", {}", multiply_of(p, r.dev).name);
}

std::string calibrated(roofline const& r) {
  return r.dev.source == calibration_source::measured ? "" : " (data sheet only)";
}

/// The reason, in sentences.
std::string because(roofline const& r) {
  roofline_level const& dram = r.levels.front();
  roofline_level const* const bound = r.bound();
  std::string text;
  if (bound == nullptr) {
    text = fmt::format(
        "bound by        the tensor cores: compute-bound\n"
        "because         {} FLOP/byte is above the ridge point of DRAM, {}: its {} take {} us,\n"
        "                {:.0f} % of the {} us that the tensor cores need for {}\n",
        intensity_text(dram.intensity),
        intensity_text(dram.ridge.measured > 0 ? dram.ridge.measured : dram.ridge.data_sheet),
        bytes_text(dram.bytes), us_text(dram.us), 100 * dram.us / r.tensor_us, us_text(r.tensor_us),
        flop_text(r.flop));
  } else {
    double const ridge =
        bound->ridge.measured > 0 ? bound->ridge.measured : bound->ridge.data_sheet;
    text = fmt::format(
        "bound by        {}: {}\n"
        "because         {} FLOP/byte is below its ridge point, {}: its {} take {} us, the tensor\n"
        "                cores need {} us for {}\n",
        bound->name, bound == &dram ? "memory-bound" : "bound by loads",
        intensity_text(bound->intensity), intensity_text(ridge), bytes_text(bound->bytes),
        us_text(bound->us), us_text(r.tensor_us), flop_text(r.flop));
  }
  return text + fmt::format("at most         {} TFLOP/s, at least {} us\n",
                            tflops_text(r.attainable_tflops()), us_text(r.min_us()));
}

json pair_json(ceiling_pair const& c) {
  auto const known = [](double x) { return x > 0 ? json(x) : json(); };
  return {{"data_sheet", known(c.data_sheet)}, {"measured", known(c.measured)}};
}

}  // namespace

std::string roofline_text(roofline const& r) {
  roofline_problem const& p = r.problem;
  std::string text = fmt::format(
      "GEMM            {} x {} x {}{}, {} to {}: {} (2 M N K)\n"
      "device          {}{}\n"
      "tiles           {} (for L2 and shared memory)\n\n",
      p.m, p.n, p.k, p.batch == 1 ? "" : fmt::format(" ({} times)", p.batch), type_text(p),
      name(p.d), flop_text(r.flop), r.dev.name, calibrated(r), tiles_text(r));
  text += fmt::format("{:<14} {:>10} {:>10} {:>15} {:>15} {:>15}\n", "", "", "", "TB/s, TFLOP/s",
                      "ridge point", "us");
  text += fmt::format("{:<14} {:>10} {:>10} {:>7} {:>7} {:>7} {:>7} {:>15}\n", "level", "bytes",
                      "FLOP/byte", "sheet", "meas.", "sheet", "meas.", "at this ceiling");
  for (roofline_level const& level : r.levels)
    text += fmt::format("{:<14} {:>10} {:>10} {:>7} {:>7} {:>7} {:>7} {:>15}\n", level.name,
                        bytes_text(level.bytes), intensity_text(level.intensity),
                        rate_text(level.gb_per_s.data_sheet), rate_text(level.gb_per_s.measured),
                        intensity_text(level.ridge.data_sheet),
                        intensity_text(level.ridge.measured), us_text(level.us));
  auto const tflops = [](double x) { return x > 0 ? fmt::format("{:.1f}", x) : "-"; };
  text += fmt::format("{:<14} {:>10} {:>10} {:>7} {:>7} {:>7} {:>7} {:>15}\n\n", "tensor cores", "",
                      "", tflops(r.tflops.data_sheet), tflops(r.tflops.measured), "", "",
                      us_text(r.tensor_us));
  text += because(r);
  for (roofline_level const& level : r.levels) {
    if (!level.bounds && level.us > r.min_us())
      text += fmt::format(
          "no bound        the bytes of {}: CTAs of a GPC that load a line at the same time "
          "receive\n"
          "                it once\n",
          level.name);
    if (level.gb_per_s.best() == 0)
      text += fmt::format(
          "unknown         the rate of {}: no data sheet has it and it was not measured on this\n"
          "                device; `tilewright bench ceiling` measures it\n",
          level.name);
  }
  if (!r.source.empty()) text += fmt::format("data sheet      {}\n", r.source);
  if (!r.measured_on.empty()) text += fmt::format("measured        {}\n", r.measured_on);
  return text;
}

json roofline_json(roofline const& r) {
  roofline_problem const& p = r.problem;
  json levels = json::array();
  for (roofline_level const& level : r.levels)
    levels.push_back({{"level", level.name},
                      {"bytes", level.bytes},
                      {"flop_per_byte", level.intensity},
                      {"gb_per_s", pair_json(level.gb_per_s)},
                      {"ridge_flop_per_byte", pair_json(level.ridge)},
                      {"us", level.us > 0 ? json(level.us) : json()},
                      {"bounds", level.bounds}});
  roofline_level const* const bound = r.bound();
  return {{"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"batch", p.batch},
          {"dtype", type_text(p)},
          {"out_dtype", name(p.d)},
          {"device", r.dev.id},
          {"device_name", r.dev.name},
          {"tile", {p.tile_m, p.tile_n}},
          {"cluster", {p.cluster_m, p.cluster_n}},
          {"flop", r.flop},
          {"tensor_tflops", pair_json(r.tflops)},
          {"tensor_us", r.tensor_us},
          {"levels", levels},
          {"bound", bound == nullptr ? "tensor cores" : bound->name},
          {"min_us", r.min_us()},
          {"attainable_tflops", r.attainable_tflops()}};
}

}  // namespace tw
