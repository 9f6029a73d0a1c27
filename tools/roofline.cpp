// SPDX-License-Identifier: Apache-2.0
// roofline.cpp  Counts of bytes per level, and the ceilings of a device.
#include "tools/roofline.hpp"

#include <algorithm>

#include "tilewright/arch/limits.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tools/ceiling_table.hpp"

namespace tw {
namespace {

double bytes_of(elem e, double elems) { return elems * traits_of(e).bits / 8; }

/// Each operand read once, D written once.
double dram_bytes(roofline_problem const& p) {
  auto const m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  auto const k = static_cast<double>(p.k);
  return static_cast<double>(p.batch) * (bytes_of(p.ab, m * k + k * n) + bytes_of(p.d, m * n));
}

/// Each cluster reads its rows of A and its columns of B once, without what is outside of the
/// matrices; D passes to DRAM through L2.
double l2_bytes(roofline_problem const& p) {
  auto const m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  auto const k = static_cast<double>(p.k);
  double const reads_of_a = static_cast<double>(divide_up(p.n, p.tile_n * p.cluster_n));
  double const reads_of_b = static_cast<double>(divide_up(p.m, p.tile_m * p.cluster_m));
  return static_cast<double>(p.batch) *
         (bytes_of(p.ab, k * (m * reads_of_a + n * reads_of_b)) + bytes_of(p.d, m * n));
}

/// TMA writes a CTA's rows and columns; each wgmma reads 64 rows of A and all columns of B (both
/// operands in shared memory).
double smem_bytes(roofline_problem const& p) {
  std::int64_t const reads_of_b = std::max<std::int64_t>(1, p.tile_m / wgmma_m);
  double const tiles =
      static_cast<double>(divide_up(p.m, p.tile_m)) * static_cast<double>(divide_up(p.n, p.tile_n));
  auto const k = static_cast<double>(p.k);
  auto const elems = static_cast<double>(2 * p.tile_m + p.tile_n * (1 + reads_of_b));
  return static_cast<double>(p.batch) * bytes_of(p.ab, tiles * k * elems);
}

}  // namespace

roofline_level const* roofline::bound() const {
  auto const slowest = std::ranges::max_element(levels, {}, &roofline_level::us);
  return slowest->us > tensor_us ? &*slowest : nullptr;
}

double roofline::min_us() const {
  roofline_level const* const level = bound();
  return level == nullptr ? tensor_us : level->us;
}

roofline roofline_of(roofline_problem const& p, device const& d) {
  roofline r;
  r.problem = p, r.dev = d;
  device_ceilings const* const known = find_ceilings(d.id);
  bool const measured = d.source == calibration_source::measured;
  // Other types run at a rate in proportion to their bits; wgmma was measured with those of bf16.
  constexpr int measured_bits = size_bits(elem::bf16);
  bool const as_measured = size_bits(p.ab) == measured_bits;
  double const rate = 1.0 * measured_bits / size_bits(p.ab);
  r.tflops.data_sheet = rate * (known != nullptr ? known->tensor_tflops : d.wgmma_ceiling_tflops);
  if (measured && as_measured) r.tflops.measured = d.wgmma_ceiling_tflops;
  if (known != nullptr) r.source = known->source, r.measured_on = known->note;
  r.flop = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
           static_cast<double>(p.batch);
  r.tensor_us = r.flop / r.tflops.best() * 1e-6;

  auto const measured_rate = [&](memory_level l) {
    return known == nullptr ? 0.0 : known->of(l).gb_per_s;
  };
  double const smem_gb_per_s =
      static_cast<double>(d.smem_bytes_per_clock) * d.sm_count * d.max_clock_mhz * 1e-3;
  auto const add = [&](memory_level l, double bytes, ceiling_pair gb_per_s) {
    roofline_level level;
    level.name = memory_level_names[static_cast<int>(l)];
    level.bytes = bytes, level.gb_per_s = gb_per_s;
    level.intensity = r.flop / bytes;
    if (gb_per_s.data_sheet > 0)
      level.ridge.data_sheet = r.tflops.data_sheet / gb_per_s.data_sheet * 1e3;
    if (gb_per_s.measured > 0) level.ridge.measured = r.tflops.best() / gb_per_s.measured * 1e3;
    if (gb_per_s.best() > 0) level.us = bytes / gb_per_s.best() * 1e-3;
    r.levels.push_back(level);
  };
  add(memory_level::dram, dram_bytes(p), {d.dram_gb_per_s, measured ? d.dram_ceiling_gb_per_s : 0});
  add(memory_level::l2, l2_bytes(p), {0, measured_rate(memory_level::l2)});
  add(memory_level::shared_memory, smem_bytes(p),
      {smem_gb_per_s, measured_rate(memory_level::shared_memory)});
  return r;
}

}  // namespace tw
