// SPDX-License-Identifier: Apache-2.0
// occupancy.cpp  The quotients of resources, and the values at which the smallest one changes.
#include "tilewright/device/occupancy.hpp"

#include <algorithm>

namespace tw {
namespace {

constexpr int warp_threads = 32;  // arch/limits.hpp is to the right of this folder

template <class T>
T up(T value, T step) {
  return (value + step - 1) / step * step;
}

/// Warps are placed on partitions, whose registers are not shared. A launch is also checked as if
/// its warps filled all partitions alike (cuda_occupancy.h, cudaOccMaxBlocksPerSMRegsLimit).
int ctas_by_registers(int allocated, int warps_per_cta) {
  using sm = sm_limits;
  if (allocated == 0) return unlimited_ctas;
  int const of_warp = allocated * warp_threads;
  if (allocated > sm::max_allocated_registers) return 0;
  if (of_warp * up(warps_per_cta, sm::partitions) > sm::registers) return 0;
  return sm::registers / sm::partitions / of_warp * sm::partitions / warps_per_cta;
}

/// The largest value from `low` to `high` for which `holds`; low - 1 if none. `holds` is monotone.
template <class Holds>
std::int64_t largest(std::int64_t low, std::int64_t high, Holds const& holds) {
  if (low > high || !holds(low)) return low - 1;
  while (low < high) {
    std::int64_t const middle = low + (high - low + 1) / 2;
    if (holds(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

}  // namespace

char const* name_of(sm_resource r) {
  constexpr char const* names[] = {"warps", "registers", "shared memory",
                                   "CTAs",  "barriers",  "tensor memory"};
  return names[static_cast<int>(r)];
}

occupancy occupancy_of(cta_resources const& c, sm_limits const& sm) {
  occupancy o;
  o.warps_per_cta = (c.threads + warp_threads - 1) / warp_threads;
  o.allocated_registers = up(c.registers * warp_threads, sm_limits::register_step) / warp_threads;
  o.allocated_smem_bytes = up(c.smem_bytes + sm.reserved_smem_bytes_per_cta, sm.smem_step_bytes);
  bool const too_much_smem = c.smem_bytes > sm.max_smem_bytes_per_cta;
  auto const by = [&](sm_resource r) -> int& { return o.ctas_by[static_cast<std::size_t>(r)]; };
  by(sm_resource::warps) =
      c.threads > sm_limits::max_threads_per_cta ? 0 : sm.max_warps / o.warps_per_cta;
  by(sm_resource::registers) = ctas_by_registers(o.allocated_registers, o.warps_per_cta);
  by(sm_resource::shared_memory) = too_much_smem ? 0
                                   : o.allocated_smem_bytes == 0
                                       ? unlimited_ctas
                                       : static_cast<int>(sm.smem_bytes / o.allocated_smem_bytes);
  by(sm_resource::ctas) = sm.max_ctas;
  by(sm_resource::barriers) =
      sm.max_barriers == 0 || c.barriers == 0 ? unlimited_ctas : sm.max_barriers / c.barriers;
  by(sm_resource::tensor_memory) =
      c.tensor_columns == 0 ? unlimited_ctas : sm.tensor_columns() / c.tensor_columns;
  auto const fewest = std::ranges::min_element(o.ctas_by);
  o.ctas = *fewest;
  o.limit = static_cast<sm_resource>(fewest - o.ctas_by.begin());
  o.warps = o.ctas * o.warps_per_cta;
  return o;
}

occupancy_steps steps_of(cta_resources const& c, sm_limits const& sm) {
  int const now = occupancy_of(c, sm).ctas;
  auto const with_registers = [&](std::int64_t registers) {
    cta_resources x = c;
    x.registers = static_cast<int>(registers);
    return occupancy_of(x, sm).ctas;
  };
  auto const with_smem = [&](std::int64_t bytes) {
    cta_resources x = c;
    x.smem_bytes = bytes;
    return occupancy_of(x, sm).ctas;
  };
  occupancy_steps s;
  s.max_registers =
      static_cast<int>(largest(c.registers, sm_limits::max_allocated_registers,
                               [&](std::int64_t r) { return with_registers(r) >= now; }));
  s.registers_for_more = static_cast<int>(
      largest(1, c.registers - 1, [&](std::int64_t r) { return with_registers(r) > now; }));
  s.max_smem_bytes = largest(c.smem_bytes, sm.max_smem_bytes_per_cta,
                             [&](std::int64_t b) { return with_smem(b) >= now; });
  s.smem_bytes_for_more =
      largest(0, c.smem_bytes - 1, [&](std::int64_t b) { return with_smem(b) > now; });
  return s;
}

fragment_registers fragments_of(std::int64_t m, std::int64_t n, std::int64_t k, int operand_bits,
                                int threads) {
  auto const registers = [&](std::int64_t elems, int bits) {
    std::int64_t const of_thread = static_cast<std::int64_t>(threads) * 32;
    return static_cast<int>((elems * bits + of_thread - 1) / of_thread);
  };
  return {registers(m * k, operand_bits), registers(n * k, operand_bits), registers(m * n, 32)};
}

}  // namespace tw
