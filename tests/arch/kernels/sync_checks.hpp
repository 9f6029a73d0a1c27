// SPDX-License-Identifier: Apache-2.0
// sync_checks.hpp  The order that barriers guarantee, and results of waits.
#pragma once

#include "tests/arch/kernels/machine.hpp"
#include "tests/arch/kernels/sync.hpp"

namespace tw::test {

template <class M>
std::string check_named_barriers(M& m) {
  int const rounds = 50;
  std::vector<std::uint32_t> want(rounds * 128);
  std::uint32_t* const out = upload(m, want);
  run<named_barrier_kernel>(m, 1, {out, rounds});
  for (int r = 0; r < rounds; ++r)
    for (int i = 0; i < 128; ++i)
      want[128 * r + i] = static_cast<std::uint32_t>(1000 * r + 127 - i);
  return differences(download(m, out, want.size()), want);
}

template <class M>
std::string check_tokens(M& m) {
  using K = token_kernel;
  int const rounds = 21;
  std::vector<std::uint32_t> want(rounds * K::threads * 2);
  std::uint32_t* const out = upload(m, want);
  run<K>(m, K::cluster, {out, rounds});
  for (int i = 0; i < rounds * K::threads; ++i) {
    want[2 * i] =
        static_cast<std::uint32_t>(100 * (i / K::threads) + K::threads - 1 - i % K::threads);
    want[2 * i + 1] = static_cast<std::uint32_t>(i / K::threads);
  }
  return differences(download(m, out, want.size()), want);
}

template <int Ctas, class M>
std::string check_cluster(M& m) {
  using K = cluster_kernel<Ctas>;
  int const ctas = 5 * Ctas;
  std::vector<std::uint32_t> want(2 * ctas * K::threads);
  std::uint32_t* const out = upload(m, want);
  run<K>(m, ctas, {out});
  for (int cta = 0; cta < ctas; ++cta) {
    int const first = cta / Ctas * Ctas, rank = cta % Ctas;
    int const next = first + (rank + 1) % Ctas, previous = first + (rank + Ctas - 1) % Ctas;
    for (int t = 0; t < K::threads; ++t) {
      want[2 * (cta * K::threads + t)] = static_cast<std::uint32_t>(100 * next + t);
      want[2 * (cta * K::threads + t) + 1] = static_cast<std::uint32_t>(10000 + 100 * previous + t);
    }
  }
  return differences(download(m, out, want.size()), want, [](std::size_t i) {
    return text("CTA ", i / 2 / K::threads, " thread ", i / 2 % K::threads,
                i % 2 == 0 ? ", word read" : ", word given");
  });
}

template <remote_arrive How, class M>
std::string check_remote_arrive(M& m) {
  int const ctas = 12, rounds = 20;
  std::vector<std::uint32_t> want(rounds * ctas * 4, 1);
  std::uint32_t* const out = upload(m, want);
  run<remote_arrive_kernel<How>>(m, ctas, {out, rounds});
  if (How == remote_arrive::release_cluster)
    for (std::uint32_t i = 0; i < want.size(); ++i)
      want[i] += 100 * (i / (ctas * 4)) + 10 * (i % 4) + i / 4 % ctas % 4;
  return differences(download(m, out, want.size()), want, [=](std::size_t i) {
    return text("round ", i / (ctas * 4), " CTA ", i / 4 % ctas, " word ", i % 4);
  });
}

template <class M>
std::string check_store_async(M& m) {
  using K = store_async_kernel;
  int const ctas = 8, rounds = 10;
  std::vector<std::uint32_t> want(rounds * ctas * K::cluster * K::threads);
  std::uint32_t* const out = upload(m, want);
  run<K>(m, ctas, {out, rounds});
  for (std::uint32_t i = 0; i < want.size(); ++i) {
    std::uint32_t const t = i % K::threads, from = i / K::threads % K::cluster;
    std::uint32_t const cta = i / (K::threads * K::cluster) % ctas;
    std::uint32_t const round = i / (K::threads * K::cluster * ctas);
    want[i] = 10000 * round + 1000 * from + (K::threads - 1 - t) + 110 + cta % K::cluster;
  }
  return differences(download(m, out, want.size()), want);
}

template <scope S, class M>
std::string check_try_wait(M& m) {
  std::vector<std::uint32_t> const want{1, 0, 0, 1, 0, 1, 0};
  std::uint32_t* const out = upload(m, std::vector<std::uint32_t>(want.size(), 9));
  run<try_wait_kernel<S>>(m, 1, {out});
  return differences(download(m, out, want.size()), want);
}

template <class M>
std::string check_expect_tx(M& m) {
  std::vector<std::uint32_t> want(128);
  for (std::uint32_t i = 0; i < 128; ++i) want[i] = 0x3F800000U + i;
  tensor_map_desc d;
  d.base = upload(m, want);
  d.type = elem::f32;
  d.rank = 1;
  d.dim[0] = 128;
  d.box[0] = 32;
  std::uint32_t* const out = upload(m, std::vector<std::uint32_t>(128));
  run<expect_tx_kernel>(m, 1, {make_tensor_map(d, M::where), out});
  return differences(download(m, out, 128), want);
}

template <class M>
std::vector<check<M>> sync_checks() {
  return {
      {"named barriers", check_named_barriers<M>},
      {"tokens of an mbarrier, and streaming stores", check_tokens<M>},
      {"cluster barrier and dsmem, 2 CTAs", check_cluster<2, M>},
      {"cluster barrier and dsmem, 8 CTAs", check_cluster<8, M>},
      {"arrive_remote, release.cluster", check_remote_arrive<remote_arrive::release_cluster, M>},
      {"arrive_remote, unqualified", check_remote_arrive<remote_arrive::unqualified, M>},
      {"arrive_remote_relaxed", check_remote_arrive<remote_arrive::relaxed, M>},
      {"store_async", check_store_async<M>},
      {"try_wait of scope cta", check_try_wait<scope::cta, M>},
      {"try_wait of scope cluster", check_try_wait<scope::cluster, M>},
      {"expect_tx apart from the arrival", check_expect_tx<M>}};
}

}  // namespace tw::test
