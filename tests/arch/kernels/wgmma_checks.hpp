// SPDX-License-Identifier: Apache-2.0
// wgmma_checks.hpp  Every N, both types, all majors and swizzles of wgmma against float64 sums.
#pragma once

#include <utility>

#include "tests/arch/kernels/machine.hpp"
#include "tests/arch/kernels/wgmma.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {

constexpr swizzle_mode all_swizzles[] = {swizzle_mode::none, swizzle_mode::b32, swizzle_mode::b64,
                                         swizzle_mode::b128};
constexpr int block_k = 128;  // K of the checks

/// Everything a check of wgmma needs of operand_tile<., Major, S>.
template <operand_major Major, swizzle_mode S>
operand_recipe make_recipe(tensor_map_desc d, int extent, target where) {
  using tile = operand_tile<elem::bf16, Major, S>;
  operand_box const box = tile::box(extent);
  d.box[0] = box.inner;
  d.box[1] = box.outer;
  d.swizzle = S;
  operand_recipe r{make_tensor_map(d, where), tile::boxes(extent), tile::box_bytes(extent),
                   tile::span, {}};
  for (int i = 0; i < 4; ++i) r.step[i] = tile::desc(0, extent, 0, 16 * i);
  return r;
}
template <operand_major Major>
operand_recipe make_recipe(tensor_map_desc const& d, int extent, swizzle_mode s, target where) {
  switch (s) {
    case swizzle_mode::none: return make_recipe<Major, swizzle_mode::none>(d, extent, where);
    case swizzle_mode::b32: return make_recipe<Major, swizzle_mode::b32>(d, extent, where);
    case swizzle_mode::b64: return make_recipe<Major, swizzle_mode::b64>(d, extent, where);
    default: return make_recipe<Major, swizzle_mode::b128>(d, extent, where);
  }
}

/// One operand (extent, 128) in the machine's memory, in both orders and both types.
struct operand_data {
  std::vector<float> values;  // (extent, 128)
  tensor_map_desc map[2][2];  // by type (bf16, f16), by major (k, mn)

  template <class M>
  operand_data(M& m, int extent, unsigned seed) : values(small_integers(extent * block_k, seed)) {
    for (bool half : {false, true})
      for (bool mn : {false, true}) {
        std::vector<std::uint16_t> bits(values.size());
        for (int e = 0; e < extent; ++e)
          for (int k = 0; k < block_k; ++k) {
            float const v = values[e * block_k + k] / 16;
            bits[mn ? k * extent + e : e * block_k + k] = half ? to_f16(v).bits : to_bf16(v).bits;
          }
        tensor_map_desc& d = map[half][mn];
        d.base = upload(m, bits);
        d.type = half ? elem::f16 : elem::bf16;
        d.rank = 2;
        d.dim[0] = mn ? extent : block_k;
        d.dim[1] = mn ? block_k : extent;
        d.stride_bytes[0] = d.dim[0] * 2;
      }
  }

  operand_recipe recipe(elem type, operand_major major, int extent, swizzle_mode s,
                        target where) const {
    bool const mn = major == operand_major::mn;
    tensor_map_desc const& d = map[type == elem::f16][mn];
    return mn ? make_recipe<operand_major::mn>(d, extent, s, where)
              : make_recipe<operand_major::k>(d, extent, s, where);
  }
};

/// The operands, their product (64, 256) and a place for results.
template <class M>
struct wgmma_data {
  operand_data a, b;
  std::vector<float> product;  // (64, 256)
  float* d;

  explicit wgmma_data(M& m)
      : a(m, 64, 1), b(m, max_n, 2), product(64 * max_n), d(upload(m, product)) {
    for (int row = 0; row < 64; ++row)
      for (int n = 0; n < max_n; ++n) {
        double sum = 0;
        for (int k = 0; k < block_k; ++k)
          sum += static_cast<double>(a.values[row * block_k + k]) * b.values[n * block_k + k];
        product[row * max_n + n] = static_cast<float>(sum / 256);
      }
  }

  /// Columns first .. first + n - 1 of the product.
  std::vector<float> wanted(int first, int n) const {
    std::vector<float> w;
    for (int row = 0; row < 64; ++row)
      w.insert(w.end(), product.begin() + row * max_n + first,
               product.begin() + row * max_n + first + n);
    return w;
  }

  template <class K>
  std::string compare(M& m, operand_recipe const& ra, operand_recipe const& rb, int n) {
    test::run<K>(m, 1, {ra, rb, d});
    return differences(download(m, d, 64 * n), wanted(0, n), [n](std::size_t i) {
      return fmt::format("D({}, {})", i / n, i % n);
    });
  }
};

inline char const* text_of(operand_major m) { return m == operand_major::k ? "K" : "MN"; }

/// Swizzles of A and B: equal ones; for N a multiple of 64 all 16 pairs.
template <class F>
void for_swizzles(int n, F&& f) {
  for (swizzle_mode a : all_swizzles)
    for (swizzle_mode b : all_swizzles)
      if (a == b || n % 64 == 0) f(a, b);
}

template <elem AB, operand_major A, operand_major B, int N, class M>
void check_smem_n(M& m, wgmma_data<M>& data, failures& f) {
  for_swizzles(N, [&](swizzle_mode sa, swizzle_mode sb) {
    std::string const name = fmt::format("N {}, swizzle A {} B {}", N, text_of(sa), text_of(sb));
    f.add(name, data.template compare<wgmma_from_smem<AB, A, B, N>>(
                    m, data.a.recipe(AB, A, 64, sa, M::where), data.b.recipe(AB, B, N, sb, M::where),
                    N));
  });
}
template <elem AB, operand_major B, int N, class M>
void check_registers_n(M& m, wgmma_data<M>& data, failures& f) {
  for (swizzle_mode sb : all_swizzles)
    f.add(fmt::format("N {}, swizzle B {}", N, text_of(sb)),
          data.template compare<wgmma_from_registers<AB, B, N>>(
              m, data.a.recipe(AB, operand_major::k, 64, swizzle_mode::b128, M::where),
              data.b.recipe(AB, B, N, sb, M::where), N));
}

/// Every N with both operands in shared memory.
template <elem AB, operand_major A, operand_major B, class M>
check<M> smem_check() {
  return {fmt::format("wgmma {} A {}-major B {}-major", name(AB), text_of(A), text_of(B)), [](M& m) {
            wgmma_data<M> data(m);
            failures f;
            [&]<int... I>(std::integer_sequence<int, I...>) {
              (check_smem_n<AB, A, B, 8 + 8 * I>(m, data, f), ...);
            }(std::make_integer_sequence<int, 32>{});
            return f.result();
          }};
}
/// Every N with A in registers.
template <elem AB, operand_major B, class M>
check<M> registers_check() {
  return {fmt::format("wgmma {} A from registers B {}-major", name(AB), text_of(B)), [](M& m) {
            wgmma_data<M> data(m);
            failures f;
            [&]<int... I>(std::integer_sequence<int, I...>) {
              (check_registers_n<AB, B, 8 + 8 * I>(m, data, f), ...);
            }(std::make_integer_sequence<int, 32>{});
            return f.result();
          }};
}

template <class M>
std::string check_two_groups(M& m) {
  using K = wgmma_two_groups;
  wgmma_data<M> data(m);
  auto const s = swizzle_mode::b128;
  run<K>(m, 1, {data.a.recipe(elem::bf16, operand_major::k, 64, s, M::where),
                data.b.recipe(elem::bf16, operand_major::k, K::n, s, M::where), data.d});
  failures f;
  f.add("left", differences(download(m, data.d, 64 * K::half), data.wanted(0, K::half)));
  f.add("right", differences(download(m, data.d + 64 * K::half, 64 * K::half),
                             data.wanted(K::half, K::half)));
  return f.result();
}

template <class M>
std::vector<check<M>> wgmma_checks() {
  constexpr auto k = operand_major::k, mn = operand_major::mn;
  constexpr auto bf16 = elem::bf16, f16 = elem::f16;
  return {smem_check<bf16, k, k, M>(),
          smem_check<bf16, k, mn, M>(),
          smem_check<bf16, mn, k, M>(),
          smem_check<bf16, mn, mn, M>(),
          smem_check<f16, k, k, M>(),
          smem_check<f16, k, mn, M>(),
          smem_check<f16, mn, k, M>(),
          smem_check<f16, mn, mn, M>(),
          registers_check<bf16, k, M>(),
          registers_check<bf16, mn, M>(),
          registers_check<f16, k, M>(),
          registers_check<f16, mn, M>(),
          {"wgmma two groups in flight", check_two_groups<M>}};
}

}  // namespace tw::test
