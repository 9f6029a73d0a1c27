// SPDX-License-Identifier: Apache-2.0
// bulk_checks.hpp  Results of bulk copies and reductions, against loops on the host.
#pragma once

#include <algorithm>
#include <limits>

#include "tests/arch/kernels/bulk.hpp"
#include "tests/arch/kernels/machine.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {

template <class M>
std::string check_bulk_round(M& m) {
  using K = bulk_round_kernel;
  failures f;
  for (int bytes : {16, 48, 1024, 4112, K::room}) {
    int const ctas = 3;
    auto const count = static_cast<std::size_t>(ctas * bytes);
    std::vector<std::uint8_t> const in = random_bytes(count, 9);
    std::vector<std::uint8_t> want(count + 16, 0xEE);
    std::uint8_t* const out = upload(m, want);
    run<K>(m, ctas, {upload(m, in), out, bytes});
    for (int cta = 0; cta < ctas; ++cta)
      for (int i = 0; i < bytes; ++i)
        want[static_cast<std::size_t>(cta * bytes + i)] =
            in[static_cast<std::size_t>(cta * bytes + bytes - 4 - i / 4 * 4 + i % 4)];
    f.add(text(bytes, " bytes"), differences(download(m, out, want.size()), want));
  }
  return f.result();
}

template <class M>
std::string check_bulk_cluster(M& m) {
  using K = bulk_cluster_kernel;
  int const ctas = 2 * K::cluster;
  std::vector<std::uint32_t> in(ctas * K::words);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(7 * i + 3);
  std::vector<std::uint32_t> slots(in.size() * K::cluster, untouched), passed(in.size());
  typename K::params p{upload(m, in), {5, 12, 15, 8}, upload(m, slots), upload(m, passed)};
  run<K>(m, ctas, p);
  for (int cta = 0; cta < ctas; ++cta) {
    int const rank = cta % K::cluster, first = cta - rank;
    int const left = first + (rank + K::cluster - 1) % K::cluster;
    for (int i = 0; i < K::words; ++i) {
      passed[static_cast<std::size_t>(cta * K::words + i)] =
          static_cast<std::uint32_t>(1000 * left + i);
      for (int r = 0; r < K::cluster; ++r)
        if ((p.mask[r] >> rank & 1) != 0)
          slots[static_cast<std::size_t>((cta * K::cluster + r) * K::words + i)] =
              in[static_cast<std::size_t>((first + r) * K::words + i)];
    }
  }
  std::string const wrong = differences(download(m, p.slots, slots.size()), slots);
  return wrong.empty() ? differences(download(m, p.passed, passed.size()), passed) : wrong;
}

/// op(old, x), by formulas of this file's own.
template <reduce_op Op, class T>
T reduced(T old, T x) {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
    float const a = to_float(old), b = to_float(x);
    return from_float<T>(Op == reduce_op::add   ? a + b
                         : Op == reduce_op::min ? std::min(a, b)
                                                : std::max(a, b));
  } else {
    if constexpr (Op == reduce_op::add) return static_cast<T>(old + x);
    if constexpr (Op == reduce_op::min) return x < old ? x : old;
    if constexpr (Op == reduce_op::max) return x > old ? x : old;
    if constexpr (Op == reduce_op::inc) return old >= x ? T{0} : static_cast<T>(old + 1);
    if constexpr (Op == reduce_op::dec) return old == 0 || old > x ? x : static_cast<T>(old - 1);
    if constexpr (Op == reduce_op::bit_and) return static_cast<T>(old & x);
    if constexpr (Op == reduce_op::bit_or) return static_cast<T>(old | x);
    if constexpr (Op == reduce_op::bit_xor) return static_cast<T>(old ^ x);
  }
}

/// Values whose reductions come out the same in any order: small integers, or one limit for all.
template <reduce_op Op, class T>
std::vector<T> reduce_values(std::size_t count, unsigned seed) {
  std::vector<T> values(count);
  std::vector<float> const numbers = small_integers(count, seed);
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>)
      values[i] = from_float<T>(std::trunc(numbers[i] / 8));
    else if constexpr (Op == reduce_op::inc || Op == reduce_op::dec)
      values[i] = static_cast<T>(i % 64 % 5 + 1);
    else if constexpr (std::is_unsigned_v<T>)
      values[i] = static_cast<T>(numbers[i] + 127) << (i % 2 * (8 * sizeof(T) - 8));
    else
      values[i] = static_cast<T>(numbers[i]);
  }
  return values;
}

template <reduce_op Op, class T, class M>
std::string check_bulk_reduce(M& m) {
  using K = bulk_reduce_kernel<Op, T>;
  int const ctas = 5;
  std::vector<T> const in = reduce_values<Op, T>(ctas * K::count, 3);
  std::vector<T> want = reduce_values<Op, T>(K::count, 4);
  T* const out = upload(m, want);
  run<K>(m, ctas, {upload(m, in), out});
  for (std::size_t i = 0; i < in.size(); ++i) {
    T& w = want[i % K::count];
    w = reduced<Op>(w, in[i]);
  }
  std::vector<T> const got = download(m, out, want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) return text("element ", i);
  return "";
}

template <reduce_op Op, class T, class M>
std::string check_tma_reduce(M& m, elem type) {
  using K = tma_reduce_kernel<Op, T>;
  int const ctas = 6;
  std::vector<T> const in = reduce_values<Op, T>(ctas * K::count, 5);
  std::vector<T> want = reduce_values<Op, T>(2 * K::count, 6);
  T* const out = upload(m, want);
  tensor_map_desc d;
  d.base = out;
  d.type = type;
  d.dim[0] = 8, d.dim[1] = 16;
  d.box[0] = d.box[1] = 8;
  d.stride_bytes[0] = 8 * sizeof(T);
  run<K>(m, ctas, {make_tensor_map(d, M::where), upload(m, in)});
  for (std::size_t i = 0; i < in.size(); ++i) {
    T& w = want[i / K::count % 2 * K::count + i % K::count];
    w = reduced<Op>(w, in[i]);
  }
  std::vector<T> const got = download(m, out, want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) return text("element ", i);
  return "";
}

template <class M>
std::string check_pending_count(M& m) {
  std::vector<int> const zeros(4), want{4, 3, 2, 1};
  int* const out = upload(m, zeros);
  run<pending_count_kernel>(m, 1, {out});
  return differences(download(m, out, 4), want);
}

template <class M>
std::string check_bulk_sums(M& m) {
  constexpr reduce_op op = reduce_op::add;
  failures f;
  f.add("u32", check_bulk_reduce<op, std::uint32_t>(m));
  f.add("s32", check_bulk_reduce<op, std::int32_t>(m));
  f.add("u64", check_bulk_reduce<op, std::uint64_t>(m));
  f.add("s64", check_bulk_reduce<op, std::int64_t>(m));
  f.add("f32", check_bulk_reduce<op, float>(m));
  f.add("f64", check_bulk_reduce<op, double>(m));
  f.add("f16", check_bulk_reduce<op, f16>(m));
  f.add("bf16", check_bulk_reduce<op, bf16>(m));
  return f.result();
}

template <class M>
std::string check_bulk_extremes(M& m) {
  failures f;
  f.add("min of u32", check_bulk_reduce<reduce_op::min, std::uint32_t>(m));
  f.add("min of s32", check_bulk_reduce<reduce_op::min, std::int32_t>(m));
  f.add("max of u64", check_bulk_reduce<reduce_op::max, std::uint64_t>(m));
  f.add("max of s64", check_bulk_reduce<reduce_op::max, std::int64_t>(m));
  f.add("min of f16", check_bulk_reduce<reduce_op::min, f16>(m));
  f.add("max of bf16", check_bulk_reduce<reduce_op::max, bf16>(m));
  return f.result();
}

template <class M>
std::string check_bulk_bits(M& m) {
  failures f;
  f.add("inc", check_bulk_reduce<reduce_op::inc, std::uint32_t>(m));
  f.add("dec", check_bulk_reduce<reduce_op::dec, std::uint32_t>(m));
  f.add("and", check_bulk_reduce<reduce_op::bit_and, std::uint32_t>(m));
  f.add("or", check_bulk_reduce<reduce_op::bit_or, std::uint64_t>(m));
  f.add("xor", check_bulk_reduce<reduce_op::bit_xor, std::int32_t>(m));
  return f.result();
}

template <class M>
std::string check_tma_reductions(M& m) {
  failures f;
  f.add("min of f16", check_tma_reduce<reduce_op::min, f16>(m, elem::f16));
  f.add("max of bf16", check_tma_reduce<reduce_op::max, bf16>(m, elem::bf16));
  f.add("add of s32", check_tma_reduce<reduce_op::add, std::int32_t>(m, elem::s32));
  f.add("min of s32", check_tma_reduce<reduce_op::min, std::int32_t>(m, elem::s32));
  f.add("max of s32", check_tma_reduce<reduce_op::max, std::int32_t>(m, elem::s32));
  f.add("and of s32", check_tma_reduce<reduce_op::bit_and, std::int32_t>(m, elem::s32));
  f.add("or of s32", check_tma_reduce<reduce_op::bit_or, std::int32_t>(m, elem::s32));
  f.add("xor of s32", check_tma_reduce<reduce_op::bit_xor, std::int32_t>(m, elem::s32));
  return f.result();
}

template <reduce_op Op, class T, class M>
std::string check_peer_reduce(M& m) {
  using K = bulk_reduce_to_peer_kernel<Op, T>;
  std::size_t const ctas = 2 * K::cluster;
  std::vector<T> const in = reduce_values<Op, T>(ctas * K::count, 5);
  std::vector<T> want = reduce_values<Op, T>(ctas * K::count, 6);
  T* const out = upload(m, want);
  run<K>(m, static_cast<int>(ctas), {upload(m, in), out});
  for (std::size_t cta = 0; cta < ctas; ++cta)
    for (std::size_t from = 0; from < ctas; ++from)
      for (std::size_t i = 0; i < K::count && from / K::cluster == cta / K::cluster; ++i) {
        T& w = want[cta * K::count + i];
        w = reduced<Op>(w, in[from * K::count + i]);
      }
  return differences(download(m, out, want.size()), want);
}

template <class M>
std::string check_peer_reductions(M& m) {
  failures f;
  f.add("add of u32", check_peer_reduce<reduce_op::add, std::uint32_t>(m));
  f.add("add of s64", check_peer_reduce<reduce_op::add, std::int64_t>(m));
  f.add("max of s32", check_peer_reduce<reduce_op::max, std::int32_t>(m));
  f.add("inc", check_peer_reduce<reduce_op::inc, std::uint32_t>(m));
  f.add("xor", check_peer_reduce<reduce_op::bit_xor, std::int32_t>(m));
  return f.result();
}

template <class M>
std::vector<check<M>> bulk_checks() {
  return {{"bulk_load and bulk_store", check_bulk_round<M>},
          {"bulk_load_multicast and bulk_copy_to_peer", check_bulk_cluster<M>},
          {"bulk_reduce add", check_bulk_sums<M>},
          {"bulk_reduce min and max", check_bulk_extremes<M>},
          {"bulk_reduce of bits and counters", check_bulk_bits<M>},
          {"bulk_reduce_to_peer", check_peer_reductions<M>},
          {"tma_reduce", check_tma_reductions<M>},
          {"mbarrier pending_count", check_pending_count<M>}};
}

}  // namespace tw::test
