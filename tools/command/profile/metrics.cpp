// SPDX-License-Identifier: Apache-2.0
// metrics.cpp  The one list of metrics. Names: Nsight Compute 2025 on H100 (GH100); a test compares
//              them with tests/tools/data/ncu_metrics_gh100.txt, and with ncu if it is
//              installed.
#include "tools/command/profile/metrics.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tools/report/grouped.hpp"

namespace tw::profile {
namespace {

constexpr metric metric_table[] = {
    {"gpu__time_duration.sum", "time", unit::us, wish::none, 0, 0,
     "of the kernel, at the clock that ncu locks: for shares, not for TFLOP/s", "", ""},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "SM throughput", unit::percent, wish::more,
     80, 60, "the busiest unit of the SMs",
     "the units of the SMs are idle while warps wait: more stages, fewer barriers", ""},
    {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SMs with work", unit::percent,
     wish::more, 95, 80, "share of the time in which an SM holds a CTA",
     "SMs are idle: as many CTAs as SMs, whole waves of tiles, split-K", ""},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "tensor cores",
     unit::percent, wish::more, 80, 50, "share of the time in which they multiply",
     "they wait for operands or for the epilogue: larger tiles, more stages, ping-pong or "
     "persistent CTAs",
     "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {"sm__inst_executed_pipe_tensor_op_gmma.sum", "wgmma instructions", unit::count, wish::more, 1,
     1, "of all warps; four warps issue one together",
     "the kernel does not use wgmma: mma.sync reaches about 60 % of its rate on sm_90",
     "smsp__inst_executed_op_hmma.sum"},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM", unit::percent, wish::limit,
     60, 80, "share of its peak rate",
     "memory-bound: larger tiles, an order of tiles that reuses L2, fused epilogues", ""},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2", unit::percent, wish::limit, 60, 80,
     "share of the peak rate of its busiest unit",
     "L2 limits: larger tiles, or clusters that load a line once (multicast)", ""},
    {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed", "L1 and shared memory", unit::percent,
     wish::limit, 60, 80, "share of the peak rate of their busiest unit",
     "shared memory limits: tiles with more columns, A in registers, 128-bit accesses", ""},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "bank conflicts", unit::count,
     wish::less, 0, 0, "extra wavefronts of loads and stores; wgmma and TMA are not counted",
     "look at the swizzle of what threads access: tilewright banks",
     "l1tex__data_bank_conflicts_pipe_lsu.sum"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy", unit::percent, wish::none, 0,
     0, "of the warp slots; 12 to 25 % are usual for wgmma kernels, see tilewright occupancy", "",
     ""},
    {"l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum", "loaded by TMA", unit::bytes,
     wish::none, 0, 0, "from L2; tilewright roofline has the least possible", "", ""},
};

}  // namespace

std::span<metric const> metrics() { return metric_table; }

metric const* find_metric(std::string_view name) {
  for (metric const& m : metric_table)
    if (m.name == name || (!m.formerly.empty() && m.formerly == name)) return &m;
  return nullptr;
}

char const* word(verdict v) {
  constexpr char const* words[] = {"good", "fair", "low", "limits", ""};
  return words[static_cast<int>(v)];
}

verdict judge(metric const& m, double value) {
  switch (m.wants) {
    case wish::more:
      return value >= m.good ? verdict::good : value < m.low ? verdict::low : verdict::fair;
    case wish::less: return value <= m.good ? verdict::good : verdict::low;
    case wish::limit:
      return value >= m.low ? verdict::limits : value < m.good ? verdict::good : verdict::fair;
    default: return verdict::shown;
  }
}

std::string value_text(unit u, double value) {
  if (!std::isfinite(value)) return "-";
  if (u == unit::percent) return fmt::format("{:.1f} %", value);
  if (u == unit::count) return grouped(std::llround(value));
  if (u == unit::us) return fmt::format("{:.{}f} us", value, value < 100 ? 2 : 1);
  char const* const units[] = {"B", "kB", "MB", "GB", "TB"};
  int step = 0;
  while (value >= 1000 && step < 4) value /= 1000, ++step;
  return fmt::format("{:.{}f} {}", value, step == 0 ? 0 : 1, units[step]);
}

}  // namespace tw::profile
