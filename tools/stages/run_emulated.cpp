// SPDX-License-Identifier: Apache-2.0
// run_emulated.cpp  The kernel with a record in the emulator: its readings of the clock become
//                   cycles of the timeline's model.
#include <algorithm>

#include "family/bind.hpp"
#include "family/sm100_gemm/params.hpp"
#include "family/sm80_gemm/params.hpp"
#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/params.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"
#include "tilewright/kernel/sm80/gemm.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"
#include "tools/stages/plan.hpp"

namespace tw::stages {
namespace {

template <gemm_config C>
void launch_recorded(int ctas, gemm_params const& p, stage_log const& log, emu::options const& o) {
  using kernel = gemm_sm90_kernel<C, stage_profile>;
  launch<kernel>(ctas, typename kernel::params{p, log}, o);
}

void launch_of(gemm_plan const& plan, recorded_kernel kernel, gemm_operands const& o, int ctas,
               stage_log const& log, emu::options const& options) {
  launch_form const form = form_of(plan, o);
  if (kernel == recorded_kernel::ampere) {
    using recorded = gemm_sm80_kernel<ampere, stage_profile>;
    launch<recorded>(ctas,
                     typename recorded::params{
                         sm80_gemm_family::make_params(plan, form.problem, form.operands), log},
                     options);
    return;
  }
  if (kernel == recorded_kernel::blackwell) {
    using recorded = gemm_sm100_kernel<blackwell, stage_profile>;
    launch<recorded>(
        ctas,
        typename recorded::params{
            sm100_gemm_family::make_params(plan, form.problem, form.operands, target::emu), log},
        options);
    return;
  }
  gemm_params const p = make_params(plan, form.problem, form.operands, target::emu);
  (kernel == recorded_kernel::wide ? &launch_recorded<wide>
                                   : &launch_recorded<narrow>)(ctas, p, log, options);
}

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
  bool const on_blackwell = r.kernel == recorded_kernel::blackwell;
  gemm_plan const plan = plan_of(r, o, emulated_device(options, on_blackwell ? "b200" : "h200"));
  int const ctas =
      plan.schedule.clusters * (is_sm90_gemm(plan) ? tw::config_of(plan).cluster() : 1);
  int const roles = recorded_roles(r.kernel);
  std::vector<std::int32_t> counts(static_cast<std::size_t>(ctas * roles));
  std::vector<stage_event> events(counts.size() * log_capacity);
  options.record = &recorded;
  launch_of(plan, r.kernel, o, ctas, {events.data(), counts.data(), log_capacity}, options);
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
