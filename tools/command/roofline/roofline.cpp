// SPDX-License-Identifier: Apache-2.0
// roofline.cpp  Counts of bytes per level, and the ceilings of a device.
#include "tools/command/roofline/roofline.hpp"

#include <algorithm>

#include "tilewright/arch/limits.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/device/sm_limits.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tools/command/roofline/ceiling_table.hpp"

namespace tw {
namespace {

double bytes_of(elem e, double elems) { return elems * traits_of(e).bits / 8; }

/// Of an element of A or B, with its part of the factor of its block.
double operand_bytes(roofline_problem const& p, double elems) {
  double const factors = p.format ? elems / traits_of(*p.format).block : 0;
  return bytes_of(p.ab, elems) + factors;
}

/// Each operand read once, D written once.
double dram_bytes(roofline_problem const& p) {
  auto const m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  auto const k = static_cast<double>(p.k);
  return static_cast<double>(p.batch) * (operand_bytes(p, m * k + k * n) + bytes_of(p.d, m * n));
}

/// Each cluster reads its rows of A and its columns of B once, without what is outside of the
/// matrices; D passes to DRAM through L2.
double l2_bytes(roofline_problem const& p) {
  auto const m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  auto const k = static_cast<double>(p.k);
  double const reads_of_a = static_cast<double>(divide_up(p.n, p.tile_n * p.cluster_n));
  double const reads_of_b = static_cast<double>(divide_up(p.m, p.tile_m * p.cluster_m));
  return static_cast<double>(p.batch) *
         (operand_bytes(p, k * (m * reads_of_a + n * reads_of_b)) + bytes_of(p.d, m * n));
}

/// How often the other operand is read for `extent` rows (or columns) in tiles of `tile`, by
/// multiplies of at most `most` rows each.
double reads_for(std::int64_t extent, std::int64_t tile, std::int64_t most) {
  return static_cast<double>(extent / tile * divide_up(tile, most) +
                             divide_up(extent % tile, most));
}

/// The operands that the multiplies read. Parts outside of the matrices do not count: tiles may
/// be narrower there. Nor do the loads' writes: measured kernels with narrow tiles are faster than
/// the sum of both would allow (docs/roofline.md).
double smem_bytes(roofline_problem const& p, device const& d) {
  multiply_facts const by = multiply_of(p, d);
  std::int64_t const tile_m = multiplies_in_pairs(p, d) ? 2 * p.tile_m : p.tile_m;
  auto const m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  double const elems = m * reads_for(p.n, p.tile_n, by.cols) + n * reads_for(p.m, tile_m, by.rows);
  return static_cast<double>(p.batch) * bytes_of(p.ab, elems * static_cast<double>(p.k));
}

}  // namespace

bool has_clusters(device const& d) {
  sm_limits const* const sm = find_sm_limits(d.compute_capability);
  return sm != nullptr && sm->max_cluster > 1;
}

bool multiplies_in_pairs(roofline_problem const& p, device const& d) {
  return d.compute_capability / 10 == 10 && p.cluster_m % 2 == 0;
}

multiply_facts multiply_of(roofline_problem const& p, device const& d) {
  // A warp's sums stay in its registers: 64 x 64 are 128 of a thread's 255.
  constexpr std::int64_t of_warp = 64, most_cols = max_wgmma_n;
  if (d.compute_capability < 90) return {"mma.sync", of_warp, of_warp};
  if (d.compute_capability < 100) return {"wgmma", wgmma_m, most_cols};
  // In a pair each CTA reads its rows of A and half of B.
  constexpr std::int64_t rows = sm100_cta::rows;
  return {"tcgen05.mma", multiplies_in_pairs(p, d) ? 2 * rows : rows, most_cols};
}

roofline_level const* roofline::bound() const {
  roofline_level const* slowest = nullptr;
  for (roofline_level const& level : levels)
    if (level.bounds && level.us > (slowest == nullptr ? tensor_us : slowest->us)) slowest = &level;
  return slowest;
}

double roofline::min_us() const {
  roofline_level const* const level = bound();
  return level == nullptr ? tensor_us : level->us;
}

roofline roofline_of(roofline_problem p, device const& d) {
  if (!has_clusters(d)) p.cluster_m = p.cluster_n = 1;
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
    level.bounds = l != memory_level::l2;
    if (gb_per_s.data_sheet > 0)
      level.ridge.data_sheet = r.tflops.data_sheet / gb_per_s.data_sheet * 1e3;
    if (gb_per_s.measured > 0) level.ridge.measured = r.tflops.best() / gb_per_s.measured * 1e3;
    if (gb_per_s.best() > 0) level.us = bytes / gb_per_s.best() * 1e-3;
    r.levels.push_back(level);
  };
  add(memory_level::dram, dram_bytes(p), {d.dram_gb_per_s, measured ? d.dram_ceiling_gb_per_s : 0});
  add(memory_level::l2, l2_bytes(p), {0, measured_rate(memory_level::l2)});
  add(memory_level::shared_memory, smem_bytes(p, d),
      {smem_gb_per_s, measured_rate(memory_level::shared_memory)});
  return r;
}

}  // namespace tw
