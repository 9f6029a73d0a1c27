// SPDX-License-Identifier: Apache-2.0
// cute_scale_factors.cpp  Prints where CuTe puts scale factors and copies: a JSON row for each line
//                         of scale_factors.jsonl. cute_test.py compiles it where it finds CuTe.
//
// Each row has its offsets in the order that scale_factors_test.cpp computes ours in.
#include <cstdint>
#include <cstdio>
#include <string>

#include <cute/atom/copy_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cute/tensor.hpp>
#include <cutlass/detail/sm100_blockscaled_layout.hpp>

namespace {

using namespace cute;

/// Prints a row: its fields, and offset(i) for all i below n.
template <class F>
void print_row(std::string const& fields, int n, F const& offset) {
  std::printf("{%s, \"offs\": [", fields.c_str());
  for (int i = 0; i < n; ++i)
    std::printf("%s%lld", i == 0 ? "" : ",", static_cast<long long>(offset(i)));
  std::printf("]}\n");
}
std::string field(char const* name, int value) {
  return std::string(", \"") + name + "\": " + std::to_string(value);
}

/// Factors in memory: (row, factor) -> byte, rows first.
template <int Block>
void print_memory(bool of_a, int rows, int k) {
  using config = cutlass::detail::Sm1xxBlockScaledConfig<Block>;
  int const factors = (k + Block - 1) / Block;
  auto const print_layout = [&](auto const& l) {
    print_row(std::string("\"op\": \"memory\"") + field("of_a", of_a ? 1 : 0) +
                  field("block", Block) + field("rows", rows) + field("k", k),
              rows * factors, [&](int i) {
                int const row = i % rows, at = i / rows * Block;
                return l(row, at + row % (at + Block <= k ? Block : k - at), 0);
              });
  };
  if (of_a)
    print_layout(config::tile_atom_to_shape_SFA(make_shape(rows, 1, k, 1)));
  else
    print_layout(config::tile_atom_to_shape_SFB(make_shape(1, rows, k, 1)));
}

/// Factors in tensor memory, of two atoms of 4 along K: (row, factor, copy) -> byte, rows first. A
/// CTA of a pair has the factors of its rows of A. Halves: N in two groups of lanes.
template <class Fragment, int Rows, int Block, int Factors, bool Halves>
void print_fragment(char const* kind, bool of_a, int ctas, int m) {
  auto const shape = make_shape(make_shape(Int<Rows>{}, make_shape(Int<Block>{}, Int<Factors>{})),
                                Int<1>{}, make_shape(Int<4 / Factors>{}, Int<2>{}));
  auto const l = Fragment::make(shape).layout();
  constexpr int copies = Halves ? 2 : 4;
  print_row(std::string("\"op\": \"tensor_memory\", \"kind\": \"") + kind + "\"" +
                field("of_a", of_a ? 1 : 0) + field("block", Block) + field("ctas", ctas) +
                field("m", m) + field("rows", Rows),
            Rows * 8 * copies, [&](int i) {
              int const row = i % Rows, f = i / Rows % 8, copy = i / Rows / 8;
              return l(make_coord(row + Rows * copy, make_coord(0, f % Factors)), 0,
                       make_coord(f % 4 / Factors, f / 4));
            });
}
template <class Op, int Rows, int N, int Block, bool Pair>
void print_fragments(char const* kind, int m) {
  using traits = MMA_Traits<Op>;
  constexpr int factors = traits::K / Block;
  constexpr bool halves = Pair && Rows == 64;
  if constexpr (N == 64)  // those of A do not depend on N
    print_fragment<typename traits::FrgTypeSFA, Rows, Block, factors, false>(kind, true,
                                                                             Pair ? 2 : 1, m);
  print_fragment<typename traits::FrgTypeSFB, N, Block, factors, halves>(kind, false, Pair ? 2 : 1,
                                                                         m);
}
template <int M, int N>
void print_multiplies() {
  using f8 = float_e4m3_t;
  using f4 = float_e2m1_t;
  constexpr auto k = UMMA::Major::K;
  if constexpr (M == 128) {
    print_fragments<SM100_MMA_MXF8F6F4_SS<f8, f8, float, float_ue8m0_t, M, N, k, k>, M, N, 32,
                    false>("mxf8f6f4", M);
    print_fragments<SM100_MMA_MXF4_SS<f4, f4, float, float_ue8m0_t, M, N, 32, k, k>, M, N, 32,
                    false>("mxf4", M);
    print_fragments<SM100_MMA_MXF4_SS<f4, f4, float, float_ue4m3_t, M, N, 16, k, k>, M, N, 16,
                    false>("mxf4nvf4", M);
  }
  print_fragments<SM100_MMA_MXF8F6F4_2x1SM_SS<f8, f8, float, float_ue8m0_t, M, N, k, k>, M / 2, N,
                  32, true>("mxf8f6f4", M);
  print_fragments<SM100_MMA_MXF4_2x1SM_SS<f4, f4, float, float_ue8m0_t, M, N, 32, k, k>, M / 2, N,
                  32, true>("mxf4", M);
  print_fragments<SM100_MMA_MXF4_2x1SM_SS<f4, f4, float, float_ue4m3_t, M, N, 16, k, k>, M / 2, N,
                  16, true>("mxf4nvf4", M);
}

/// A copy: (row, byte, copy) -> byte of tensor memory, rows first. CuTe's values are bits: (rows of
/// a part, bits of a row, parts and copies).
template <class Op, int Rows>
void print_copy(char const* shape) {
  using traits = Copy_Traits<Op>;
  auto const places = typename traits::ValID{};
  auto const to = typename traits::DstLayout{};
  constexpr bool of_part = !std::is_same_v<Op, SM100_UTCCP_4dp256bit_1cta>;
  constexpr int part = of_part ? decltype(size<0>(places))::value : Rows;
  constexpr int row_bits = decltype(size<1>(places))::value, parts = Rows / part;
  print_row(std::string("\"op\": \"copy\", \"shape\": \"") + shape + "\"",
            decltype(size<1>(to))::value / 8, [&](int i) {
              int const row = i % Rows, byte = i / Rows % (row_bits / 8);
              int const copy = i / Rows / (row_bits / 8);
              return places(to(0, row % part +
                                      part * (8 * byte + row_bits * (row / part + parts * copy)))) /
                     8;
            });
}

/// The instruction descriptor with each number that a scale factor may have in its column. CuTe has
/// the number in the upper two bits of the factors' addresses.
template <class A, class B, class Scale, int M, int N, UMMA::Major AMajor, UMMA::Major BMajor>
void print_descriptor(char const* name, int step) {
  auto const d = UMMA::make_instr_desc_block_scaled<A, B, float, Scale, M, N, AMajor, BMajor>();
  print_row(std::string("\"op\": \"descriptor\", \"name\": \"") + name + "\"" + field("m", M) +
                field("n", N) + field("step", step),
            4 / step * (4 / step), [&](int i) {
              auto const of_a = static_cast<std::uint32_t>(i % (4 / step) * step);
              auto const of_b = static_cast<std::uint32_t>(i / (4 / step) * step);
              return UMMA::make_runtime_instr_desc_block_scaled(d, of_a << 30, of_b << 30) >> 32;
            });
}

}  // namespace

int main() {
  for (bool const of_a : {true, false}) {
    print_memory<16>(of_a, 128, 64);  // the atom
    print_memory<32>(of_a, 128, 128);
    print_memory<16>(of_a, 256, 512);
    print_memory<32>(of_a, 256, 512);
    print_memory<16>(of_a, 200, 304);  // padded
    print_memory<32>(of_a, 333, 480);
    print_memory<32>(of_a, 1, 32);
  }
  print_multiplies<128, 64>();
  print_multiplies<128, 128>();
  print_multiplies<128, 192>();
  print_multiplies<128, 256>();
  print_multiplies<256, 64>();
  print_multiplies<256, 128>();
  print_multiplies<256, 192>();
  print_multiplies<256, 256>();
  print_copy<SM100_UTCCP_128dp256bit_1cta, 128>("128x256b");
  print_copy<SM100_UTCCP_128dp128bit_1cta, 128>("128x128b");
  print_copy<SM100_UTCCP_2x64dp128bitlw0213_1cta, 64>("64x128b.warpx2::02_13");
  print_copy<SM100_UTCCP_2x64dp128bitlw0123_1cta, 64>("64x128b.warpx2::01_23");
  print_copy<SM100_UTCCP_4x32dp128bit_1cta, 32>("32x128b.warpx4");
  print_copy<SM100_UTCCP_4dp256bit_1cta, 4>("4x256b");
  constexpr auto k = UMMA::Major::K, mn = UMMA::Major::MN;
  using float_4 = float_e2m1_t;
  print_descriptor<float_e4m3_t, float_e5m2_t, float_ue8m0_t, 128, 96, k, k>("e4m3.e5m2", 1);
  print_descriptor<float_e5m2_t, float_e4m3_t, float_ue8m0_t, 256, 256, k, mn>("e5m2.e4m3.b_mn", 1);
  print_descriptor<float_e5m2_t, float_e3m2_t, float_ue8m0_t, 128, 64, mn, k>("e5m2.e3m2.a_mn", 1);
  print_descriptor<float_4, float_4, float_ue8m0_t, 256, 192, k, k>("mxf4", 2);
  print_descriptor<float_4, float_4, float_ue4m3_t, 128, 128, k, k>("mxf4nvf4", 4);
}
