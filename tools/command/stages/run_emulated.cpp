// SPDX-License-Identifier: Apache-2.0
// run_emulated.cpp  The kernel with a record in the emulator: its readings of the clock become
//                   cycles of the timeline's model.
#include <algorithm>

#include "family/bind.hpp"
#include "tilewright/base/convert.hpp"
#include "tools/command/stages/plan.hpp"

namespace tw::stages {
namespace {

/// Small values, exact in bf16, different by seed.
std::vector<std::uint16_t> matrix(std::int64_t elems, std::uint32_t seed) {
  std::vector<std::uint16_t> v(static_cast<std::size_t>(elems));
  for (std::uint16_t& x : v) {
    seed = seed * 1664525U + 1013904223U;
    x = to_bf16(static_cast<float>(static_cast<int>(seed >> 28U) - 8) / 4).bits;
  }
  return v;
}

/// D = A B^T in float64, which holds these sums exactly, rounded once.
bool is_product(std::vector<std::uint16_t> const& a, std::vector<std::uint16_t> const& b,
                std::vector<std::uint16_t> const& d, request const& r) {
  auto const values = [](std::vector<std::uint16_t> const& bits) {
    std::vector<double> v;
    for (std::uint16_t const x : bits) v.push_back(to_float(bf16{x}));
    return v;
  };
  std::vector<double> const x = values(a), y = values(b);
  for (std::int64_t i = 0; i < r.m; ++i)
    for (std::int64_t j = 0; j < r.n; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < r.k; ++k)
        sum += x[static_cast<std::size_t>(i * r.k + k)] * y[static_cast<std::size_t>(j * r.k + k)];
      if (d[static_cast<std::size_t>(i * r.n + j)] != to_bf16(static_cast<float>(sum)).bits)
        return false;
    }
  return true;
}

/// The model's cycles of readings, which are sorted.
std::uint64_t cycles_at(std::vector<emu::clock_time> const& times, std::uint64_t reading) {
  auto const at = std::ranges::lower_bound(times, reading, {}, &emu::clock_time::reading);
  return at == times.end() ? 0 : static_cast<std::uint64_t>(at->cycles);
}

}  // namespace

run run_emulated(request const& r) {
  std::vector<std::uint16_t> const a = matrix(r.m * r.k, 1), b = matrix(r.n * r.k, 2);
  std::vector<std::uint16_t> d(static_cast<std::size_t>(r.m * r.n));
  emu::trace recorded;
  emu::options options;
  options.sms = 2;
  options.os_threads = 1;
  gemm_operands o;
  o.a = a.data(), o.b = b.data(), o.d = d.data();
  recorded_kernel const& kernel = *r.kernel;
  std::string_view const like = kernel.of->facts(kernel.kernel).device;
  gemm_plan const plan = plan_of(r, o, emulated_device(options, like));
  int const ctas = plan.family->tiles(plan).ctas, roles = static_cast<int>(kernel.roles.size());
  std::vector<std::int32_t> counts(static_cast<std::size_t>(ctas * roles));
  std::vector<stage_event> events(counts.size() * log_capacity);
  options.record = &recorded;
  plan.family->launch_emulated_profiled(plan, form_of(plan, o),
                                        {events.data(), counts.data(), log_capacity}, options);
  std::vector<emu::clock_time> const times = clock_times(recorded);
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (int j = 0; j < std::min(counts[i], log_capacity); ++j) {
      stage_event& e = events[i * log_capacity + static_cast<std::size_t>(j)];
      e.begin = cycles_at(times, e.begin), e.end = cycles_at(times, e.end);
    }
  run result{r.kernel,
             "emulator",
             plan.kernel,
             r.m,
             r.n,
             r.k,
             false,
             records_of(events, counts, roles),
             timeline_of(recorded)};
  result.correct = is_product(a, b, d, r);
  return result;
}

}  // namespace tw::stages
