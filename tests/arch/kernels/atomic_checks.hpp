// SPDX-License-Identifier: Apache-2.0
// atomic_checks.hpp  Atomic operations against a loop over the threads, on values whose result does
//                    not depend on the order.
#pragma once

#include <algorithm>

#include "tests/arch/kernels/atomics.hpp"
#include "tests/arch/kernels/machine.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {

template <class T, where_words Where, class M>
std::string check_atomics(M& m) {
  using K = atomic_kernel<T, Where>;
  std::mt19937 random(17);
  std::vector<T> in(2 * K::threads), want(K::words);
  for (T& x : in) x = static_cast<T>(static_cast<int>(random() % 2001) - 1000);
  for (T& x : want) x = static_cast<T>(static_cast<int>(random() % 11) - 5);
  T* const out = upload(m, want);
  run<K>(m, 2, {upload(m, in), out, upload(m, want)});
  std::vector<T> got = download(m, out, want.size());
  std::size_t const threads = Where == where_words::shared ? K::threads : in.size();
  T exchanged = static_cast<T>(want[3] + want[4]);  // what is in word 3 at the end is not added
  for (std::size_t i = 0; i < threads; ++i) {
    T const x = in[i];
    want[0] += x, want[1] += x, want[2] += 1, exchanged += x;
    if constexpr (std::is_integral_v<T>) {
      want[5] = std::min(want[5], x), want[6] = std::max(want[6], x);
      want[7] &= static_cast<T>(x | 1), want[8] |= x, want[9] ^= x;
    }
  }
  got[4] += got[3], want[4] = exchanged, want[3] = got[3];
  return differences(got, want);
}

template <class T, elem E, class M>
std::string check_packed_atomics(M& m) {
  using K = packed_atomic_kernel<T>;
  auto const bits = [](float x) -> std::uint32_t {
    return E == elem::bf16 ? to_bf16(x).bits : to_f16(x).bits;
  };
  std::mt19937 random(19);
  std::vector<T> in;
  float low = 0, high = 0;
  for (int i = 0; i < K::threads; ++i) {
    float const x = static_cast<float>(static_cast<int>(random() % 3) - 1) / 8;
    float const y = static_cast<float>(static_cast<int>(random() % 3) - 1) / 8;
    in.push_back({bits(x) | bits(y) << 16});
    low += x, high += y;
  }
  std::vector<T> const zeros(2);
  T* const out = upload(m, zeros);
  run<K>(m, 1, {upload(m, in), out});
  std::vector<T> const got = download(m, out, 2);
  auto const value = [](std::uint32_t half) {
    return E == elem::bf16 ? to_float(bf16{static_cast<std::uint16_t>(half)})
                           : to_float(f16{static_cast<std::uint16_t>(half)});
  };
  for (T const x : got)
    if (value(x.bits & 0xFFFFU) != low || value(x.bits >> 16) != high)
      return text("got ", value(x.bits & 0xFFFFU), ", ", value(x.bits >> 16), ", want ", low, ", ",
                  high);
  return "";
}

template <class M>
std::string check_lock(M& m) {
  std::vector<int> const zero(1);
  std::vector<float> const none(1);
  int* const out = upload(m, zero);
  float* const flag = upload(m, none);
  run<lock_kernel>(m, 1, {out, flag});
  std::string const wrong = differences(download(m, out, 1), std::vector<int>{40});
  return wrong.empty() ? differences(download(m, flag, 1), std::vector<float>{0.25F}) : wrong;
}

template <class T, class M>
void add_atomic_checks(std::vector<check<M>>& to, std::string const& type) {
  to.push_back({"atomics of " + type + ", global", check_atomics<T, where_words::global, M>});
  to.push_back({"atomics of " + type + ", shared", check_atomics<T, where_words::shared, M>});
  to.push_back({"atomics of " + type + ", peer", check_atomics<T, where_words::peer, M>});
}

template <class M>
std::vector<check<M>> atomic_checks() {
  std::vector<check<M>> all;
  add_atomic_checks<std::int32_t>(all, "int32");
  add_atomic_checks<std::uint32_t>(all, "uint32");
  add_atomic_checks<std::int64_t>(all, "int64");
  add_atomic_checks<unsigned long long>(all, "unsigned long long");
  add_atomic_checks<float>(all, "float");
  add_atomic_checks<double>(all, "double");
  all.push_back({"atomics of f16x2", check_packed_atomics<f16x2, elem::f16, M>});
  all.push_back({"atomics of bf16x2", check_packed_atomics<bf16x2, elem::bf16, M>});
  all.push_back({"a lock and a flag in shared memory", check_lock<M>});
  return all;
}

}  // namespace tw::test
