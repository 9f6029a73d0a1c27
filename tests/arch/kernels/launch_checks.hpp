// SPDX-License-Identifier: Apache-2.0
// launch_checks.hpp  Who a thread is, who is elected, register budgets, dependent launches.
#pragma once

#include "tests/arch/kernels/launches.hpp"
#include "tests/arch/kernels/machine.hpp"

namespace tw::test {

template <class M>
std::string check_identity(M& m) {
  using K = identity_kernel;
  constexpr int ctas = 6;
  std::vector<int> want(ctas * K::threads * K::words);
  int* const out = upload(m, want);
  run<K>(m, ctas, {out});
  std::size_t at = 0;
  for (int cta = 0; cta < ctas; ++cta)
    for (int t = 0; t < K::threads; ++t)
      for (int v :
           {t, t % 32, t / 32, t / 128, cta % 2, cta / 2, ctas / 2, cta, ctas, K::threads, 0, 4})
        want[at++] = v;
  return differences(download(m, out, want.size()), want, [](std::size_t i) {
    char const* const names[] = {"thread_id",     "lane_id",          "warp_id",
                                 "warpgroup_id",  "cluster_rank",     "cluster_id",
                                 "cluster_count", "cta_id",           "cta_count",
                                 "thread_count",  "smem_addr % 1024", "distance of two words"};
    return text(names[i % K::words], " of CTA ", i / K::words / K::threads, " thread ",
                i / K::words % K::threads);
  });
}

template <class M>
std::string check_grid(M& m) {
  using K = grid_kernel;
  constexpr extents3 grid{6, 3, 2}, block = K::thread_extents;
  std::vector<int> want(grid.count() * K::threads * K::words);
  int* const out = upload(m, want);
  run<K>(m, grid, {out});
  std::size_t at = 0;
  for (int cta = 0; cta < grid.count(); ++cta)
    for (int t = 0; t < K::threads; ++t) {
      int const x = cta % grid.x;
      for (int v : {x, cta / grid.x % grid.y, cta / grid.x / grid.y, grid.x, grid.y, grid.z,
                    t % block.x, t / block.x % block.y, t / block.x / block.y, x, x % K::cluster,
                    x / K::cluster, grid.x, grid.x / K::cluster})
        want[at++] = v;
    }
  return differences(download(m, out, want.size()), want, [](std::size_t i) {
    return text("word ", i % K::words, " of ", i / K::words);
  });
}

template <class M>
std::string check_elect(M& m) {
  std::vector<int> const zeros(elect_kernel::threads);
  int* const out = upload(m, zeros);
  run<elect_kernel>(m, 1, {out});
  std::vector<int> const got = download(m, out, zeros.size());
  for (int warp = 0; warp < elect_kernel::threads / 32; ++warp) {
    int elected = 0, changed = 0;
    for (int lane = 0; lane < 32; ++lane) {
      elected += got[32 * warp + lane] != 0;
      changed += got[32 * warp + lane] == 1 || got[32 * warp + lane] == 2;
    }
    if (elected != 1 || changed != 0)
      return text("warp ", warp, ": ", elected, " lanes elected, ", changed, " not both times");
  }
  return "";
}

template <class M>
std::string check_registers(M& m) {
  std::vector<int> want(registers_kernel::threads);
  int* const out = upload(m, want);
  run<registers_kernel>(m, 1, {out});
  for (int t = 0; t < registers_kernel::threads; ++t) want[t] = t < 128 ? t : 2 * t;
  return differences(download(m, out, want.size()), want);
}

template <class M>
std::string check_dependent_launch(M& m) {
  int const count = 1 << 18;
  std::vector<int> want(count);
  int* const between = upload(m, want);
  int* const out = upload(m, want);
  m.template start<predecessor_kernel>(16, {between, count});
  m.template start<successor_kernel>(16, {between, out, count}, true);
  m.finish();
  for (int i = 0; i < count; ++i) want[i] = 3 * (count - 1 - i) + 1;
  return differences(download(m, out, want.size()), want);
}

template <class M>
std::vector<check<M>> launch_checks() {
  return {{"identity", check_identity<M>},
          {"grid of three dimensions", check_grid<M>},
          {"elect_one", check_elect<M>},
          {"set_max_regs", check_registers<M>},
          {"grid_dependency_wait and grid_dependents_launch", check_dependent_launch<M>}};
}

}  // namespace tw::test
