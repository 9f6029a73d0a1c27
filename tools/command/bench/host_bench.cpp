// SPDX-License-Identifier: Apache-2.0
// host_bench.cpp  Cost of a call of gemm() on the host, part by part: the cached plan,
//                 checks, tensor maps, and on a GPU the whole call.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "arch/tensor_map_gpu.hpp"
#include "dispatch/plan/plan_cache.hpp"
#include "family/bind.hpp"
#include "family/operand_maps.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/bench/questions.hpp"
#include "tools/measure/environment.hpp"
#include "tools/measure/statistics.hpp"
#include "tools/operand/device_memory.hpp"

namespace tw::bench {
namespace {

constexpr int batches = 41;
constexpr double limit_us = 3;  // of a call with a remembered plan

struct host_row {
  std::string name;
  std::vector<double> ns;  // of one call, mean of each batch
};

/// Batches of calls, back to back; `settle` waits between them, untimed.
host_row measure(
    std::string name, int calls, std::function<void()> const& call,
    std::function<void()> const& settle = [] {}) {
  host_row r{std::move(name), {}};
  for (int i = -1; i < batches; ++i) {
    settle();
    auto const start = std::chrono::steady_clock::now();
    for (int c = 0; c < calls; ++c) call();
    std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - start;
    if (i >= 0) r.ns.push_back(took.count() / calls);  // the first batch warms up
  }
  return r;
}

gemm_problem product(int m, int n, int k) {
  gemm_problem p;
  p.m = m, p.n = n, p.k = k;
  p.a = {elem::bf16, order::row_major, k};
  p.b = {elem::bf16, order::col_major, k};
  p.d = {elem::bf16, order::row_major, n};
  return p;
}

/// Encodes three tensor maps, those of A, B and D, as a launch of a kernel with TMA does. A box has
/// 64 rows of 128 bytes.
std::array<tensor_map, 3> maps_of(launch_form const& form, target t) {
  gemm_problem const& q = form.problem;
  gemm_operands const& o = form.operands;
  constexpr operand_box box{traits_of(elem::bf16).span(), wgmma_m};
  auto const map = [&](void const* base, matrix_desc const& m, extents e) {
    return map_of(base, m, matrices_of(q, m), e, box, swizzle_mode::b128, t, false);
  };
  return {map(o.a, q.a, extents_of_a(q)), map(o.b, q.b, extents_of_b(q)),
          map(o.d, q.d, {q.n, q.m})};
}

/// Plans of a hundred other problems, so that the cache does not hold one plan only.
void fill_cache(gemm_operands const& o, device const& dev, int ordinal) {
  for (int i = 1; i <= 100; ++i) cached_plan(product(64 * i, 128, 256), o, dev, ordinal);
}

std::vector<host_row> measure_all() {
  constexpr int calls = 200;  // below the number of launches that a stream takes without waiting
  gemm_problem const p = product(256, 256, 256);
  bool const on_gpu = gpu().usable;
  device const dev = on_gpu ? gpu_device() : known_device("h200");
  int const ordinal = on_gpu ? 0 : -1;
  auto const place = [](std::uintptr_t gib) { return reinterpret_cast<void*>(gib << 30); };
  gemm_operands o{place(1), place(2), nullptr,  // never followed
                  place(3), place(4), std::int64_t{64} << 20};
  std::vector<host_row> rows;
  rows.push_back(measure("planning anew", 20, [&] { plan_gemm(p, o, dev); }));
  fill_cache(o, dev, ordinal);
  auto const plan = cached_plan(p, o, dev, ordinal);
  rows.push_back(
      measure("finding the plan among 101", calls, [&] { cached_plan(p, o, dev, ordinal); }));
  rows.push_back(measure("checks and three maps of the emulator", calls,
                         [&] { maps_of(form_of(*plan, o), target::emu); }));
  if (!on_gpu) return rows;

  matrix_view const view{elem::bf16, order::row_major, 256, 256, nullptr};
  device_matrix const a(view), b(view), d(view);
  device_workspace const workspace;
  o = {a.data(), b.data(), nullptr, d.data(), workspace.data(), device_workspace::size_bytes};
  std::vector<std::byte> host(static_cast<std::size_t>(view.size().count));
  auto const drained = [&] { d.download(host.data()); };
  rows.push_back(measure("checks and three maps by cuTensorMapEncodeTiled", calls,
                         [&] { maps_of(form_of(*plan, o), target::gpu); }));
  std::array<tensor_map, 3> encoded = maps_of(form_of(*plan, o), target::gpu);
  rows.push_back(measure("three maps by cuTensorMapReplaceAddress instead", calls, [&] {
    readdress_tensor_map_gpu(encoded[0], o.b);
    readdress_tensor_map_gpu(encoded[1], o.a);
    readdress_tensor_map_gpu(encoded[2], o.d);
  }));
  rows.push_back(measure(
      "gemm(plan, operands, stream)", calls, [&] { gemm(*plan, o, nullptr); }, drained));
  rows.push_back(measure(
      "gemm(problem, operands, stream)", calls, [&] { gemm(p, o, nullptr); }, drained));
  return rows;
}

}  // namespace

exit_status run_host_bench(host_bench_options const& o) {
  check_json_file(o.json_path);
  std::vector<host_row> const rows = measure_all();
  fmt::print("host time of a call, ns: median and least of {} batches\n", batches);
  nlohmann::json list = nlohmann::json::array();
  for (host_row const& r : rows) {
    fmt::print("{:<48}{:>9.0f}{:>9.0f}\n", r.name, median(r.ns), smallest(r.ns));
    list.push_back({{"name", r.name}, {"median_ns", median(r.ns)}, {"ns", r.ns}});
  }
  if (gpu().usable)
    fmt::print("a call with a remembered plan: {:.2f} us; at most {:.0f} are wanted\n",
               median(rows.back().ns) / 1000, limit_us);
  else
    fmt::print("no call was launched: {}\n", to_string(gpu().why_not));
  if (!o.json_path.empty())
    write_json(o.json_path, {{"schema", "tilewright.bench.host/1"},
                             {"environment", environment_json(o.commit)},
                             {"gpu", gpu().usable ? gpu().name : ""},
                             {"rows", std::move(list)}});
  return exit_status::done;
}

}  // namespace tw::bench
