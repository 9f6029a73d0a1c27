// SPDX-License-Identifier: Apache-2.0
// copy_checks.hpp  Results of cp.async and of the rarer operations of an mbarrier, against the
//                  rules of the PTX ISA.
#pragma once

#include "tests/arch/kernels/copies.hpp"
#include "tests/arch/kernels/machine.hpp"

namespace tw::test {

template <int Bytes, copy_cache Cache, copy_arrive How, class M>
std::string check_zero_fill(M& m) {
  using K = zero_fill_kernel<Bytes, Cache, How>;
  std::size_t const count = K::threads * Bytes;
  std::vector<std::uint8_t> const in = random_bytes(count, 5);
  std::vector<std::uint8_t> want(2 * count, 0xEE);
  std::uint8_t* const out = upload(m, want);
  run<K>(m, 1, {upload(m, in), out});
  for (std::size_t i = 0; i < count; ++i) {
    want[i] = i % Bytes < i / Bytes % (Bytes + 1) ? in[i] : 0;
    want[count + i] = in[i];
  }
  return differences(download(m, out, want.size()), want);
}

template <class M>
std::string check_copy_ring(M& m) {
  int const steps = 20;
  std::vector<std::uint32_t> in(128 * steps), want(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(3 * i + 1);
  std::uint32_t* const out = upload(m, want);
  run<copy_ring_kernel>(m, 1, {upload(m, in), out, steps});
  for (std::size_t i = 0; i < in.size(); ++i) want[i] = in[i / 128 * 128 + 127 - i % 128];
  return differences(download(m, out, want.size()), want);
}

template <class M>
std::string check_mbarrier_lives(M& m) {
  using K = mbarrier_lives_kernel;
  std::vector<std::uint32_t> want(3 * K::threads, 9);
  std::uint32_t* const out = upload(m, want);
  run<K>(m, 1, {out});
  for (std::size_t i = 0; i < want.size(); ++i)
    want[i] = i < K::threads ? 0 : i < 2 * K::threads ? 77 : 1;
  return differences(download(m, out, want.size()), want);
}

template <class T, class M>
std::string check_remote_bytes(M& m) {
  using K = remote_bytes_kernel<T>;
  failures f;
  for (bool with_arrive : {false, true}) {
    std::vector<T> want(4 * K::threads);
    T* const out = upload(m, want);
    run<K>(m, 4, {out, with_arrive});
    for (std::size_t i = 0; i < want.size(); ++i) {
      std::size_t const cta = i / K::threads;
      want[i] = static_cast<T>(1000 * (cta ^ 1U) + K::threads - 1 - i % K::threads);
    }
    f.add(with_arrive ? "arrive_expect_tx_remote" : "expect_tx_remote",
          differences(download(m, out, want.size()), want));
  }
  return f.result();
}

template <class M>
std::vector<check<M>> copy_checks() {
  using enum copy_cache;
  using enum copy_arrive;
  return {{"cp_async<4> with zero fill", check_zero_fill<4, all, noinc, M>},
          {"cp_async<8> with zero fill", check_zero_fill<8, all, counted, M>},
          {"cp_async<16> with zero fill", check_zero_fill<16, all, noinc, M>},
          {"cp_async_cg with zero fill", check_zero_fill<16, l2, counted, M>},
          {"cp_async in a ring of mbarriers", check_copy_ring<M>},
          {"mbarrier lives", check_mbarrier_lives<M>},
          {"expect_tx_remote, store_async of 4 bytes", check_remote_bytes<std::uint32_t, M>},
          {"expect_tx_remote, store_async of 8 bytes", check_remote_bytes<std::uint64_t, M>}};
}

}  // namespace tw::test
