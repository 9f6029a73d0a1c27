// SPDX-License-Identifier: Apache-2.0
// wgmma_checks.hpp  Every N, both types, all majors and swizzles of wgmma against float64 sums.
#pragma once

#include <array>
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
  operand_recipe r{
      make_tensor_map(d, where), tile::boxes(extent), tile::box_bytes(extent), tile::span, {}};
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

/// Starts one kernel and waits for it.
template <class M>
using starter = void (*)(M&, wgmma_params const&);

/// The operands, their matrix product (64, 256) and memory for results.
template <class M>
struct wgmma_data {
  operand_data a, b;
  std::vector<float> product;  // (64, 256)
  float* d;

  explicit wgmma_data(M& m)
      : a(m, 64, 1),
        b(m, max_n, 2),
        product(64 * max_n),
        d(upload(m, product)) {
    for (int row = 0; row < 64; ++row)
      for (int n = 0; n < max_n; ++n) {
        double sum = 0;
        for (int k = 0; k < block_k; ++k)
          sum += static_cast<double>(a.values[row * block_k + k]) * b.values[n * block_k + k];
        product[row * max_n + n] = static_cast<float>(sum / 256);
      }
  }

  /// Columns first .. first + n - 1 of the matrix product.
  std::vector<float> wanted(int first, int n) const {
    std::vector<float> w;
    for (int row = 0; row < 64; ++row)
      w.insert(w.end(), product.begin() + row * max_n + first,
               product.begin() + row * max_n + first + n);
    return w;
  }

  std::string compare(M& m, starter<M> start, operand_recipe const& ra, operand_recipe const& rb,
                      int n, row_offsets const& rows = {}) {
    start(m, {ra, rb, d, rows});
    return differences(download(m, d, 64 * n), wanted(0, n),
                       [n](std::size_t i) { return text("D(", i / n, ", ", i % n, ")"); });
  }
};

inline char const* text_of(operand_major m) { return m == operand_major::k ? "K" : "MN"; }

/// Runs kernels[i] (N = 8 + 8i) with equal swizzles of A and B; where N is a multiple of 64 with
/// all 16 pairs.
template <class M>
std::string check_smem(M& m, elem ab, operand_major a, operand_major b, starter<M> const* kernels) {
  wgmma_data<M> data(m);
  failures f;
  for (int n = 8; n <= max_n; n += 8)
    for (swizzle_mode sa : all_swizzles)
      for (swizzle_mode sb : all_swizzles) {
        if (sa != sb && n % 64 != 0) continue;
        f.add(text("N ", n, ", swizzle A ", text_of(sa), " B ", text_of(sb)),
              data.compare(m, kernels[n / 8 - 1], data.a.recipe(ab, a, 64, sa, M::where),
                           data.b.recipe(ab, b, n, sb, M::where), n));
      }
  return f.result();
}
inline row_offsets rows_of_a() {
  using tile = operand_tile<elem::bf16, operand_major::k, swizzle_mode::b128>;
  row_offsets offsets;
  for (int row = 0; row < 64; ++row)
    for (int i = 0; i < 8; ++i)
      offsets.of[row][i] = static_cast<std::uint16_t>(tile::offset_bytes(64, row, 8 * i));
  return offsets;
}
template <class M>
std::string check_registers(M& m, elem ab, operand_major b, starter<M> const* kernels) {
  wgmma_data<M> data(m);
  operand_recipe const ra = data.a.recipe(ab, operand_major::k, 64, swizzle_mode::b128, M::where);
  failures f;
  for (int n = 8; n <= max_n; n += 8)
    for (swizzle_mode sb : all_swizzles)
      f.add(text("N ", n, ", swizzle B ", text_of(sb)),
            data.compare(m, kernels[n / 8 - 1], ra, data.b.recipe(ab, b, n, sb, M::where), n,
                         rows_of_a()));
  return f.result();
}

template <class K, class M>
void start_wgmma(M& m, wgmma_params const& p) {
  m.template start<K>(1, p);
  m.finish();
}

/// Every N with both operands in shared memory.
template <elem AB, operand_major A, operand_major B, class M>
check<M> smem_check() {
  static constexpr auto kernels = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array{&start_wgmma<wgmma_from_smem<AB, A, B, 8 + 8 * I>, M>...};
  }
  (std::make_integer_sequence<int, max_n / 8>{});
  return {text("wgmma ", name(AB), " A ", text_of(A), "-major B ", text_of(B), "-major"),
          [](M& m) { return check_smem(m, AB, A, B, kernels.data()); }};
}
/// Every N with A in registers.
template <elem AB, operand_major B, class M>
check<M> registers_check() {
  static constexpr auto kernels = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array{&start_wgmma<wgmma_from_registers<AB, B, 8 + 8 * I>, M>...};
  }
  (std::make_integer_sequence<int, max_n / 8>{});
  return {text("wgmma ", name(AB), " A from registers B ", text_of(B), "-major"),
          [](M& m) { return check_registers(m, AB, B, kernels.data()); }};
}

template <elem AB, class M>
std::string check_two_groups(M& m) {
  using K = wgmma_two_groups<AB>;
  wgmma_data<M> data(m);
  auto const s = swizzle_mode::b128;
  run<K>(m, 1,
         {data.a.recipe(AB, operand_major::k, 64, s, M::where),
          data.b.recipe(AB, operand_major::k, K::n, s, M::where), data.d});
  failures f;
  f.add("left", differences(download(m, data.d, 64 * K::half), data.wanted(0, K::half)));
  f.add("right", differences(download(m, data.d + 64 * K::half, 64 * K::half),
                             data.wanted(K::half, K::half)));
  return f.result();
}

/// The checks of one place and major of A. Each is a translation unit on the GPU, where all of a
/// type take longer to compile than 40 seconds.
template <elem AB, operand_major A, class M>
std::vector<check<M>> wgmma_checks_of_smem() {
  return {smem_check<AB, A, operand_major::k, M>(), smem_check<AB, A, operand_major::mn, M>()};
}
template <elem AB, class M>
std::vector<check<M>> wgmma_checks_of_registers() {
  return {registers_check<AB, operand_major::k, M>(),
          registers_check<AB, operand_major::mn, M>(),
          {text("wgmma ", name(AB), " two groups in flight"), check_two_groups<AB, M>}};
}

/// All of a type.
template <elem AB, class M>
std::vector<check<M>> wgmma_checks() {
  auto all = wgmma_checks_of_smem<AB, operand_major::k, M>();
  for (auto const& more :
       {wgmma_checks_of_smem<AB, operand_major::mn, M>(), wgmma_checks_of_registers<AB, M>()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace tw::test
